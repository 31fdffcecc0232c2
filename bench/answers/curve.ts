import type { Answerer, Question } from '../../src/chat/answerer.ts'
import extractPassages, { minScore } from '../../src/chat/extract/extract-passages.ts'
import { judge } from './judge.ts'
import { Manual } from './manual.ts'
import { type QuestionSet, questionSets, setFor } from './question-set.ts'

type Outcome = { use: QuestionSet['use']; score: number; isAnswerable: boolean; isRight: boolean }

const thresholds = [1.6, 1.7, 1.75, 1.8, minScore, 1.9, 1.95, 2, 2.1]

/**
 * Tells what chat without a language model answers by its least score, on the manuals in folders. Right is an answer whose
 * passages hold what the set expects; `shown` counts the nearest passages below a refusal, too.
 */
export async function benchCurve(folders: readonly string[]): Promise<string[]> {
  const all = questionSets()
  const outcomes: Outcome[] = []
  for (const { set, folder } of folders.map((folder) => setFor(folder, all)))
    outcomes.push(...(await outcomesOf(set, folder)))
  const uses = [...new Set(outcomes.map(({ use }) => use))]
  return [
    '| sets | least score | questions | right | wrong or in part | refused | right or shown | unanswerable | refused |',
    '|---|---|---|---|---|---|---|---|---|',
    ...uses.flatMap((use) => {
      const ofUse = outcomes.filter((outcome) => outcome.use === use)
      return thresholds.map((least) => rowOf(use, ofUse, least))
    }),
  ]
}

async function outcomesOf({ use, answerable, unanswerable }: QuestionSet, folder: string): Promise<Outcome[]> {
  const manual = await Manual.import(folder)
  let last: Question | undefined
  const recorder: Answerer = {
    async *answer(question) {
      last = question
      yield '-'
      return { text: '-', cited: [], answeredBy: '-' }
    },
  }
  const outcomes: Outcome[] = []
  for (const asked of [...answerable, ...unanswerable]) {
    await manual.ask(recorder, asked.ask)
    if (last === undefined) continue
    const { score, pieces, seqIds } = extractPassages(last)
    const pages = new Map(last.passages.map(({ seqId, path }) => [seqId, path]))
    const paths = seqIds.map((seqId) => pages.get(seqId) ?? '')
    const isRight = 'says' in asked && judge(asked, { text: pieces.join(''), paths }) === 'right'
    outcomes.push({ use, score, isAnswerable: 'says' in asked, isRight })
  }
  await manual.close()
  return outcomes
}

function rowOf(use: string, outcomes: readonly Outcome[], least: number): string {
  const count = (isAnswerable: boolean, holds: (outcome: Outcome) => boolean) =>
    outcomes.filter((outcome) => outcome.isAnswerable === isAnswerable && holds(outcome)).length
  const cells = [
    use,
    least,
    count(true, () => true),
    count(true, ({ score, isRight }) => score >= least && isRight),
    count(true, ({ score, isRight }) => score >= least && !isRight),
    count(true, ({ score }) => score < least),
    count(true, ({ isRight }) => isRight),
    count(false, () => true),
    count(false, ({ score }) => score < least),
  ]
  return `| ${cells.join(' | ')} |`
}
