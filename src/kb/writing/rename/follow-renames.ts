import type { Oid } from '../../../git/objects/object.ts'
import { parseNeuronFile } from '../../../markdown/file/neuron-file.ts'
import { rewriteLinks as visitLinks } from '../../../markdown/file/rewrite-links.ts'
import { neuronTitle } from '../../../markdown/neuron-title.ts'
import type { ParserPool } from '../../../markdown/pool/parser-pool.ts'
import type { KnowledgeBase } from '../../knowledge-base.ts'
import { seqIdAtPath } from '../../projection/file-queries.ts'
import type { LinkRow } from '../../projection/link-queries.ts'
import { findNeuron } from '../../projection/neuron-queries.ts'
import type { PushedNeuron } from '../pushed-neurons.ts'
import type { LinkSight, Rename } from './name-change.ts'
import { aliasesToKeep, linksToNamesOf, lostNames } from './rename-neuron.ts'
import { rewriteInboundLinks } from './rewrite-inbound-links.ts'

/** Pushed Neurons, with those whose links follow a rename, and the aliases that preserve other links, by seqId. */
export type Followed = { neurons: PushedNeuron[]; aliases: Map<string, string[]> }

/**
 * Preserves links to Neurons that were renamed or moved: by rewriting the pages that contain them, or by an alias, as the settings say.
 * Must run within a write, before anything is staged.
 */
export async function followRenames(
  kb: KnowledgeBase,
  neurons: readonly PushedNeuron[],
  {
    readText,
    parser,
    rewriteLinks,
    sight,
    isFollowed = () => true,
    isTakenBack = () => false,
  }: {
    readText: (oid: Oid) => Promise<string>
    parser: ParserPool
    rewriteLinks: boolean
    sight?: LinkSight | undefined
    /** True if the rename of a Neuron is followed. */
    isFollowed?: (seqId: string) => boolean
    /** True if the rename of a Neuron reverts another. */
    isTakenBack?: (seqId: string) => boolean
  },
): Promise<Followed> {
  const renames = neurons.flatMap(renameOf).filter(({ seqId }) => isFollowed(seqId))
  if (!rewriteLinks || renames.length === 0) {
    const aliases = new Map<string, string[]>()
    const isGone = await goneLinks(kb, parser, renames, neurons)
    for (const { seqId, after } of renames) {
      aliases.set(seqId, aliasesToKeep(kb, seqId, after, { sight, isGone, isTakenBack: isTakenBack(seqId) }))
    }
    return { neurons: [...neurons], aliases }
  }
  const changed = new Map(neurons.flatMap(({ path, before, text }) => contentsOf(path, before?.path, text)))
  const { pages, aliases } = await rewriteInboundLinks(kb, { readText }, parser, { renames, changed, sight })
  const rewritten = neurons.map((neuron) => ({ ...neuron, text: pages.get(neuron.path) ?? neuron.text }))
  const known = new Set(neurons.map(({ path }) => path))
  const others = [...pages].filter(([path]) => !known.has(path)).flatMap(([path, text]) => otherPage(kb, path, text))
  return { neurons: [...rewritten, ...others], aliases }
}

/** Returns the links on main to Neurons that lose a name which the commit removes from their pages. */
async function goneLinks(
  kb: KnowledgeBase,
  parser: ParserPool,
  renames: readonly Rename[],
  neurons: readonly PushedNeuron[],
): Promise<(link: LinkRow) => boolean> {
  const written = new Map(neurons.map(({ seqId, text }) => [seqId, text]))
  const left = new Map<string, Set<string>>()
  for (const { seqId, after } of renames) {
    if (lostNames(kb, seqId, after).length === 0) continue
    for (const link of linksToNamesOf(kb, seqId)) if (written.has(link.seqId)) left.set(link.seqId, new Set())
  }
  for (const [seqId, targets] of left) {
    const text = written.get(seqId)
    const read = text == null ? '' : await visitLinks(parser, text, ({ target }) => void targets.add(target))
    // An unreadable page may still contain them.
    if (read === undefined) left.delete(seqId)
  }
  return ({ seqId, target }) => left.get(seqId)?.has(target) === false
}

function renameOf({ seqId, before, path, text }: PushedNeuron): Rename[] {
  if (seqId === undefined || before === undefined || text === null) return []
  const file = parseNeuronFile(text)
  return [{ seqId, after: { path, title: neuronTitle(file, path), aliases: file.fields.aliases } }]
}

function contentsOf(path: string, before: string | undefined, text: string | null): [string, string | null][] {
  return [...(before === undefined || before === path ? [] : [[before, null] as [string, null]]), [path, text]]
}

function otherPage(kb: KnowledgeBase, path: string, text: string): PushedNeuron[] {
  const seqId = seqIdAtPath(kb.projection.write, path)
  const before = seqId === undefined ? undefined : findNeuron(kb.projection.write, seqId)
  return before === undefined ? [] : [{ seqId, before, path, blob: before.blob, text }]
}
