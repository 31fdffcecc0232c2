import type { Graph } from '../contract/graph.ts'
import type { Neuron } from '../contract/neurons.ts'
import type { Context } from '../kb/context.ts'
import { type KbLabel, kbLabel } from '../kb/kb-label.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import type { Rendered } from '../markdown/render/render-pool.ts'
import type { Caller } from '../rules/access/caller.ts'
import { pastDate } from '../rules/freshness.ts'
import { findMentions, type Mention } from './graph/find-mentions.ts'
import { readGraph } from './graph/read-graph.ts'
import { viewsOf } from './graph/resolve-links.ts'
import { approverOf } from './read-history.ts'
import { readNeuronFile } from './read-neuron.ts'
import { renderPage } from './render-page.ts'

export type ShownLink = Neuron['links'][number] & { title: string; kb: string }

export type NeuronView = {
  kb: KbLabel
  neuron: Neuron
  rendered: Rendered
  approvedBy: string
  /** Present version; null if the Neuron is removed. */
  current: number | null
  /** Last day on which it counted as verified, if that is past. The rules of `kb.yaml` count for curators only. */
  pastDate: string | undefined
  links: ShownLink[]
  /** Sentences of the first backlinks. */
  mentions: Mention[]
  /** Nearest Neurons, this one first; only this one if it is removed. */
  around: Graph
}

/** Maximum number of sentences shown. */
const maxMentions = 20
const maxAround = 24

/**
 * Reads one Neuron for its page, in its present state or at a commit; see {@link readNeuron} for what the caller sees of it. @throws
 * {GanglionError} `not_found`
 */
export async function readPage(
  ctx: Context,
  caller: Caller,
  asked: { kb: string; seqId: string; at?: string },
): Promise<NeuronView> {
  const { neuron, file, view, links: linkView } = await readNeuronFile(ctx, caller, asked)
  const { seqId, title, path, links } = neuron
  const current = view.about(seqId, findNeuron)?.version ?? null
  const rendering = renderPage(ctx, caller, view, { ...file, path, title })
  const views = await viewsOf(ctx, caller, linkView, new Set(links.map(({ kb: name }) => name ?? null)))
  const shown = links.map(({ kb: name, ...link }) => {
    const target = views.get(name ?? null)
    return { ...link, kb: name ?? view.kb.identity.slug, title: target?.titleOf(link.target) ?? link.target }
  })
  const backlinks = neuron.backlinks.slice(0, maxMentions)
  const { verify } = await view.kb.settings()
  return {
    kb: await kbLabel(view.kb),
    neuron,
    rendered: await rendering,
    approvedBy: await approverOf(view.kb, neuron),
    current,
    pastDate: pastDate(
      { ...neuron, verified: neuron.verified ?? null },
      view.audience === 'curator' ? verify : [],
      ctx.now(),
    ),
    links: shown,
    mentions: await findMentions(view, linkView, { seqId, backlinks }),
    around: await aroundOf(ctx, caller, { kb: asked.kb, neuron, isRemoved: current === null }),
  }
}

async function aroundOf(
  ctx: Context,
  caller: Caller,
  { kb, neuron, isRemoved }: { kb: string; neuron: Neuron; isRemoved: boolean },
): Promise<Graph> {
  const { seqId, title, path, tags } = neuron
  if (isRemoved) return { nodes: [{ seqId, title, path, tags }], edges: [], truncated: false }
  return readGraph(ctx, caller, kb, { around: seqId, depth: 1, limit: maxAround })
}
