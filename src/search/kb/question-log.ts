import { viewAs } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { neuronsOfHits } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { type Caller, isHuman } from '../../rules/access/caller.ts'
import { fold } from '../../rules/text/fold.ts'
import type { AskedQuestion, QuestionCounts, QuestionOrder } from '../../state/asked-questions.ts'

const day = 24 * 60 * 60 * 1000
/** Maximum characters of a stored question. */
const maxQuestion = 200

/** Normalises a question, for counting and for comparison with pins: without case, accents and final punctuation. */
export function questionKey(text: string): string {
  const words = fold(text.slice(0, 5 * maxQuestion))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/(?<![\s?!.…])[\s?!.…]+$/u, '')
    .trim()
  return words.slice(0, maxQuestion).toWellFormed()
}

/**
 * Counts an event of a question that a person or a visitor asked, without the name of the caller. Counts neither questions of API
 * keys nor any if the settings disable it.
 */
export async function noteQuestion(
  ctx: Context,
  caller: Caller,
  kb: ReadableKb,
  text: string,
  what: Partial<QuestionCounts> | { opened: string },
): Promise<void> {
  // A question to a preview only tests the preview.
  if (!isHuman(caller) || kb.laidOver !== undefined) return
  const question = questionKey(text)
  const { keptQuestions } = await kb.settings()
  if (question === '' || keptQuestions === 0) return
  const { id } = kb.identity
  const { askedQuestions: asked } = ctx
  try {
    if ('opened' in what) return await asked.noteOpened(id, question, what.opened)
    await asked.note(id, question, what, ctx.now())
    await forgetQuestions(ctx, kb)
  } catch (error) {
    // A read is answered even if the count cannot be stored, as on a full disk.
    ctx.onError(error)
  }
}

/** Removes questions beyond their retention time. */
export async function forgetQuestions(ctx: Context, kb: ReadableKb): Promise<void> {
  const { keptQuestions } = await kb.settings()
  await ctx.askedQuestions.removeUntil(
    kb.identity.id,
    new Date(ctx.now().getTime() - keptQuestions * day).toISOString(),
  )
}

export type QuestionView = Omit<AskedQuestion, 'opened'> & {
  opened: { seqId: string; title: string; times: number }[]
  /** True if a page is pinned to the question. */
  isPinned: boolean
}

export type QuestionPage = {
  questions: QuestionView[]
  /** Days that a question is stored after it was last asked; 0 if questions are not stored. */
  keptDays: number
  /** Offset of the next page; null if there is none. */
  next: number | null
}

/** Lists the questions asked of a knowledge base with their counts. For curators. @throws {GanglionError} `not_found` */
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
