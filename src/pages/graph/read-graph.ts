import { GanglionError } from '../../contract/errors.ts'
import type { Graph, GraphQuery } from '../../contract/graph.ts'
import { atOneCommit, type KbView } from '../../kb/access/kb-view.ts'
import { type GraphEdge, LinkView } from '../../kb/access/link-view.ts'
import type { Context } from '../../kb/context.ts'
import { everySeqId, findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { pauses } from '../../system/pauses.ts'

type Selection = { seqIds: string[]; truncated: boolean }

/**
 * The Neurons around one, or all of them, with the links among them. One that the caller may not see is not there, and joins no
 * others.
 * @throws {GanglionError} `not_found`
 */
export async function readGraph(ctx: Context, caller: Caller, kbName: string, query: GraphQuery): Promise<Graph> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  return atOneCommit(kb, caller, async (view) => {
    const links = new LinkView(view)
    const { around, limit } = query
    if (around !== undefined && !view.seesNeuron(around)) throw new GanglionError('not_found')
    const { seqIds, truncated } =
      around === undefined ? await bestConnected(view, links, limit) : await nearest(links, around, query)
    return { nodes: seqIds.flatMap((seqId) => nodeOf(view, seqId)), edges: await edgesAmong(links, seqIds), truncated }
  })
}

/** The Neurons with the most edges to and from others, and among equals the oldest. */
async function bestConnected(view: KbView, links: LinkView, limit: number): Promise<Selection> {
  const pause = pauses()
  const degrees = new Map<string, number>()
  const count = (seqId: string, edges: number) => degrees.set(seqId, (degrees.get(seqId) ?? 0) + edges)
  for (const { seqId } of view.rows(everySeqId)) {
    await pause()
    const edges = links.edgesFrom(seqId)
    count(seqId, edges.length)
    for (const { target } of edges) count(target, 1)
  }
  const ranked = [...degrees].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1))
  return { seqIds: ranked.slice(0, limit).map(([seqId]) => seqId), truncated: ranked.length > limit }
}

/** Breadth first from one Neuron, by links in either direction. */
async function nearest(view: LinkView, around: string, { depth, limit }: GraphQuery): Promise<Selection> {
  const pause = pauses()
  const found = new Set([around])
  let outermost = [around]
  for (let distance = 1; distance <= depth; distance++) {
    const next: string[] = []
    for (const seqId of outermost) {
      await pause()
      // One of so many has not been found yet, if there are more.
      for (const neighbour of neighboursOf(view, seqId, limit)) {
        if (found.has(neighbour)) continue
        if (found.size === limit) return { seqIds: [...found], truncated: true }
        found.add(neighbour)
        next.push(neighbour)
      }
    }
    outermost = next
  }
  return { seqIds: [...found], truncated: false }
}

function neighboursOf(view: LinkView, seqId: string, maxSources: number): string[] {
  const targets = view.edgesFrom(seqId).map(({ target }) => target)
  const sources = view.edgesTo(seqId, maxSources).map(({ source }) => source)
  return [...new Set([...targets, ...sources])].sort()
}

async function edgesAmong(view: LinkView, seqIds: readonly string[]): Promise<GraphEdge[]> {
  const pause = pauses()
  const among = new Set(seqIds)
  const edges: GraphEdge[] = []
  for (const seqId of seqIds.toSorted()) {
    await pause()
    edges.push(...view.edgesFrom(seqId).filter(({ target }) => among.has(target)))
  }
  return edges
}

function nodeOf(view: KbView, seqId: string): Graph['nodes'] {
  const neuron = view.about(seqId, findNeuron)
  return neuron === undefined ? [] : [{ seqId, title: neuron.title, path: neuron.path, tags: neuron.tags }]
}
