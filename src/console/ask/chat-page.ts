import { z } from 'zod'
import { chatOnce } from '../../chat/answer-question.ts'
import {
  type ChatPage,
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
import { prefersToJson } from '../../http/request/accept.ts'
import { EventStreams } from '../../http/response/event-stream.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { counted } from '../../rules/text/numbers.ts'
import { retrieve } from '../../search/kb/retrieve.ts'
import { button, type Choice, controlsOf, type FormErrors, form, hidden } from '../layout/form.ts'
import { content, type Html, html, when } from '../layout/html-template.ts'
import { type PageKb, page } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, countField, type FormView, KbParams } from '../layout/page-routes.ts'
import { chatPage, feedbackPage, showTurns, turn, turnId } from './turn.ts'

const ChatPath = KbParams.extend({ id: z.uuid() })
const TurnPath = ChatPath.extend({ turnId: z.uuid() })
const maxMessage = 8000
const maxReason = 2000

const NewQuery = z.object({ past: z.string().optional() })
const ChatQuery = z.object({ before: countField(9).optional() })
const Question = z.object({
  message: z.string().default(''),
  sessionId: z.union([z.uuid(), z.literal('')]).default(''),
})
const Opinion = z.object({
  vote: z.enum(['up', 'down', 'flag']),
  reason: z.string().default(''),
  category: z.enum(['', 'wrong-info', 'missing-info', 'irrelevant', 'tone', 'other']).default(''),
  shouldCite: z.string().trim().max(200).default(''),
})
const notices = {
  deleted: 'The conversation is deleted.',
  rated: 'Thank you. A curator will read it.',
} as const

const categories: readonly Choice[] = [
  ['', 'No special kind'],
  ['wrong-info', 'It is wrong'],
  ['missing-info', 'Something is missing'],
  ['irrelevant', 'It does not answer the question'],
  ['tone', 'How it is said'],
  ['other', 'Something else'],
]

type Sent = ConsoleRequest<z.output<typeof KbParams>>
type Shown = {
  id?: string | undefined
  before?: number | undefined
  past?: string | undefined
  /** A rejected question, and the reason. */
  asked?: { message: string; errors: FormErrors } | undefined
}

export const chatPageRoutes = consolePages({}, (pages, ctx, app) => {
  const streams = new EventStreams(app)

  pages.get('/kb/:kb/chat', { params: KbParams, query: NewQuery, notices }, (sent) =>
    chat(sent, { past: sent.query.past }),
  )

  pages.get('/kb/:kb/chat/:id', { params: ChatPath, query: ChatQuery, notices }, (sent) =>
    chat(sent, { id: sent.params.id, before: sent.query.before }),
  )

  pages.get('/kb/:kb/chat/:id/delete', { params: ChatPath }, async ({ visit, caller, params }) => {
    const [kb, { turns }] = await Promise.all([describeKb(ctx, caller, params.kb), readChat(ctx, caller, params)])
    const path = chatPage(kb.slug, params.id)
    const main = html`<h1>Delete this conversation?</h1>
      <p>It began with: <q><bdi>${shorten(turns[0]?.question ?? '')}</bdi></q></p>
      <p>Its questions and answers are removed for good. Your ratings of answers stay in the queue.</p>
      ${form(visit, { action: `${path}/delete` }, html`<div class="row">${button('Delete', { class: 'danger' })}<a href="${path}">Keep it</a></div>`)}`
    return page(visit, { title: `Delete a conversation · ${kb.title}`, kb, main })
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
    const isStreamed = prefersToJson('text/event-stream', request.headers.accept)
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
    const answer = await streams.answerText(
      request,
      reply,
      (signal) => chatOnce(ctx, ctx.answerer, caller, question, signal),
      (streamed) => answered(sent, message, streamed),
    )
    if (answer === undefined) return reply
    return { to: `${chatPage(kb, answer.sessionId)}#${turnId(answer.turnId ?? '')}` }
  })

  pages.formPage('/kb/:kb/chat/:id/turns/:turnId/feedback', {
    ...{ params: TurnPath, body: Opinion, show: feedback },
    async act({ caller, params, body: { vote, category, shouldCite, ...typed } }) {
      const reason = typed.reason.trim()
      if ([...reason].length > maxReason)
        throw new GanglionError('malformed_request', `At most ${maxReason} characters.`)
      const rating = {
        vote,
        ...(reason === '' ? {} : { reason }),
        ...(category === '' ? {} : { category }),
        ...(shouldCite === '' ? {} : { shouldCite }),
      }
      await rateAnswer(ctx, caller, params, rating)
      return { to: `${chatPage(params.kb, params.id)}?done=rated` }
    },
    explain: (error) => ({
      status: 400,
      errors: error instanceof ValidationError ? error : { fieldErrors: { reason: [opinionProblem(error)] } },
    }),
  })

  async function feedback(
    { visit, caller, params }: ConsoleRequest<TurnAddress>,
    { typed, errors }: FormView<z.output<typeof Opinion>>,
  ): Promise<Html> {
    const [kb, found] = await Promise.all([describeKb(ctx, caller, params.kb), readChatTurn(ctx, caller, params)])
    const [turn] = await showTurns(ctx, caller, params.kb, [found])
    if (turn === undefined) throw new GanglionError('not_found')
    const { id, question, rendered } = turn
    const asked = { query: question, audience: 'curator' as const, topK: 10, maxChars: 10_000 }
    const retrieved = await retrieve(ctx, caller, params.kb, asked).catch(unlessUnavailable)
    const { text, area, select } = controlsOf(typed ?? {}, errors)
    const main = html`<h1>What is wrong with this answer?</h1>
      <blockquote><p class="verbatim" dir="auto">${question}</p></blockquote>
      ${rendered && content(rendered)}
      ${form(visit, { action: feedbackPage(kb.slug, params.id, id), errors }, [
        area('reason', 'What is wrong?', {
          hint: 'A curator reads it beside your question and the answer.',
          ...{ required: true, maxlength: 2000, dir: 'auto' },
        }),
        select('category', 'Kind', categories),
        text('shouldCite', 'Page that it should rest on', {
          hint: 'The seqId, if you know one. It becomes a proposed answer test.',
          ...{ list: 'pages', autocomplete: 'off', maxlength: 200 },
        }),
        html`<datalist id="pages">${retrieved?.chunks.map(({ seqId, title }) => html`<option value="${seqId}">${title}</option>`)}</datalist>`,
        html`<div class="row">
          ${button('Send', { name: 'vote', value: 'down' })}
          ${button('Send, and flag as harmful', { name: 'vote', value: 'flag', class: 'danger' })}
          <a href="${chatPage(kb.slug, params.id)}#${turnId(id)}">Back</a>
        </div>`,
      ])}`
    return page(visit, { title: `What is wrong with an answer · ${kb.title}`, kb, main })
  }

  /** Renders a complete answer in place of the one that was shown while it streamed. */
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
    const path = chatPage(kb.slug)
    const { area } = controlsOf({ message: asked?.message }, asked?.errors)
    const asking = { action: path, errors: asked?.errors, attributes: { id: 'ask', 'data-new': path } }
    const main = html`<h1>Ask <bdi>${kb.title}</bdi></h1>
      ${chat?.earlier !== undefined && html`<p><a href="${chatPage(kb.slug, chat.id)}?before=${chat.earlier}">Earlier questions</a></p>`}
      <div id="turns">${chat && turns.map((one) => turn(visit, kb.slug, chat.id, one))}</div>
      <div id="answering" hidden><p class="verbatim" dir="auto" data-question></p><p class="verbatim" dir="auto" data-answer></p>
        <button type="button" class="second" data-stop>Stop</button></div>
      <p role="status" aria-live="polite" data-chat-news></p>
      ${form(visit, asking, [
        hidden({ sessionId: chat?.id ?? '' }),
        area('message', chat === undefined ? 'Your question' : 'Your next question', {
          hint: 'The answer says what this knowledge base holds, with what it rests on. Enter sends, Shift+Enter begins a line.',
          ...{ required: true, maxlength: 8000, rows: 3, dir: 'auto' },
        }),
        button('Ask'),
      ])}
      ${
        chat !== undefined &&
        html`<p class="row"><a href="${path}">New conversation</a> <a href="${chatPage(kb.slug, chat.id)}/delete">Delete this conversation…</a></p>`
      }
      ${pastChats(kb, chat?.id, chats)}`
    const first = turns[0]?.question
    const title = first === undefined ? `Ask ${kb.title}` : `${first.slice(0, 80)} · ${kb.title}`
    return page(visit, { title, kb, main, notice, islands: ['chat'] })
  }
})

function pastChats(kb: PageKb, openId: string | undefined, { chats, next }: ChatPage): Html | undefined {
  if (chats.length === 0) return undefined
  return html`<nav class="past" aria-labelledby="past"><h2 id="past">Your conversations</h2>
    <p class="hint">Only you see them. One that is not used for 30 days is removed.</p>
    <ul>${chats.map(
      ({ id, question, turns, usedAt }) =>
        html`<li><a href="${chatPage(kb.slug, id)}"${id === openId && html` aria-current="page"`}><bdi>${shorten(question)}</bdi></a>
          <small class="hint">${counted(turns, 'question')}, ${when(usedAt)}</small></li>`,
    )}</ul>
    ${next !== undefined && html`<p><a href="${chatPage(kb.slug)}?past=${next}">Older conversations</a></p>`}
  </nav>`
}

function shorten(question: string): string {
  const line = question.replace(/\s+/g, ' ').trim()
  return line.length <= 120 ? line : `${line.slice(0, 119)}…`
}

/** Returns a message if the person can correct the error; throws any other error. */
function opinionProblem(error: unknown): string {
  if (error instanceof GanglionError) {
    if (error.code === 'reason_required_for_negative_vote') return 'Say what is wrong, so that it can be mended.'
    if (['malformed_request', 'queue_full', 'record_full'].includes(error.code)) return error.message
  }
  throw error
}

function messageProblem(message: string): string | undefined {
  if (message === '') return 'Write a question.'
  if (!message.isWellFormed()) return 'The question holds half a character.'
  return [...message].length > maxMessage ? `At most ${maxMessage} characters.` : undefined
}

/** Returns the audience for which a conversation began. `student` asks through the API only. */
function audienceOf(chat: Pick<PastChat, 'audience'> | undefined): 'curator' | 'tool' | 'public' {
  const { audience = 'curator' } = chat ?? {}
  return audience === 'student' ? 'curator' : audience
}
