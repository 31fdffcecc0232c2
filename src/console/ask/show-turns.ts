import type { AppContext } from '../../app/open-context.ts'
import { citedSources } from '../../chat/cited-sources.ts'
import type { PastTurn } from '../../chat/past-chats.ts'
import { renderMarkdown } from '../../pages/render-markdown.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { linkCitations } from './link-citations.ts'
import type { ShownTurn } from './turn.ts'

/** Renders the answers of turns and looks up the Sources behind them. */
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
