import { utcDay } from '../../contract/moment.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import { type Context, onePer } from '../../kb/context.ts'
import { neuronsOfHits } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { type Caller, isHuman } from '../../rules/access/caller.ts'
import { fold } from '../../rules/text/fold.ts'
import type { AskedQuestion, AskedQuestions, QuestionCounts, QuestionOrder } from '../../state/asked-questions.ts'

const day = 24 * 60 * 60 * 1000
/** Maximum characters of a stored question. */
const maxQuestion = 200
/** Number of counted questions after which old ones are removed, at the latest on the next day. */
const notesPerRemoval = 100

/** Milliseconds that a count may wait to be written with others, and number that may wait: a write takes longer than a search. */
const [waitingTime, maxWaiting] = [2_000, 500]

type WaitingNotes = {
  notes: Parameters<AskedQuestions['note']>[]
  timer?: NodeJS.Timeout | undefined
  /** Last write that was begun. */
  written: Promise<void>
}
const waitingNotes = onePer((_asked: AskedQuestions): WaitingNotes => ({ notes: [], written: Promise.resolve() }))

/** Counted questions since the start, and the last removal of old ones. */
const removals = onePer((_kb: ReadableKb) => ({ notes: 0, last: '' }))

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
    if ('opened' in what) {
      await writeQuestions(ctx)
      return await asked.noteOpened(id, question, what.opened)
    }
    const waiting = waitingNotes(asked)
    waiting.notes.push([id, question, what, ctx.now()])
    if (waiting.notes.length >= maxWaiting) await writeQuestions(ctx)
    else waiting.timer ??= setTimeout(() => void writeQuestions(ctx), waitingTime).unref()
    const removal = removals(kb)
    const due = `${utcDay(ctx.now())} ${Math.floor(removal.notes++ / notesPerRemoval)}`
    if (due !== removal.last) await forgetQuestions(ctx, kb)
    removal.last = due
  } catch (error) {
    // A read is answered even if the question cannot be stored, as on a full disk.
    ctx.onError(error)
  }
}

/** Writes the counts that wait. */
export async function writeQuestions({
  askedQuestions,
  onError,
}: Pick<Context, 'askedQuestions' | 'onError'>): Promise<void> {
  const waiting = waitingNotes(askedQuestions)
  clearTimeout(waiting.timer)
  waiting.timer = undefined
  const notes = waiting.notes.splice(0)
  // A server that ends waits also for what the timer has begun to write.
  if (notes.length > 0) waiting.written = waiting.written.then(() => askedQuestions.noteAll(notes)).catch(onError)
  await waiting.written
}

/** Writes the counts that wait, and removes questions beyond their retention time or number. */
export async function forgetQuestions(ctx: Context, kb: ReadableKb): Promise<void> {
  await writeQuestions(ctx)
  const { keptQuestions } = await kb.settings()
  const time = new Date(ctx.now().getTime() - keptQuestions * day).toISOString()
  await ctx.askedQuestions.removeOld(kb.identity.id, time)
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
