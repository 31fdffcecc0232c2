import type { AppContext } from '../../app/open-context.ts'
import { citedSources } from '../../chat/cited-sources.ts'
import type { PastTurn } from '../../chat/past-chats.ts'
import type { ChatCitation } from '../../contract/chat.ts'
import { renderMarkdown } from '../../pages/render-page.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { ShownTurn } from './turn.ts'

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
 * The Markdown of an answer with its citations, such as `[handbook_00000042]`, as numbered links: `[[handbook_00000042|1]]`. The
 * number is the place among the citations; what is not among them stays as it is, and so does code in fences.
 */
export function linkCitations(answer: string, citations: readonly Pick<ChatCitation, 'seqId'>[]): string {
  const numbers = new Map(citations.map(({ seqId }, index) => [seqId, index + 1]))
  let isCode = false
  return answer
    .split('\n')
    .map((line) => {
      if (fence.test(line)) isCode = !isCode
      if (isCode) return line
      // In a table, a pipe would end the cell.
      const bar = line.includes('|') ? '\\|' : '|'
      return line.replace(citation, (found, seqId: string) => {
        const number = numbers.get(seqId)
        return number === undefined ? found : `[[${seqId}${bar}${number}]]`
      })
    })
    .join('\n')
}
