import type { ChatPage } from '../../chat/past-chats.ts'
import { button, type FormErrors, form, textArea } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'
import { chatPage } from './ask-paths.ts'
import { type ShownTurn, turn } from './turn.ts'

export type ChatView = {
  kb: PageKb
  /** The conversation that goes on; undefined: a new one. */
  chat: { id: string; turns: readonly ShownTurn[]; earlier: number | undefined } | undefined
  past: ChatPage
  /** A question that was refused, and why. */
  asked?: { message: string; errors: FormErrors } | undefined
  notice?: string | undefined
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
