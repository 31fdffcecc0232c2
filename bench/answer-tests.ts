import { mainRun } from '../src/answer-tests/main-run.ts'
import { testEffects } from '../src/answer-tests/test-effects.ts'
import type { OpenContext } from '../src/app/open-context.ts'
import { commitToMain } from '../src/kb/writing/commits.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { milliseconds, show, summary } from './support/measure.ts'

const tests = 200
const rounds = 3

/** The results of 200 answer tests on main, and what a candidate changes in them, each of a page of its own. */
export async function benchAnswerTests(ctx: OpenContext, tenantId: string): Promise<string[]> {
  const app: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'app', connectors: [] }
  const kb = await ctx.kb(tenantId, 'bench')
  const pages = kb.projection.read.all`SELECT seq_id, title, blob FROM neurons ORDER BY seq_id LIMIT ${tests}`
  const entries = pages.map(({ seq_id, title }, at) => {
    const expected = at % 2 === 0 ? { retrieves: [seq_id] } : { refuses: false }
    return JSON.stringify({ question: `What is said of ${title}?`, ...expected })
  })
  const commit = (text: string | null) =>
    kb.write((staging) =>
      commitToMain(kb, staging, {
        files: new Map([['tests/answers.yaml', text]]),
        subject: 'Change the answer tests',
        decided: { operator: { id: 'cli', name: 'Operator' } },
        at: new Date(),
      }),
    )
  await commit(entries.map((entry) => `- ${entry}\n`).join(''))
  const onMain = await milliseconds(() => mainRun(ctx, kb))
  const times: number[] = []
  for (const { seq_id, title, blob } of pages.slice(0, rounds)) {
    const { candidateId } = await submitCandidate(ctx, app, {
      ...{ knowledgeBaseId: 'bench', kind: 'user-correction', title: String(title) },
      ...{ content: `Changed. ${(await kb.repository.readText(String(blob))).slice(-2_000)}`, confidence: null },
      ...{ impactEstimate: null, metadata: JSON.stringify({ targetNeuron: seq_id }) },
    })
    times.push(
      await milliseconds(async () => {
        const effects = await testEffects(ctx, kb, [candidateId])
        if (effects?.state !== 'tested') throw new Error(`The tests were not run: ${effects?.reason}`)
      }),
    )
  }
  await commit(null) // what is measured next asks for no results
  const rows = [
    `| results of ${tests} answer tests on main | ${show(summary([onMain]))} |`,
    `| what a candidate changes in them | ${show(summary(times))} |`,
  ]
  rows.forEach((row) => void console.log(row))
  return ['| answer tests | ms: median (min–max) |', '|---|---|', ...rows]
}
