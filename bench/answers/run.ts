import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { chat } from '../../src/chat/answer-question.ts'
import type { Answerer } from '../../src/chat/answerer.ts'
import { ExtractPool } from '../../src/chat/extract/extract-pool.ts'
import { ChatInput } from '../../src/contract/chat.ts'
import { GanglionError } from '../../src/contract/errors.ts'
import { RetrieveInput } from '../../src/contract/search.ts'
import { createKnowledgeBase, operator } from '../../src/kb/create-kb.ts'
import { importDirectory } from '../../src/operate/import/import-directory.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import { workFolder } from '../support/measure.ts'
import { type Given, holdsAnswer, judge, judgeUnanswerable, type Verdict, verdicts } from './judge.ts'
import { type QuestionSet, questionSets, setFor } from './question-set.ts'

/** `held`: the budgets of `retrieve` that had room for the answer; none for what the manual does not answer. */
type Asked = Given & { ask: string; verdict: Verdict; milliseconds: number; held?: readonly number[] }

/** Characters of `retrieve`, whose `topK` is its default. */
const budgets = [2_000, 4_000, 8_000, 16_000]

/**
 * What chat answers without a model, and what `retrieve` has room for, on manuals in the folders given. `ANSWERS_TRANSCRIPT` names a file that the answers are
 * added to.
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
    `| manual | ${verdicts.join(' | ')} | ms, median | p95 | ${budgets.map((budget) => `in ${budget}`).join(' | ')} |`,
    `|---|${'---|'.repeat(verdicts.length + 2 + budgets.length)}`,
    ...rows,
  ]
}

/** Imports a manual into a knowledge base of its own, and asks. */
async function askAll({ answerable, unanswerable }: QuestionSet, folder: string): Promise<Asked[]> {
  const ctx = await openContext({ dataDir: join(workFolder(), 'data') })
  try {
    await createKnowledgeBase(ctx, { tenant: 'bench', slug: 'manual' })
    const tenantId = (await ctx.tenants.find('bench'))?.id ?? ''
    const kb = await ctx.kb(tenantId, 'manual')
    await importDirectory(kb, folder, { actor: operator, now: ctx.now })
    const caller: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'app', connectors: [] }
    const ask = (question: string) => answerTo(ctx, ctx.threads.of(ExtractPool), caller, question)
    const look = (query: string, maxChars?: number) =>
      retrieve(ctx, caller, 'manual', RetrieveInput.parse({ query, maxChars }))
    await indexed(() => look('What is this?'))
    const asked: Asked[] = []
    for (const question of answerable) {
      const given = await ask(question.ask)
      const held: number[] = []
      for (const maxChars of budgets) {
        const { chunks } = await look(question.ask, maxChars)
        if (holdsAnswer(question, chunks.map(({ content }) => content).join('\n'))) held.push(maxChars)
      }
      asked.push({ ...given, ask: question.ask, verdict: judge(question, given), held })
    }
    for (const question of unanswerable) {
      const given = await ask(question.ask)
      asked.push({ ...given, ask: question.ask, verdict: judgeUnanswerable(given) })
    }
    return asked
  } finally {
    await ctx.close()
  }
}

/** Waits until the index is built. */
async function indexed(ask: () => Promise<{ behind?: unknown }>): Promise<void> {
  while ((await ask().catch(unlessUnavailable)).behind !== undefined) await delay(500)
}

function unlessUnavailable(error: unknown): { behind: true } {
  if (!(error instanceof GanglionError) || error.code !== 'unavailable') throw error
  return { behind: true }
}

async function answerTo(ctx: OpenContext, answerer: Answerer, caller: Caller, message: string) {
  const begin = performance.now()
  const answering = chat(
    ctx,
    answerer,
    caller,
    ChatInput.parse({ kb: 'manual', message }),
    new AbortController().signal,
  )
  for (;;) {
    const { done, value } = await answering.next()
    if (!done) continue
    const paths = (value.citations ?? []).map(({ path }) => path)
    return { text: value.answer, paths, milliseconds: performance.now() - begin }
  }
}

function rowOf(name: string, asked: readonly Asked[]): string {
  const counts = verdicts.map((verdict) => asked.filter((one) => one.verdict === verdict).length)
  const times = asked.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0)
  const held = budgets.map((budget) => asked.filter((one) => one.held?.includes(budget)).length)
  return `| ${[name, ...counts, at(0.5), at(0.95), ...held].join(' | ')} |`
}

function write({ manual }: QuestionSet, asked: readonly Asked[]): void {
  const file = process.env.ANSWERS_TRANSCRIPT
  if (file === undefined) return
  const entries = asked.map(
    ({ ask, verdict, text, paths }) => `## ${ask}\n\n(${verdict}; ${paths.join(', ')})\n\n${text}\n`,
  )
  appendFileSync(file, [`# ${manual}\n`, ...entries, ''].join('\n'))
}
