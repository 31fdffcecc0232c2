import { type OpenContext, openContext } from '../src/app/open-context.ts'
import { approveCandidate } from '../src/queue/decide-candidate.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { kbSearch } from '../src/search/kb/kb-search.ts'
import { retrieve } from '../src/search/kb/retrieve.ts'
import { searchTenant } from '../src/search/kb/search-pages.ts'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { longestTurn, milliseconds } from './support/measure.ts'

const neurons = 10_000
const rounds = 50

/** The search index of a knowledge base in a server's process: how it comes to be, keeps up and answers. */
export async function benchFollowing(): Promise<string[]> {
  const imported = await importNotes(neurons)
  const { dataDir, tenantId } = imported
  const curator: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
  const turns = longestTurn()
  const followed = async (ctx: OpenContext) => kbSearch(await ctx.kb(tenantId, 'bench'), ctx).follow()
  const build = await milliseconds(() => followed(imported.ctx))
  const turn = turns()
  await imported.ctx.close()

  const ctx = await openContext({ dataDir })
  const found = (q: string) => searchTenant(ctx, curator, { kb: 'bench', q, kind: 'all', limit: 10 })
  const restart = await milliseconds(() => found('first'))
  const update: number[] = []
  for (let round = 0; round < rounds; round++) {
    const word = `word${round}x`
    const { candidateId } = await submitCandidate(ctx, curator, {
      knowledgeBaseId: 'bench',
      kind: 'external-feed',
      title: `About ${word}`,
      content: `It is called ${word}.`,
      metadata: null,
      confidence: null,
      impactEstimate: null,
    })
    await approveCandidate(ctx, curator, candidateId, {})
    update.push(await milliseconds(() => found(word)))
    if ((await found(word)).total !== 1) throw new Error(`${word} was approved and is not found`)
  }
  const search: number[] = []
  for (let round = 0; round < 4 * rounds; round++)
    search.push(await milliseconds(() => found(`word${round % rounds}x OR first`)))
  const question = {
    query: 'Which word is it called, and about what is it?',
    audience: 'tool',
    maxChars: 4000,
    topK: 5,
  } as const
  const retrieval: number[] = []
  for (let round = 0; round < 4 * rounds; round++) {
    retrieval.push(await milliseconds(() => retrieve(ctx, curator, 'bench', question)))
  }
  await ctx.close()
  return [
    '| in the process of a server | milliseconds | aim |',
    '|---|---|---|',
    `| the index of ${neurons} imported Neurons is built | ${build.toFixed(0)} | |`,
    `| the longest that this held up the event loop, CPU time | ${turn.toFixed(0)} | ${noteAim('event loop held up by building the index', turn, { atMost: 50 }, 'ms of CPU')} |`,
    `| first answer of a process that finds the index made | ${restart.toFixed(0)} | |`,
    `| first answer after an approval, what was approved included: median | ${median(update).toFixed(1)} | |`,
    `| a search: median | ${median(search).toFixed(1)} | |`,
    `| a retrieve: median | ${median(retrieval).toFixed(1)} | |`,
  ]
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
