import { expect, test, vi } from 'vitest'
import { readGraph } from '../../src/pages/graph/read-graph.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../kb/support/written-neurons.ts'

/** Neurons by number with the numbers that they link to, and tags after a space: `{ 1: '2 3 internal' }`. */
function neurons(links: Record<number, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(links).map(([number, text]) => {
      const words = text.split(' ').filter((word) => word !== '')
      const targets = words.filter((word) => /^\d+$/.test(word)).map((word) => `[[${seq(Number(word))}]]\n`)
      const tags = words.filter((word) => !/^\d+$/.test(word))
      return [`${number}.md`, neuronText(Number(number), { title: `N${number}`, tags }, targets.join(''))]
    }),
  )
}

/** The numbers of a graph's nodes, and its edges as `1-2`. */
async function graph(
  bed: WrittenBed,
  query: { around?: number; depth?: number; limit?: number } = {},
  as: Caller = bed.curator,
) {
  const { around, ...rest } = query
  const asked = { depth: 1, limit: 200, ...rest, ...(around === undefined ? {} : { around: seq(around) }) }
  const { nodes, edges, truncated } = await readGraph(bed.ctx, as, 'handbook', asked)
  const number = (seqId: string) => Number(seqId.slice(-8))
  return {
    nodes: nodes.map(({ seqId }) => number(seqId)),
    edges: edges.map(({ source, target }) => `${number(source)}-${number(target)}`),
    truncated,
  }
}

test('the whole graph: the best connected first, those without links last', async () => {
  const bed = await writtenBed({
    ...neurons({ 1: '', 2: '3', 3: '2 4', 4: '3', 5: '3 5 99' }),
    '6.md': neuronText(
      6,
      { title: 'N6', tags: ['x'], edges: [['supersedes', 'N1']] },
      '[[N1]] [[n1]] [[kb:wiki/N2]]\n',
    ),
  })
  expect(await graph(bed)).toEqual({
    nodes: [3, 1, 2, 4, 6, 5],
    edges: ['2-3', '3-2', '3-4', '4-3', '5-3', '6-1', '6-1'],
    truncated: false,
  })
  const { nodes, edges } = await readGraph(bed.ctx, bed.reader, 'handbook', { depth: 1, limit: 5 })
  expect(nodes[4]).toEqual({ seqId: seq(6), title: 'N6', path: 'neurons/6.md', tags: ['x'] })
  expect(edges.slice(-2)).toEqual([
    { source: seq(6), target: seq(1), type: 'cites' },
    { source: seq(6), target: seq(1), type: 'supersedes' },
  ])
})

test('a graph that is cut holds the best connected, and the links among them only', async () => {
  const bed = await writtenBed(neurons({ 1: '3', 2: '3 4', 3: '', 4: '' }))
  expect(await graph(bed, { limit: 2 })).toEqual({ nodes: [2, 3], edges: ['2-3'], truncated: true })
  expect(await graph(bed, { limit: 4 })).toMatchObject({ truncated: false })
})

test('around a Neuron, links count in either direction, step by step', async () => {
  const bed = await writtenBed(neurons({ 1: '2', 2: '3', 3: '4', 4: '', 5: '1', 6: '5 4', 7: '' }))
  expect(await graph(bed, { around: 1 })).toEqual({ nodes: [1, 2, 5], edges: ['1-2', '5-1'], truncated: false })
  expect(await graph(bed, { around: 1, depth: 2 })).toEqual({
    nodes: [1, 2, 5, 3, 6],
    edges: ['1-2', '2-3', '5-1', '6-5'],
    truncated: false,
  })
  expect((await graph(bed, { around: 1, depth: 5 })).nodes).toEqual([1, 2, 5, 3, 6, 4])
  expect(await graph(bed, { around: 7, depth: 5 })).toEqual({ nodes: [7], edges: [], truncated: false })
})

test('around a Neuron, the nearest stay when the graph is cut, and they alone say that there are more', async () => {
  const bed = await writtenBed(neurons({ 1: '2 3', 2: '1', 3: '4', 4: '', 5: '1', 6: '1' }))
  expect(await graph(bed, { around: 1, depth: 3, limit: 4 })).toMatchObject({ nodes: [1, 2, 3, 5], truncated: true })
  expect(await graph(bed, { around: 1, depth: 1, limit: 5 })).toMatchObject({
    nodes: [1, 2, 3, 5, 6],
    truncated: false,
  })
  expect(await graph(bed, { around: 1, depth: 1, limit: 1 })).toEqual({ nodes: [1], edges: [], truncated: true })
})

test('around a Neuron that very many link to, the first of them fill the graph', async () => {
  const bed = await writtenBed(neurons({ 1: '', 2: '1', 3: '1', 4: '1', 5: '4' }))
  expect(await graph(bed, { around: 1, limit: 3 })).toEqual({
    nodes: [1, 2, 3],
    edges: ['2-1', '3-1'],
    truncated: true,
  })
  expect(await graph(bed, { around: 1, limit: 4 })).toMatchObject({ nodes: [1, 2, 3, 4], truncated: false })
  expect(await graph(bed, { around: 5, depth: 3, limit: 4 })).toMatchObject({ nodes: [5, 4, 1, 2], truncated: true })
})

test('a Neuron that the caller may not see is no node, joins nothing, and is the middle of nothing', async () => {
  const bed = await writtenBed(neurons({ 1: '2', 2: '3 internal', 3: '', 4: '2 internal' }))
  expect(await graph(bed, {}, bed.app)).toEqual({ nodes: [1, 3], edges: [], truncated: false })
  expect(await graph(bed, { limit: 2 }, bed.app)).toMatchObject({ truncated: false })
  expect(await graph(bed, { around: 1, depth: 5 }, bed.reader)).toEqual({ nodes: [1], edges: [], truncated: false })
  expect((await graph(bed, { around: 1, depth: 5 })).nodes).toEqual([1, 2, 3, 4])
  await expect(graph(bed, { around: 2 }, bed.app)).rejects.toThrow('nothing here')
  await expect(graph(bed, { around: 99 }, bed.curator)).rejects.toThrow('nothing here')
})

test('the whole graph of a commit is read once, however many ask at once and whatever they want of it', async () => {
  const { ctx, curator, reader, write } = await writtenBed(neurons({ 1: '3', 2: '3 4', 3: '', 4: '' }))
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const reads = vi.spyOn(kb.projection, 'withSnapshot')
  const ask = (caller: Caller, limit: number) => readGraph(ctx, caller, 'handbook', { depth: 1, limit })
  await Promise.all([1, 2, 3, 1000].flatMap((limit) => [ask(curator, limit), ask(reader, limit)]))
  expect(reads).toHaveBeenCalledTimes(2)
  write({ 'New.md': neuronText(90, { title: 'New' }) })
  await kb.sync()
  expect((await ask(curator, 1000)).nodes.map(({ seqId }) => seqId)).toContain(seq(90))
  expect(reads).toHaveBeenCalledTimes(3)
})
