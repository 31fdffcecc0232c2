import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { chatOnce, wholeAnswer } from '../../chat/answer-question.ts'
import {
  deleteChat,
  listChats,
  type PastChat,
  readChat,
  readChatTurn,
  type TurnAddress,
} from '../../chat/past-chats.ts'
import { rateAnswer } from '../../chat/rate-answer.ts'
import type { ChatAnswer } from '../../contract/chat.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { callerOf } from '../../http/access/auth.ts'
import { withPrefix } from '../../http/path-prefix.ts'
import { prefersEventStream } from '../../http/request/accept.ts'
import { whenClientGone } from '../../http/request/client-gone.ts'
import { EventStreams } from '../../http/response/event-stream.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { retrieve } from '../../search/kb/retrieve.ts'
import type { FormErrors } from '../layout/form.ts'
import { KbParams } from '../layout/page-query.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { chatPage, turnId } from './ask-paths.ts'
import { askPage, type ChatView, deleteChatPage, type FeedbackView, feedbackFormPage } from './chat-page.ts'
import { showTurns, turn } from './turn.ts'

const ChatPath = KbParams.extend({ id: z.uuid() })
const TurnPath = ChatPath.extend({ turnId: z.uuid() })
const maxMessage = 8000
const maxReason = 2000

const NewQuery = z.object({ past: z.string().optional(), done: z.literal('deleted').optional() })
const ChatQuery = z.object({
  before: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/)
    .transform(Number)
    .optional(),
  done: z.literal('rated').optional(),
})
const Question = z.object({
  message: z.string().default(''),
  sessionId: z.union([z.uuid(), z.literal('')]).default(''),
})
const Opinion = z.object({
  vote: z.enum(['up', 'down', 'flag']),
  reason: z.string().default(''),
  category: z.enum(['', 'wrong-info', 'missing-info', 'irrelevant', 'tone', 'other']).default(''),
  shouldCite: z.string().trim().max(200).default(''),
  form: z.uuid().optional(),
})
const notices = {
  deleted: 'The conversation is deleted.',
  rated: 'Thank you. A curator will read it.',
} as const

export function chatPageRoutes(app: ZodFastify, ctx: AppContext): void {
  readRoutes(app, ctx)
  askRoute(app, ctx)
  opinionRoutes(app, ctx)
}

function readRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get('/kb/:kb/chat', { schema: { params: KbParams, querystring: NewQuery } }, (request, reply) => {
    const { past, done } = request.query
    return sendChat(ctx, request, reply, { kb: request.params.kb, past, notice: done && notices[done] })
  })

  app.get('/kb/:kb/chat/:id', { schema: { params: ChatPath, querystring: ChatQuery } }, (request, reply) => {
    const { before, done } = request.query
    return sendChat(ctx, request, reply, { ...request.params, before, notice: done && notices[done] })
  })

  app.get('/kb/:kb/chat/:id/delete', { schema: { params: ChatPath } }, async (request, reply) => {
    const caller = callerOf(request)
    const [kb, { turns }] = await Promise.all([
      describeKb(ctx, caller, request.params.kb),
      readChat(ctx, caller, request.params),
    ])
    const { id } = request.params
    return send(reply, deleteChatPage(visitOf(request), { kb, id, question: turns[0]?.question ?? '' }))
  })

  app.post('/kb/:kb/chat/:id/delete', { schema: { params: ChatPath } }, async (request, reply) => {
    const { kb, id } = request.params
    await deleteChat(ctx, callerOf(request), kb, id)
    return reply.redirect(`${chatPage(kb)}?done=deleted`, 303)
  })
}

function askRoute(app: ZodFastify, ctx: AppContext): void {
  const streams = new EventStreams(app)
  const schema = { params: KbParams, body: Question }

  app.post('/kb/:kb/chat', { config: { rate: 'chat' }, schema }, async (request, reply) => {
    const { kb } = request.params
    const { sessionId } = request.body
    const message = request.body.message.trim()
    const isStreamed = prefersEventStream(request.headers.accept)
    const problem = messageProblem(message)
    if (problem !== undefined && !isStreamed) {
      const errors: FormErrors = { fieldErrors: { message: [problem] } }
      const asked = { message: request.body.message, errors }
      return sendChat(ctx, request, reply, { kb, ...(sessionId && { id: sessionId }), asked, status: 400 })
    }
    if (problem !== undefined) throw new GanglionError('malformed_request', problem)
    const caller = callerOf(request)
    const known = sessionId === '' ? undefined : await readChat(ctx, caller, { kb, id: sessionId })
    const question = {
      ...{ message, history: [], knowledgeBaseId: kb, sessionId: known?.id },
      audience: audienceOf(known),
    }
    const signal = isStreamed ? streams.signal(reply) : whenClientGone(reply)
    const answering = chatOnce(ctx, ctx.answerer, caller, question, signal)
    try {
      if (!isStreamed) {
        const { sessionId: id = '', turnId: turn = '' } = await wholeAnswer(answering)
        return reply.redirect(`${chatPage(kb, id)}#${turnId(turn)}`, 303)
      }
      // Waits for the first part, so that an error before it is answered as an ordinary error.
      const first = await answering.next()
      return streams.answer(request, reply, async (tell) => {
        for (let step = first; ; step = await answering.next()) {
          if (step.done === true)
            return tell({ event: 'done', data: await answered(ctx, request, kb, message, step.value) })
          tell({ event: 'delta', data: { text: step.value } })
        }
      })
    } catch (error) {
      // Nobody is there to be told.
      if (reply.raw.destroyed) return reply.hijack()
      throw error
    }
  })
}

function opinionRoutes(app: ZodFastify, ctx: AppContext): void {
  const path = '/kb/:kb/chat/:id/turns/:turnId/feedback'

  app.get(path, { schema: { params: TurnPath } }, async (request, reply) =>
    send(reply, feedbackFormPage(visitOf(request), await readFeedback(ctx, request, request.params))),
  )

  app.post(path, { schema: { params: TurnPath, body: Opinion } }, async (request, reply) => {
    const { kb, id } = request.params
    const { vote, category, form, ...typed } = request.body
    const reason = typed.reason.trim()
    try {
      if ([...reason].length > maxReason)
        throw new GanglionError('malformed_request', `At most ${maxReason} characters.`)
      const rating = {
        vote,
        ...(reason === '' ? {} : { reason }),
        ...(category === '' ? {} : { category }),
        ...(typed.shouldCite === '' ? {} : { shouldCite: typed.shouldCite }),
      }
      await rateAnswer(ctx, callerOf(request), request.params, rating, { form })
    } catch (error) {
      const errors = error instanceof ValidationError ? error : { fieldErrors: { reason: [opinionProblem(error)] } }
      const view = await readFeedback(ctx, request, request.params)
      return send(reply, feedbackFormPage(visitOf(request), { ...view, typed: { ...typed, category, errors } }), 400)
    }
    return reply.redirect(`${chatPage(kb, id)}?done=rated`, 303)
  })
}

async function readFeedback(
  ctx: AppContext,
  request: FastifyRequest,
  { kb: kbName, id, turnId }: TurnAddress,
): Promise<FeedbackView> {
  const caller = callerOf(request)
  const [kb, found] = await Promise.all([
    describeKb(ctx, caller, kbName),
    readChatTurn(ctx, caller, { kb: kbName, id, turnId }),
  ])
  const [turn] = await showTurns(ctx, caller, kbName, [found])
  if (turn === undefined) throw new GanglionError('not_found')
  const asked = { query: turn.question, audience: 'curator' as const, topK: 10, maxChars: 10_000 }
  const retrieved = await retrieve(ctx, caller, kbName, asked).catch(unlessUnavailable)
  return { kb, chatId: id, turn, pages: retrieved?.chunks ?? [] }
}

/** Returns a message if the person can correct the error; throws any other error. */
function opinionProblem(error: unknown): string {
  if (error instanceof GanglionError) {
    if (error.code === 'reason_required_for_negative_vote') return 'Say what is wrong, so that it can be mended.'
    if (error.code === 'idempotency_key_reused') return 'You have said so already, with another reason.'
    if (error.code === 'malformed_request' || error.code === 'queue_full') return error.message
  }
  throw error
}

function messageProblem(message: string): string | undefined {
  if (message === '') return 'Write a question.'
  if (!message.isWellFormed()) return 'The question holds half a character.'
  return [...message].length > maxMessage ? `At most ${maxMessage} characters.` : undefined
}

/** A conversation goes on for whom it began; `student` asks through the API only. */
function audienceOf(chat: Pick<PastChat, 'audience'> | undefined): 'curator' | 'tool' | 'public' {
  const { audience = 'curator' } = chat ?? {}
  return audience === 'student' ? 'curator' : audience
}

/** The whole of an answer for a page that shows it as it came. */
async function answered(
  ctx: AppContext,
  request: FastifyRequest,
  kb: string,
  question: string,
  { answer, sessionId = '', turnId: id = '', citations = [], notice }: ChatAnswer,
): Promise<{ url: string; sessionId: string; html: string }> {
  const at = new Date().toISOString()
  const [shown] = await showTurns(ctx, callerOf(request), kb, [{ id, question, answer, citations, at }])
  const html = shown === undefined ? '' : String(turn(visitOf(request), kb, sessionId, { ...shown, notice }))
  const { root } = ctx.urls
  return { url: root + chatPage(kb, sessionId), sessionId, html: withPrefix(html, root) }
}

async function sendChat(
  ctx: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    kb: kbName,
    id,
    before,
    past,
    asked,
    notice,
    status,
  }: {
    kb: string
    id?: string
    before?: number | undefined
    past?: string | undefined
    asked?: ChatView['asked']
    notice?: string | undefined
    status?: number
  },
): Promise<FastifyReply> {
  const caller = callerOf(request)
  const [kb, chats, chat] = await Promise.all([
    describeKb(ctx, caller, kbName),
    listChats(ctx, caller, kbName, { cursor: past }),
    id === undefined
      ? undefined
      : readChat(ctx, caller, { kb: kbName, id, ...(before === undefined ? {} : { before }) }),
  ])
  const turns = chat === undefined ? [] : await showTurns(ctx, caller, kbName, chat.turns)
  const view = { kb, past: chats, asked, notice, chat: chat && { ...chat, turns } }
  return send(reply, askPage(visitOf(request), view), status)
}
