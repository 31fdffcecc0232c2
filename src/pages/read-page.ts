import type { Graph } from '../contract/graph.ts'
import type { Neuron } from '../contract/neurons.ts'
import { atOneCommit, type KbView } from '../kb/access/kb-view.ts'
import { LinkView } from '../kb/access/link-view.ts'
import type { Context } from '../kb/context.ts'
import { linksOf } from '../kb/projection/link-queries.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { type KbLabel, kbLabel, PerCommit } from '../kb/readable-kb.ts'
import { parseNeuronFile, shownContent } from '../markdown/file/neuron-file.ts'
import { linkPattern } from '../markdown/links/pattern-links.ts'
import { linesOf } from '../markdown/parse/split-blocks.ts'
import { parseWikiLinkText } from '../markdown/parse/wiki-link-text.ts'
import type { Rendered } from '../markdown/render/render-pool.ts'
import type { Caller } from '../rules/access/caller.ts'
import { pastDate } from '../rules/freshness.ts'
import { oneLine } from '../rules/text/lines.ts'
import { sentencesOf } from '../rules/text/sentences.ts'
import { graphAround } from './graph/read-graph.ts'
import { viewsOf } from './graph/resolve-links.ts'
import { approverOf } from './read-history.ts'
import { backlinksOf, readNeuronFile } from './read-neuron.ts'
import { renderPage } from './render-page.ts'

/** Page that links to another, with the sentence around the first such link; without one if the link is in the front matter. */
type Mention = Neuron['backlinks'][number] & { sentence?: string }

const maxSentence = 300
const blockMark = /^[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?/
const label = /!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\(<?[^\s<>()]+>?\)/g

type ShownLink = Neuron['links'][number] & { title: string; kb: string }

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

const surroundings = new PerCommit<Pick<NeuronView, 'mentions' | 'around'>>()

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
    ...(await surroundings.get(view.kb, `${view.audience} ${seqId} ${current ?? neuron.commit}`, async () =>
      // At one commit, since main may have moved after the page was read.
      atOneCommit(await ctx.readableKb(caller.tenantId, asked.kb), caller, (then) => surroundingsOf(then, neuron)),
    )),
  }
}

async function surroundingsOf(
  view: KbView,
  { seqId, title, path, tags }: Neuron,
): Promise<Pick<NeuronView, 'mentions' | 'around'>> {
  const links = new LinkView(view)
  const alone: Graph = { nodes: [{ seqId, title, path, tags }], edges: [], truncated: false }
  const isRemoved = view.about(seqId, findNeuron) === undefined
  return {
    mentions: await findMentions(view, links, seqId),
    around: isRemoved ? alone : await graphAround(view, links, { around: seqId, depth: 1, limit: maxAround }),
  }
}

/** Returns the first Neurons that link to one, with the sentences. */
async function findMentions(view: KbView, links: LinkView, seqId: string): Promise<Mention[]> {
  const { language } = await view.kb.settings()
  return Promise.all(
    backlinksOf(links, seqId, maxMentions).map(async (backlink) => {
      const sentence = await sentenceOf(view, links, { from: backlink.seqId, to: seqId, type: backlink.type, language })
      return sentence === undefined ? backlink : { ...backlink, sentence }
    }),
  )
}

async function sentenceOf(
  view: KbView,
  linkView: LinkView,
  { from, to, type, language }: { from: string; to: string; type: string; language: string },
): Promise<string | undefined> {
  const links = (view.about(from, linksOf) ?? []).filter((link) => link.line !== null && link.type === type)
  const link = links.find((one) => linkView.edgeOf(one)?.target === to)
  const neuron = view.about(from, findNeuron)
  if (link === undefined || link.line === null || neuron === undefined) return undefined
  const content = shownContent(parseNeuronFile(await view.kb.repository.readText(neuron.blob)))
  const line = linesOf(content)[link.line - 1]?.text.replace(blockMark, '') ?? ''
  const sentence = sentencesOf(line, language).find(({ text }) => text.includes(link.target))?.text ?? line
  return oneLine(withoutMarkup(sentence).replaceAll(to, linkView.titleOf(to)), maxSentence)
}

/** Returns a line approximately as readers see it, which is enough to recognize it. */
function withoutMarkup(line: string): string {
  return line
    .replace(linkPattern, (whole: string, _mark: string, wiki?: string) => {
      const link = wiki === undefined ? undefined : parseWikiLinkText(wiki)
      return link === undefined ? whole : (link.alias ?? link.target)
    })
    .replace(label, '$1')
    .replace(/[*`~|]+|(?<!\w)_+|(?<!_)_+(?!\w)/g, '')
    .trim()
}
