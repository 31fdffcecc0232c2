import type { Graph } from '../../../src/contract/graph.ts'
import type { Neuron } from '../../../src/contract/neurons.ts'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { fileLookup, resolveFile } from '../../../src/rules/links/file-target.ts'
import { keptClaim, type LinkAddress, namedNeurons, resolveTarget } from '../../../src/rules/links/link-target.ts'
import { writtenLinks } from '../../../src/rules/links/written-link.ts'
import { extractLinks } from '../../markdown/extract-parts.ts'
import type { NativeWriter } from './native-writer.ts'

const main = 'refs/heads/main'

export type LinksOfNeuron = Pick<Neuron, 'links' | 'backlinks' | 'unresolved'>

/**
 * Resolves the links of a knowledge base for a curator, from the files of main alone and all at once.
 * @param claims since when each Neuron has its names, by seqId
 * @param holders the path of each Neuron's file by seqId, since the history decides if two claim a seqId
 */
export function linksInFiles(
  native: NativeWriter,
  holders: ReadonlyMap<string, string>,
  claims: ReadonlyMap<string, Parameters<typeof keptClaim>[0]> = new Map(),
) {
  const files = new Map(native.paths(main).map((path) => [path, parseNeuronFile(native.read(main, path))]))
  const neurons = [...holders].map(([seqId, path]) => {
    const { fields, content, propertyLinks } = files.get(path) ?? parseNeuronFile('')
    const title = fields.title ?? path.slice(path.lastIndexOf('/') + 1, -'.md'.length)
    const names = namedNeurons({ seqId, path, title, aliases: fields.aliases }).map((name) => ({
      ...name,
      claim: keptClaim(claims.get(seqId) ?? [], name),
    }))
    const written = writtenLinks({ edges: fields.edges, properties: propertyLinks }, extractLinks(content))
    return { seqId, title, path, names, written }
  })
  const names = neurons.flatMap((neuron) => neuron.names)
  const others = [...files].filter(([, { fields }]) => fields.seqId === undefined)
  const lookup = fileLookup(others.map(([path]) => path))
  const resolve = (link: LinkAddress) => resolveTarget(link, (key) => names.filter((name) => name.key === key))
  const resolved = neurons.flatMap(({ seqId: source, path: from, written }) =>
    written.map((link) => ({ source, from, ...link, found: resolve({ ...link, from }) })),
  )
  const edges = resolved.flatMap(({ source, type, found }) =>
    'seqId' in found ? [{ source, target: found.seqId, type }] : [],
  )
  const joining = distinct(edges.filter(({ source, target }) => source !== target))

  const byNeuron = new Map<string, LinksOfNeuron>()
  for (const { seqId } of neurons) {
    const links = distinct(edges.filter(({ source }) => source === seqId)).map(({ target, type }) => ({ type, target }))
    const backlinks = sorted(joining.filter(({ target }) => target === seqId)).map(({ source, type }) => ({
      seqId: source,
      title: neurons.find((neuron) => neuron.seqId === source)?.title ?? '',
      type,
    }))
    const unresolved = resolved.flatMap(({ source, found, ...link }): LinksOfNeuron['unresolved'] => {
      const { type, target, line } = link
      if (source !== seqId || 'seqId' in found) return []
      if ('ambiguous' in found) return [{ target, type, reason: 'ambiguous', candidates: found.ambiguous, line }]
      const isFile = resolveFile(target, link.from, lookup) !== undefined
      return link.form !== 'edge' && isFile ? [] : [{ target, type, reason: 'missing', line }]
    })
    byNeuron.set(seqId, { links, backlinks, unresolved })
  }
  return { byNeuron, edges: sorted(joining) }
}

function distinct<T extends object>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
}

function sorted(edges: readonly Graph['edges'][number][]): Graph['edges'] {
  const key = ({ source, target, type }: Graph['edges'][number]) => `${source} ${target} ${type}`
  return edges.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}
