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
import { withPrefix } from '../../http/path-prefix.ts'
import { prefersEventStream } from '../../http/request/accept.ts'
import { whenClientGone } from '../../http/request/client-gone.ts'
import { EventStreams } from '../../http/response/event-stream.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { retrieve } from '../../search/kb/retrieve.ts'
import type { Html } from '../layout/html-template.ts'
import { KbParams } from '../layout/page-query.ts'
import { type ConsoleRequest, pagesOf } from '../layout/page-routes.ts'
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

type Sent = ConsoleRequest<z.output<typeof KbParams>>
type Shown = {
  id?: string | undefined
  before?: number | undefined
  past?: string | undefined
  asked?: ChatView['asked']
}

export function chatPageRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app)
  const streams = new EventStreams(app)

  pages.get('/kb/:kb/chat', { params: KbParams, query: NewQuery, notices }, (sent) =>
    chat(sent, { past: sent.query.past }),
  )

  pages.get('/kb/:kb/chat/:id', { params: ChatPath, query: ChatQuery, notices }, (sent) =>
    chat(sent, { id: sent.params.id, before: sent.query.before }),
  )

  pages.get('/kb/:kb/chat/:id/delete', { params: ChatPath }, async ({ visit, caller, params }) => {
    const [kb, { turns }] = await Promise.all([describeKb(ctx, caller, params.kb), readChat(ctx, caller, params)])
    return deleteChatPage(visit, { kb, id: params.id, question: turns[0]?.question ?? '' })
  })

  pages.post('/kb/:kb/chat/:id/delete', { params: ChatPath }, async ({ caller, params: { kb, id } }) => {
    await deleteChat(ctx, caller, kb, id)
    return { to: `${chatPage(kb)}?done=deleted` }
  })

  const asking = { params: KbParams, body: Question, config: { rate: 'chat' } } as const
  pages.post('/kb/:kb/chat', asking, async (sent) => {
    const { request, reply, caller, body } = sent
    const { kb } = sent.params
    const { sessionId } = body
    const message = body.message.trim()
    const isStreamed = prefersEventStream(request.headers.accept)
    const problem = messageProblem(message)
    if (problem !== undefined && !isStreamed) {
      const asked = { message: body.message, errors: { fieldErrors: { message: [problem] } } }
      return { page: await chat(sent, { id: sessionId || undefined, asked }), status: 400 }
    }
    if (problem !== undefined) throw new GanglionError('malformed_request', problem)
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
        return { to: `${chatPage(kb, id)}#${turnId(turn)}` }
      }
      // Waits for the first part, so that an error before it is answered as an ordinary error.
      const first = await answering.next()
      return streams.answer(request, reply, async (tell) => {
        for (let step = first; ; step = await answering.next()) {
          if (step.done === true) return tell({ event: 'done', data: await answered(sent, message, step.value) })
          tell({ event: 'delta', data: { text: step.value } })
        }
      })
    } catch (error) {
      // Nobody is there to be told.
      if (reply.raw.destroyed) return reply.hijack()
      throw error
    }
  })

  const feedback = '/kb/:kb/chat/:id/turns/:turnId/feedback'
  pages.get(feedback, { params: TurnPath }, async (sent) => feedbackFormPage(sent.visit, await feedbackOn(sent)))

  pages.form(feedback, {
    ...{ params: TurnPath, body: Opinion },
    async act({ caller, params, body: { vote, category, shouldCite, form, ...typed } }) {
      const reason = typed.reason.trim()
      if ([...reason].length > maxReason)
        throw new GanglionError('malformed_request', `At most ${maxReason} characters.`)
      const rating = {
        vote,
        ...(reason === '' ? {} : { reason }),
        ...(category === '' ? {} : { category }),
        ...(shouldCite === '' ? {} : { shouldCite }),
      }
      await rateAnswer(ctx, caller, params, rating, { form })
      return { to: `${chatPage(params.kb, params.id)}?done=rated` }
    },
    explain: (error) => ({
      status: 400,
      errors: error instanceof ValidationError ? error : { fieldErrors: { reason: [opinionProblem(error)] } },
    }),
    refused: async (sent, { errors }) =>
      feedbackFormPage(sent.visit, { ...(await feedbackOn(sent)), typed: { ...sent.body, errors } }),
  })

  async function feedbackOn({ caller, params }: ConsoleRequest<TurnAddress>): Promise<FeedbackView> {
    const [kb, found] = await Promise.all([describeKb(ctx, caller, params.kb), readChatTurn(ctx, caller, params)])
    const [turn] = await showTurns(ctx, caller, params.kb, [found])
    if (turn === undefined) throw new GanglionError('not_found')
    const asked = { query: turn.question, audience: 'curator' as const, topK: 10, maxChars: 10_000 }
    const retrieved = await retrieve(ctx, caller, params.kb, asked).catch(unlessUnavailable)
    return { kb, chatId: params.id, turn, pages: retrieved?.chunks ?? [] }
  }

  /** Renders a whole answer for a page that showed it as it came. */
  async function answered(
    { visit, caller, params: { kb } }: Sent,
    question: string,
    { answer, sessionId = '', turnId: id = '', citations = [], notice }: ChatAnswer,
  ): Promise<{ url: string; sessionId: string; html: string }> {
    const at = new Date().toISOString()
    const [shown] = await showTurns(ctx, caller, kb, [{ id, question, answer, citations, at }])
    const html = shown === undefined ? '' : String(turn(visit, kb, sessionId, { ...shown, notice }))
    const { root } = ctx.urls
    return { url: root + chatPage(kb, sessionId), sessionId, html: withPrefix(html, root) }
  }

  async function chat({ visit, caller, params, notice }: Sent, { id, before, past, asked }: Shown): Promise<Html> {
    const [kb, chats, chat] = await Promise.all([
      describeKb(ctx, caller, params.kb),
      listChats(ctx, caller, params.kb, { cursor: past }),
      id === undefined
        ? undefined
        : readChat(ctx, caller, { kb: params.kb, id, ...(before === undefined ? {} : { before }) }),
    ])
    const turns = chat === undefined ? [] : await showTurns(ctx, caller, params.kb, chat.turns)
    return askPage(visit, { kb, past: chats, asked, notice, chat: chat && { ...chat, turns } })
  }
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
