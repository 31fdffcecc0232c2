import { appendFileSync } from 'node:fs'
import { ExtractPool } from '../../src/chat/extract/extract-pool.ts'
import { type Given, holdsAnswer, judge, judgeUnanswerable, type Verdict, verdicts } from './judge.ts'
import { Manual } from './manual.ts'
import { type QuestionSet, questionSets, setFor } from './question-set.ts'

/** `held`: the budgets of `retrieve` that had room for the answer; none for what the manual does not answer. */
type Asked = Given & { ask: string; after?: string; verdict: Verdict; milliseconds: number; held?: readonly number[] }

/** Characters of `retrieve`, whose `topK` is its default. */
const budgets = [2_000, 4_000, 8_000, 16_000]

/**
 * Measures chat's answers without a model, and the passages of `retrieve`, on manuals in the given folders. `ANSWERS_TRANSCRIPT`: a file
 * that the answers are appended to.
 */
export async function benchAnswers(folders: readonly string[]): Promise<string[]> {
  const all = questionSets()
  if (folders.length === 0) return [`Needs folders of manuals: ${all.map(({ repository }) => repository).join(', ')}`]
  const rows: string[] = []
  const chosen = folders.map((folder) => setFor(folder, all))
  for (const { set, folder } of chosen) {
    const asked = await askAll(set, folder)
    rows.push(rowOf(`${set.manual} (${set.use})`, asked))
    console.log(rows.at(-1))
    write(set, asked)
  }
  return [
    `| manual | ${verdicts.join(' | ')} | follow-ups right | ms, median | p95 | ${budgets.map((budget) => `in ${budget}`).join(' | ')} |`,
    `|---|${'---|'.repeat(verdicts.length + 3 + budgets.length)}`,
    ...rows,
  ]
}

/** Imports a manual into a knowledge base of its own, and asks. */
async function askAll({ answerable, unanswerable, followUps }: QuestionSet, folder: string): Promise<Asked[]> {
  const manual = await Manual.import(folder)
  try {
    const answerer = manual.ctx.threads.of(ExtractPool)
    const asked: Asked[] = []
    for (const question of answerable) {
      const given = await timed(() => manual.ask(answerer, question.ask))
      const held: number[] = []
      for (const maxChars of budgets) {
        const { chunks } = await manual.retrieve(question.ask, maxChars)
        if (holdsAnswer(question, chunks.map(({ content }) => content).join('\n'))) held.push(maxChars)
      }
      asked.push({ ...given, ask: question.ask, verdict: judge(question, given), held })
    }
    for (const question of unanswerable) {
      const given = await timed(() => manual.ask(answerer, question.ask))
      asked.push({ ...given, ask: question.ask, verdict: judgeUnanswerable(given) })
    }
    for (const question of followUps) {
      const { sessionId } = await manual.ask(answerer, question.after)
      const given = await timed(() => manual.ask(answerer, question.ask, sessionId))
      asked.push({ ...given, ask: question.ask, after: question.after, verdict: judge(question, given) })
    }
    return asked
  } finally {
    await manual.close()
  }
}

async function timed<Result>(work: () => Promise<Result>): Promise<Result & { milliseconds: number }> {
  const begin = performance.now()
  return { ...(await work()), milliseconds: performance.now() - begin }
}

function rowOf(name: string, asked: readonly Asked[]): string {
  const alone = asked.filter(({ after }) => after === undefined)
  const counts = verdicts.map((verdict) => alone.filter((one) => one.verdict === verdict).length)
  const led = asked.filter(({ after }) => after !== undefined)
  const followed = `${led.filter(({ verdict }) => verdict === 'right').length} of ${led.length}`
  const times = asked.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0)
  const held = budgets.map((budget) => asked.filter((one) => one.held?.includes(budget)).length)
  return `| ${[name, ...counts, followed, at(0.5), at(0.95), ...held].join(' | ')} |`
}

function write({ manual }: QuestionSet, asked: readonly Asked[]): void {
  const file = process.env.ANSWERS_TRANSCRIPT
  if (file === undefined) return
  const entries = asked.map(
    ({ ask, after, verdict, text, paths }) =>
      `## ${after === undefined ? '' : `${after} → `}${ask}\n\n(${verdict}; ${paths.join(', ')})\n\n${text}\n`,
  )
  appendFileSync(file, [`# ${manual}\n`, ...entries, ''].join('\n'))
}
