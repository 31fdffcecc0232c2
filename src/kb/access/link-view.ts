import type { EdgeType } from '../../contract/vocabulary.ts'
import { type LinkMeaning, meaningOf } from '../../rules/links/file-target.ts'
import type { LinkAddress } from '../../rules/links/link-target.ts'
import { memoized } from '../../system/memoized.ts'
import { ownTurn } from '../../system/pauses.ts'
import { goesBy, type KbIdentity } from '../kb-identity.ts'
import {
  hasManyLinks,
  keysOf,
  type LinkRow,
  linksByBareKey,
  linksByKey,
  linksOf,
  namesByKey,
} from '../projection/link-queries.ts'
import { titleOf } from '../projection/neuron-queries.ts'
import type { KbView } from './kb-view.ts'

/** Minimum number of Neurons with one name for which links to it are read once for all of them. */
const many = 50

/** Link between two Neurons of one knowledge base. */
export type GraphEdge = { source: string; target: string; type: EdgeType }

/** Links of one knowledge base, resolved among the Neurons of a view. Caches its results, so use it for one request. */
export class LinkView {
  readonly identity: KbIdentity
  readonly #view: KbView
  readonly #meanings = new Map<string, LinkMeaning>()
  readonly #visibleNames = memoized((key: string) => [...this.#view.rows((sql) => namesByKey(sql, key))])
  /** Edges by target, for a name that many Neurons share: its links are read once for all of them. */
  readonly #edgesByName = memoized((key: string) => {
    const links = [linksByKey, linksByBareKey].flatMap((query) => [...this.#view.rows((sql) => query(sql, key))])
    const edges = links.flatMap((link) => this.edgeOf(link) ?? [])
    return Map.groupBy(edges, ({ target }) => target)
  })

  constructor(view: KbView) {
    this.identity = view.kb.identity
    this.#view = view
  }

  /** True if the `kb` of a link names this knowledge base. */
  isOwn(kb: string | null): boolean {
    return kb === null || goesBy(this.identity, kb)
  }

  titleOf(seqId: string): string {
    return this.#view.about(seqId, titleOf) ?? seqId
  }

  resolve(link: LinkAddress): LinkMeaning {
    // Pages of one folder share the result.
    const { target, form, from } = link
    const key = JSON.stringify([target, form, from.slice(0, from.lastIndexOf('/'))])
    return this.#meanings.getOrInsertComputed(key, () =>
      meaningOf(link, { names: this.#visibleNames, files: this.#view.files }),
    )
  }

  /** Returns the edge of a link to another Neuron of this knowledge base. */
  edgeOf(link: LinkRow): GraphEdge | undefined {
    const { seqId: source, kb, type } = link
    if (!this.isOwn(kb)) return undefined
    const meaning = this.resolve(link)
    if (!('seqId' in meaning) || meaning.seqId === source || !this.#view.seesNeuron(source)) return undefined
    return { source, target: meaning.seqId, type }
  }

  /** Returns the edges from a Neuron, each once, by target and type. @param pause is called after each link: a page may have 20,000 */
  async edgesFrom(seqId: string, pause: () => Promise<void>): Promise<GraphEdge[]> {
    const edges: GraphEdge[] = []
    if (this.#view.about(seqId, hasManyLinks)) await ownTurn()
    for (const link of this.#view.about(seqId, linksOf) ?? []) {
      await pause()
      const edge = this.edgeOf(link)
      if (edge !== undefined) edges.push(edge)
    }
    return distinctEdges(edges)
  }

  /** Returns the edges to a Neuron from at most `maxSources` Neurons, each once, by source and type. */
  edgesTo(seqId: string, maxSources: number): GraphEdge[] {
    const view = this.#view
    const edges = (view.about(seqId, keysOf) ?? []).flatMap((key) => {
      if (this.#visibleNames(key).length >= many) return this.#edgesByName(key).get(seqId) ?? []
      const [links, bare] = [view.rows((sql) => linksByKey(sql, key)), view.rows((sql) => linksByBareKey(sql, key))]
      return [...this.#firstEdgesTo(seqId, links, maxSources), ...this.#firstEdgesTo(seqId, bare, maxSources)]
    })
    const sources = [...new Set(edges.map(({ source }) => source))].sort()
    const [beyond] = sources.slice(maxSources)
    return distinctEdges(beyond === undefined ? edges : edges.filter(({ source }) => source < beyond))
  }

  /** Yields the edges to a Neuron from at most `maxSources` Neurons. @param links grouped by the Neuron that contains them */
  *#firstEdgesTo(seqId: string, links: Iterable<LinkRow>, maxSources: number): Generator<GraphEdge> {
    const sources = new Set<string>()
    for (const link of links) {
      const edge = this.edgeOf(link)
      if (edge?.target !== seqId) continue
      sources.add(edge.source)
      if (sources.size > maxSources) return
      yield edge
    }
  }
}

/** Removes duplicate edges, and sorts by source, target and type. */
function distinctEdges(edges: Iterable<GraphEdge>): GraphEdge[] {
  const distinct = new Map<string, GraphEdge>()
  for (const edge of edges) distinct.set(`${edge.source} ${edge.target} ${edge.type}`, edge)
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, edge]) => edge)
}
