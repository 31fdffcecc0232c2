import { GanglionError } from '../../contract/errors.ts'
import type { Graph, GraphQuery } from '../../contract/graph.ts'
import { atOneCommit, type KbView } from '../../kb/access/kb-view.ts'
import { type GraphEdge, LinkView } from '../../kb/access/link-view.ts'
import type { Context } from '../../kb/context.ts'
import { everySeqId, findNeuron } from '../../kb/projection/neuron-queries.ts'
import { PerCommit } from '../../kb/readable-kb.ts'
import { effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { pauses } from '../../system/pauses.ts'

type Selection = { seqIds: string[]; truncated: boolean }

/** Maximum Neurons of a drawing, more than a {@link GraphQuery} may ask for. */
const maxNodes = 3000
const wholeGraphs = new PerCommit<Graph>()

/**
 * Returns the Neurons around one, or all of them, with the links among them. Hidden Neurons are absent and connect no others. @throws
 * {GanglionError} `not_found`
 */
export async function readGraph(ctx: Context, caller: Caller, kbName: string, query: GraphQuery): Promise<Graph> {
  const { around, limit } = query
  if (around === undefined) return firstNodes(await readWholeGraph(ctx, caller, kbName), limit)
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  return atOneCommit(kb, caller, (view) => graphAround(view, new LinkView(view), { ...query, around }))
}

/** Returns the Neurons around one, with the links among them. @throws {GanglionError} `not_found` */
export async function graphAround(
  view: KbView,
  links: LinkView,
  { around, ...query }: GraphQuery & { around: string },
): Promise<Graph> {
  if (!view.seesNeuron(around)) throw new GanglionError('not_found')
  return graphOf(view, links, await nearest(links, around, query))
}

/**
 * Returns the 3,000 best connected Neurons visible to the caller, best first, with the links among them.
 * @throws {GanglionError} `not_found`
 */
export async function readWholeGraph(ctx: Context, caller: Caller, kbName: string): Promise<Graph> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  return wholeGraphs.get(kb, effectiveAudience(caller), () =>
    atOneCommit(kb, caller, async (view) => {
      const links = new LinkView(view)
      return graphOf(view, links, await bestConnected(view, links))
    }),
  )
}

function firstNodes({ nodes, edges, truncated }: Graph, limit: number): Graph {
  if (nodes.length <= limit) return { nodes, edges, truncated }
  const first = nodes.slice(0, limit)
  const among = new Set(first.map(({ seqId }) => seqId))
  const isAmong = ({ source, target }: GraphEdge) => among.has(source) && among.has(target)
  return { nodes: first, edges: edges.filter(isAmong), truncated: true }
}

async function graphOf(view: KbView, links: LinkView, { seqIds, truncated }: Selection): Promise<Graph> {
  return { nodes: seqIds.flatMap((seqId) => nodeOf(view, seqId)), edges: await edgesAmong(links, seqIds), truncated }
}

/** Selects the Neurons with the most edges to and from others, the oldest first among equals. */
async function bestConnected(view: KbView, links: LinkView): Promise<Selection> {
  const pause = pauses()
  const degrees = new Map<string, number>()
  const count = (seqId: string, edges: number) => degrees.set(seqId, (degrees.get(seqId) ?? 0) + edges)
  for (const { seqId } of view.rows(everySeqId)) {
    await pause()
    const edges = await links.edgesFrom(seqId, pause)
    count(seqId, edges.length)
    for (const { target } of edges) count(target, 1)
  }
  const ranked = [...degrees].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1))
  return { seqIds: ranked.slice(0, maxNodes).map(([seqId]) => seqId), truncated: ranked.length > maxNodes }
}

/** Searches breadth first from one Neuron, by links in either direction. */
async function nearest(view: LinkView, around: string, { depth, limit }: GraphQuery): Promise<Selection> {
  const pause = pauses()
  const found = new Set([around])
  let outermost = [around]
  for (let distance = 1; distance <= depth; distance++) {
    const next: string[] = []
    for (const seqId of outermost) {
      await pause()
      // The first `limit` neighbours include a new one if there is any.
      for (const neighbour of await neighboursOf(view, seqId, { maxSources: limit, pause })) {
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

async function neighboursOf(
  view: LinkView,
  seqId: string,
  { maxSources, pause }: { maxSources: number; pause: () => Promise<void> },
): Promise<string[]> {
  const targets = (await view.edgesFrom(seqId, pause)).map(({ target }) => target)
  const sources = view.edgesTo(seqId, maxSources).map(({ source }) => source)
  return [...new Set([...targets, ...sources])].sort()
}

async function edgesAmong(view: LinkView, seqIds: readonly string[]): Promise<GraphEdge[]> {
  const pause = pauses()
  const among = new Set(seqIds)
  const edges: GraphEdge[] = []
  for (const seqId of seqIds.toSorted()) {
    await pause()
    edges.push(...(await view.edgesFrom(seqId, pause)).filter(({ target }) => among.has(target)))
  }
  return edges
}

function nodeOf(view: KbView, seqId: string): Graph['nodes'] {
  const neuron = view.about(seqId, findNeuron)
  return neuron === undefined ? [] : [{ seqId, title: neuron.title, path: neuron.path, tags: neuron.tags }]
}
