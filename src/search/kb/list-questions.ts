import { viewAs } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { neuronsOfHits } from '../../kb/projection/neuron-queries.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { AskedQuestion, QuestionOrder } from '../../state/asked-questions.ts'
import { forgetQuestions, questionKey } from './note-question.ts'

export type QuestionView = Omit<AskedQuestion, 'opened'> & {
  opened: { seqId: string; title: string; times: number }[]
  /** Whether a page is pinned to it. */
  isPinned: boolean
}

export type QuestionPage = {
  questions: QuestionView[]
  /** Days for which a question is kept that nobody asks again; 0: none is. */
  keptDays: number
  /** Offset of the next page; null where there is none. */
  next: number | null
}

/** What people ask a knowledge base, and what became of it. For curators. @throws {GanglionError} `not_found` */
export async function listQuestions(
  ctx: Context,
  { tenantId }: Caller,
  kbName: string,
  { order, from, limit }: { order: QuestionOrder; from: number; limit: number },
): Promise<QuestionPage> {
  const kb = await ctx.readableKb(tenantId, kbName)
  await forgetQuestions(ctx, kb)
  const { keptQuestions, pins } = await kb.settings()
  const asked = await ctx.askedQuestions.list(kb.identity.id, { order, offset: from, limit: limit + 1 })
  const shown = asked.slice(0, limit)
  const view = await viewAs(kb, { audience: 'curator' })
  const seqIds = shown.flatMap(({ opened }) => opened.map(({ seqId }) => seqId))
  const titles = new Map(view.rows((sql) => neuronsOfHits(sql, seqIds)).map(({ seqId, title }) => [seqId, title]))
  const pinned = new Set(pins.map(({ query }) => questionKey(query)))
  return {
    questions: shown.map((one) => ({
      ...one,
      opened: one.opened.flatMap(({ seqId, times }) => {
        const title = titles.get(seqId)
        return title === undefined ? [] : [{ seqId, title, times }]
      }),
      isPinned: pinned.has(one.question),
    })),
    keptDays: keptQuestions,
    next: asked.length > limit ? from + limit : null,
  }
}
