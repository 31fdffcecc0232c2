import { randomUUID } from 'node:crypto'
import type { OpenContext } from '../src/app/open-context.ts'
import { previewing } from '../src/queue/preview/previewed-kb.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { kbSearch } from '../src/search/kb/kb-search.ts'
import { search } from '../src/search/kb/search-kb.ts'
import { milliseconds, show, summary } from './support/measure.ts'

const [pages, rounds] = [10, 15]
const words = ['river', 'policy', 'market', 'engine', 'winter', 'garden', 'letter', 'bridge']

/** Ten changed pages laid over a knowledge base: the first answer, searches after it, and the same searches without. */
export async function benchPreviews(ctx: OpenContext, tenantId: string): Promise<string[]> {
  const curator: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
  const kb = await ctx.kb(tenantId, 'bench')
  await kbSearch(kb, ctx).follow()
  const targets = kb.projection.read
    .all`SELECT seq_id, title, blob FROM neurons ORDER BY seq_id LIMIT ${pages * rounds}`
  const bundle = async (round: number) => {
    const ids: string[] = []
    for (const { seq_id, title, blob } of targets.slice(pages * round, pages * (round + 1))) {
      const text = (await kb.repository.readText(String(blob))).replace(/^---\n[\s\S]*?\n---\n/, '')
      const { candidateId } = await submitCandidate(
        ctx,
        { ...curator, role: 'app' },
        {
          ...{
            knowledgeBaseId: 'bench',
            kind: 'user-correction',
            title: String(title),
            confidence: 0.4,
            impactEstimate: null,
          },
          content: `${text.slice(0, 50_000)}\n\nThe market of ${randomUUID()} closes in winter.\n`,
          metadata: JSON.stringify({ targetNeuron: String(seq_id) }),
        },
      )
      ids.push(candidateId)
    }
    return ids
  }
  const find = async (ids: string[] | undefined, n: number) => {
    const { ctx: laid } = await previewing(ctx, curator, ids, 'bench')
    const q = `${words[n % words.length]} ${n}`
    return search(laid, curator, 'bench', { q, kind: 'all', limit: 20 })
  }
  const times = { first: [] as number[], after: [] as number[], without: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const ids = await bundle(round)
    await find(undefined, 1_000 + round)
    times.first.push(await milliseconds(() => find(ids, round)))
    for (let n = 0; n < 8; n++) {
      const asked = rounds * (n + 1) + round
      times.after.push(await milliseconds(() => find(ids, asked)))
      times.without.push(await milliseconds(() => find(undefined, asked)))
    }
  }
  const [row] = kb.projection.read.all`SELECT count(*) AS count FROM neurons`
  const rows = [
    `| the first search of ${pages} changed pages | ${show(summary(times.first))} |`,
    `| a search after it | ${show(summary(times.after))} |`,
    `| the same without a preview | ${show(summary(times.without))} |`,
  ]
  rows.forEach((one) => void console.log(one))
  return [`| preview at ${row?.count} Neurons | ms: median (min–max) |`, '|---|---|', ...rows]
}
