import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Role } from '../src/contract/vocabulary.ts'
import { readGraph } from '../src/pages/graph/read-graph.ts'
import { readNeuron } from '../src/pages/read-neuron.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { importNotes } from './support/imported-notes.ts'
import { inTurn, milliseconds, show } from './support/measure.ts'

const neurons = 10_000
const sample = 100

/** Resolving links among many Neurons: all of them, and those from and to one. Nothing that was resolved is kept. */
export async function benchLinks(): Promise<string[]> {
  const { ctx, tenantId } = await importNotes(neurons)
  const caller = (role: Role): Caller => ({ id: 'key:bench', name: 'Bench', tenantId, role, connectors: [] })
  const [curator, reader] = [caller('curator'), caller('reader')]
  const kb = await ctx.kb(tenantId, 'bench')
  const links = Number(kb.projection.read.get`SELECT count(*) AS count FROM links`?.count)
  const seqId = (number: number) => `bench_${String(number).padStart(8, '0')}`
  const read = (number: number) => readNeuron(ctx, curator, { kb: 'bench', seqId: seqId(number) })
  const graph = (who: Caller) => readGraph(ctx, who, 'bench', { depth: 1, limit: 1000 })
  const around = (depth: number) => readGraph(ctx, curator, 'bench', { around: hub, depth, limit: 1000 })

  const { nodes } = await graph(curator)
  const hub = nodes[0]?.seqId ?? ''
  const { backlinks } = await readNeuron(ctx, curator, { kb: 'bench', seqId: hub })
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const all = await inTurn(5, {
    curator: () => milliseconds(() => graph(curator)),
    reader: () => milliseconds(() => graph(reader)),
    oneStep: () => milliseconds(() => around(1)),
    threeSteps: () => milliseconds(() => around(3)),
  })
  delays.disable()
  let next = 0
  const one = await inTurn(sample, {
    any: () => milliseconds(() => read(1 + ((next++ * 97) % neurons))),
    hub: () => milliseconds(() => readNeuron(ctx, curator, { kb: 'bench', seqId: hub })),
  })
  await ctx.close()
  return [
    '| milliseconds: median (min–max) | time |',
    '|---|---|',
    `| all ${links} links of ${neurons} Neurons, and the 1000 best connected | ${show(all.curator)} |`,
    `| the same, of those that a reader may see | ${show(all.reader)} |`,
    `| one Neuron with its links and backlinks | ${show(one.any)} |`,
    `| the best connected, with ${backlinks.length} backlinks | ${show(one.hub)} |`,
    `| the graph around it, 1 step | ${show(all.oneStep)} |`,
    `| the graph around it, 3 steps, cut at 1000 Neurons | ${show(all.threeSteps)} |`,
    '',
    `The longest that a graph held up the event loop: ${(delays.max / 1e6).toFixed(0)} ms.`,
  ]
}
