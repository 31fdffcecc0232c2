import type { ChatPage } from '../../chat/past-chats.ts'
import { button, type FormErrors, field, form, selectField, textArea } from '../layout/form.ts'
import { content, type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import { chatPage, feedbackPage, turnId } from './ask-paths.ts'
import { type ShownTurn, turn } from './turn.ts'

export type ChatView = {
  kb: PageKb
  /** The conversation that goes on; undefined: a new one. */
  chat: { id: string; turns: readonly ShownTurn[]; earlier: number | undefined } | undefined
  past: ChatPage
  /** A question that was refused, and why. */
  asked?: { message: string; errors: FormErrors } | undefined
  notice?: HtmlPart
}

export function askPage(visit: Visit, { kb, chat, past, asked, notice }: ChatView): Html {
  const main = html`<h1>Ask <bdi>${kb.title}</bdi></h1>
    ${chat?.earlier !== undefined && html`<p><a href="${chatPage(kb.slug, chat.id)}?before=${chat.earlier}">Earlier questions</a></p>`}
    <div id="turns">${chat?.turns.map((one) => turn(visit, kb.slug, chat.id, one))}</div>
    <div id="answering" hidden><p class="verbatim" dir="auto" data-question></p><p class="verbatim" dir="auto" data-answer></p>
      <button type="button" class="second" data-stop>Stop</button></div>
    <p role="status" aria-live="polite" data-chat-news></p>
    ${form(
      visit,
      { action: chatPage(kb.slug), errors: asked?.errors, attributes: { id: 'ask', 'data-new': chatPage(kb.slug) } },
      html`<input type="hidden" name="sessionId" value="${chat?.id ?? ''}">
      ${textArea({
        ...{
          name: 'message',
          label: chat === undefined ? 'Your question' : 'Your next question',
          value: asked?.message,
          errors: asked?.errors,
        },
        hint: 'The answer says what this knowledge base holds, with what it rests on. Ctrl+Enter sends.',
        attributes: { required: true, maxlength: 8000, rows: 3, dir: 'auto' },
      })}
      ${button('Ask')}`,
    )}
    ${
      chat !== undefined &&
      html`<p class="row"><a href="${chatPage(kb.slug)}">New conversation</a> <a href="${chatPage(kb.slug, chat.id)}/delete">Delete this conversation…</a></p>`
    }
    ${pastChats(kb, chat?.id, past)}`
  const first = chat?.turns[0]?.question
  const title = first === undefined ? `Ask ${kb.title}` : `${first.slice(0, 80)} · ${kb.title}`
  return page(visit, { title, kb, main, notice, islands: ['chat'] })
}

function pastChats(kb: PageKb, openId: string | undefined, { chats, next }: ChatPage): Html | undefined {
  if (chats.length === 0) return undefined
  return html`<nav class="past" aria-labelledby="past"><h2 id="past">Your conversations</h2>
    <p class="hint">Only you see them. One that is not used for 30 days is removed.</p>
    <ul>${chats.map(
      ({ id, question, turns, usedAt }) =>
        html`<li><a href="${chatPage(kb.slug, id)}"${id === openId && html` aria-current="page"`}><bdi>${shorten(question)}</bdi></a>
          <small class="hint">${turns} ${turns === 1 ? 'question' : 'questions'}, ${when(usedAt)}</small></li>`,
    )}</ul>
    ${next !== undefined && html`<p><a href="${chatPage(kb.slug)}?past=${next}">Older conversations</a></p>`}
  </nav>`
}

function shorten(question: string): string {
  const line = question.replace(/\s+/g, ' ').trim()
  return line.length <= 120 ? line : `${line.slice(0, 119)}…`
}

export function deleteChatPage(visit: Visit, { kb, id, question }: { kb: PageKb; id: string; question: string }): Html {
  const path = chatPage(kb.slug, id)
  const main = html`<h1>Delete this conversation?</h1>
    <p>It began with: <q><bdi>${shorten(question)}</bdi></q></p>
    <p>Its questions and answers are removed for good. What you said of answers stays in the queue.</p>
    ${form(visit, { action: `${path}/delete` }, html`<div class="row">${button('Delete', { class: 'danger' })}<a href="${path}">Keep it</a></div>`)}`
  return page(visit, { title: `Delete a conversation · ${kb.title}`, kb, main })
}

export type FeedbackView = {
  kb: PageKb
  chatId: string
  turn: ShownTurn
  /** Pages that say something on the question. */
  pages: readonly { seqId: string; title: string }[]
  /** Fields of a rejected form, with its errors. */
  typed?: { reason: string; category: string; shouldCite: string; errors: FormErrors } | undefined
}

const categories = [
  { value: '', label: 'No special kind' },
  { value: 'wrong-info', label: 'It is wrong' },
  { value: 'missing-info', label: 'Something is missing' },
  { value: 'irrelevant', label: 'It does not answer the question' },
  { value: 'tone', label: 'How it is said' },
  { value: 'other', label: 'Something else' },
]

export function feedbackFormPage(visit: Visit, { kb, chatId, turn, pages, typed }: FeedbackView): Html {
  const { id, question, rendered } = turn
  const main = html`<h1>What is wrong with this answer?</h1>
    <blockquote><p class="verbatim" dir="auto">${question}</p></blockquote>
    ${rendered && content(rendered)}
    ${form(
      visit,
      { action: feedbackPage(kb.slug, chatId, id), errors: typed?.errors },
      html`${textArea({
        ...{ name: 'reason', label: 'What is wrong?', value: typed?.reason, errors: typed?.errors },
        hint: 'A curator reads it beside your question and the answer.',
        attributes: { required: true, maxlength: 2000, dir: 'auto' },
      })}
      ${selectField({ name: 'category', label: 'Kind', value: typed?.category ?? '', choices: categories })}
      ${field({
        ...{
          name: 'shouldCite',
          label: 'Page that it should rest on',
          value: typed?.shouldCite,
          errors: typed?.errors,
        },
        hint: 'The seqId, if you know one. It becomes a proposed answer test.',
        attributes: { list: 'pages', autocomplete: 'off', maxlength: 200 },
      })}
      <datalist id="pages">${pages.map(({ seqId, title }) => html`<option value="${seqId}">${title}</option>`)}</datalist>
      <input type="hidden" name="form" value="${crypto.randomUUID()}">
      <div class="row">
        ${button('Send', { name: 'vote', value: 'down' })}
        ${button('Send, and flag as harmful', { name: 'vote', value: 'flag', class: 'danger' })}
        <a href="${chatPage(kb.slug, chatId)}#${turnId(id)}">Back</a>
      </div>`,
    )}`
  return page(visit, { title: `What is wrong with an answer · ${kb.title}`, kb, main })
}
