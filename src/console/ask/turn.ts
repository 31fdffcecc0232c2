import type { AppContext } from '../../app/open-context.ts'
import { type CitedSource, citedSources } from '../../chat/cited-sources.ts'
import type { PastTurn } from '../../chat/past-chats.ts'
import type { ChatCitation } from '../../contract/chat.ts'
import { kbPage, sourcePage, versionPage } from '../../contract/console-paths.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { renderMarkdown } from '../../pages/render-page.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { postButton } from '../layout/form.ts'
import { content, type Html, html, placeWords, when } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-routes.ts'

export function chatPage(kbSlug: string, id?: string): string {
  const path = `${kbPage(kbSlug)}/chat`
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`
}

export function feedbackPage(kbSlug: string, id: string, turn: string): string {
  return `${chatPage(kbSlug, id)}/turns/${encodeURIComponent(turn)}/feedback`
}

export function turnId(id: string): string {
  return `turn-${id}`
}

export type ShownTurn = PastTurn & {
  /** Rendered answer; undefined if the person may no longer read it. */
  rendered: { blocks: readonly string[] } | undefined
  sources: ReadonlyMap<string, readonly CitedSource[]>
  /** Reason why the configured model did not write the answer. */
  notice?: string | undefined
}

export function turn(visit: Visit, kbSlug: string, chatId: string, shown: ShownTurn): Html {
  const { id, question, at, rendered, notice } = shown
  return html`<article class="turn" id="${turnId(id)}" aria-label="Question and answer">
    <div class="question"><p dir="auto" class="verbatim">${question}</p><p class="hint">${when(at)}</p></div>
    ${
      rendered === undefined
        ? html`<p class="warning">The answer is based on a page that you may not read, or that was removed. Ask again.</p>`
        : html`<div class="answer">${content(rendered)}</div>
          ${notice !== undefined && html`<p class="warning">${notice}</p>`}
          ${citations(kbSlug, shown)}
          ${opinion(visit, kbSlug, chatId, shown)}`
    }
  </article>`
}

function citations(kbSlug: string, { citations, sources }: ShownTurn): Html | undefined {
  if (citations.length === 0) return undefined
  return html`<details class="citations" open><summary>Sources of this answer</summary><ol>${citations.map(
    ({ seqId, title, commit }) => html`<li>
      <a href="${versionPage(kbSlug, seqId, commit)}"><bdi>${title}</bdi></a> <code>${seqId}@${commit.slice(0, 12)}</code>
      ${(sources.get(seqId) ?? []).map(
        ({ id, filename, ...place }) =>
          html`<br><small>from <a href="${sourcePage(kbSlug, id, place)}"><bdi>${filename}</bdi>${placeOf(place)}</a></small>`,
      )}
    </li>`,
  )}</ol></details>`
}

function placeOf(place: Parameters<typeof placeWords>[0]): string {
  const words = placeWords(place)
  return words === undefined ? '' : `, ${words.toLowerCase()}`
}

function opinion(visit: Visit, kbSlug: string, chatId: string, { id, question }: ShownTurn): Html {
  const action = feedbackPage(kbSlug, chatId, id)
  return html`<div class="row opinion">
    ${postButton(visit, action, '👍 Helpful', { class: 'second' }, { vote: 'up' })}
    <a class="button second" href="${action}">👎 Not helpful…</a>
    ${reaches(visit.session.role, 'curator') && html`<a href="${withQuery(`${kbPage(kbSlug)}/tests`, { question })}#add-title">Make a test of it…</a>`}
  </div>`
}

const fence = /^ {0,3}(?:`{3,}|~{3,})/
const citation = /\[([a-z0-9-]+_[0-9]{8})\](?!\()/g

export async function showTurns(
  ctx: AppContext,
  caller: Caller,
  kb: string,
  turns: readonly PastTurn[],
): Promise<ShownTurn[]> {
  const cited = turns.flatMap(({ citations }) => citations.map(({ seqId }) => seqId))
  const sources = await citedSources(ctx, caller, kb, cited)
  return Promise.all(
    turns.map(async (turn) => {
      const { answer, citations } = turn
      if (answer === null) return { ...turn, sources, rendered: undefined }
      const content = linkCitations(answer, citations)
      return { ...turn, sources, rendered: await renderMarkdown(ctx, caller, { kb, content, idPrefix: null }) }
    }),
  )
}

/**
 * Returns the Markdown of an answer with its citations, such as `[handbook_00000042]`, as numbered links: `[[handbook_00000042|1]]`. The
 * number is the position among the citations. Other seqIds and fenced code stay as they are.
 */
export function linkCitations(answer: string, citations: readonly Pick<ChatCitation, 'seqId'>[]): string {
  const numbers = new Map(citations.map(({ seqId }, index) => [seqId, index + 1]))
  let isCode = false
  return answer
    .split('\n')
    .map((line) => {
      if (fence.test(line)) isCode = !isCode
      if (isCode) return line
      // A pipe would end the cell of a table.
      const bar = line.includes('|') ? '\\|' : '|'
      return line.replace(citation, (found, seqId: string) => {
        const number = numbers.get(seqId)
        return number === undefined ? found : `[[${seqId}${bar}${number}]]`
      })
    })
    .join('\n')
}
