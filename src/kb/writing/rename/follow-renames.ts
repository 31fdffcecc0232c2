import { accessIn, parseNeuronFile } from '../../../markdown/file/neuron-file.ts'
import { neuronTitle } from '../../../markdown/neuron-title.ts'
import { rewriteLinks, rewriteLinks as visitLinks } from '../../../markdown/rewrite/rewrite-links.ts'
import { type Access, isSeenByMore } from '../../../rules/access/audience.ts'
import { type LinkAddress, placeOf } from '../../../rules/links/link-target.ts'
import { isNeuronPath } from '../../../rules/paths/neuron-path.ts'
import type { FileContents, KnowledgeBase } from '../../knowledge-base.ts'
import { seqIdAtPath } from '../../projection/file-queries.ts'
import { type LinkRow, linksOf } from '../../projection/link-queries.ts'
import { findNeuron, type NeuronRow } from '../../projection/neuron-queries.ts'
import type { PushedNeuron } from '../pushed-neurons.ts'
import { hasSameLinks } from './follow-files.ts'
import {
  aliasesToKeep,
  isOwnLink,
  type LinkSight,
  linksToNamesOf,
  lostNames,
  NameChange,
  type Rename,
} from './name-change.ts'

/** Pushed Neurons, with those whose links follow a rename, and the aliases that preserve other links, by seqId. */
export type Followed = { neurons: PushedNeuron[]; aliases: Map<string, string[]> }

type FollowOptions = {
  rewriteLinks: boolean
  sight?: LinkSight | undefined
  /** True if the rename of a Neuron is followed. */
  isFollowed?: (seqId: string) => boolean
  /** True if the rename of a Neuron reverts another. */
  isTakenBack?: (seqId: string) => boolean
}

/**
 * Preserves links to Neurons that were renamed or moved: by rewriting the pages that contain them, or by an alias, as the settings say.
 * Must run within a write, before anything is staged.
 */
export async function followRenames(
  kb: KnowledgeBase,
  reader: Reader,
  neurons: readonly PushedNeuron[],
  { rewriteLinks, sight, isFollowed = () => true, isTakenBack = () => false }: FollowOptions,
): Promise<Followed> {
  const renames = neurons.flatMap(renameOf).filter(({ seqId }) => isFollowed(seqId))
  if (!rewriteLinks || renames.length === 0) {
    const aliases = new Map<string, string[]>()
    const isGone = await goneLinks(kb, renames, neurons)
    for (const { seqId, after } of renames) {
      aliases.set(seqId, aliasesToKeep(kb, seqId, after, { sight, isGone, isTakenBack: isTakenBack(seqId) }))
    }
    return { neurons: [...neurons], aliases }
  }
  const changed = new Map(neurons.flatMap(({ path, before, text }) => contentsOf(path, before?.path, text)))
  const { pages, aliases } = await rewriteInboundLinks(kb, reader, { renames, changed, sight })
  const rewritten = neurons.map((neuron) => ({ ...neuron, text: pages.get(neuron.path) ?? neuron.text }))
  const known = new Set(neurons.map(({ path }) => path))
  const others = [...pages].filter(([path]) => !known.has(path)).flatMap(([path, text]) => otherPage(kb, path, text))
  return { neurons: [...rewritten, ...others], aliases }
}

/** Returns the links on main to Neurons that lose a name which the commit removes from their pages. */
async function goneLinks(
  kb: KnowledgeBase,
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
    const read = text == null ? '' : await visitLinks(kb.parser, text, ({ target }) => void targets.add(target))
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

type Reader = { readText(oid: string): Promise<string> }

export type RewrittenLinks = {
  /** Pages whose links had to change, by path. */
  pages: Map<string, string>
  /** Aliases to keep, by seqId, because a page that links by them cannot be rewritten, or would reveal the new name to more readers. */
  aliases: Map<string, string[]>
}

/** Maximum pages that are read and parsed at a time. */
const chunkSize = 200

/**
 * Rewrites the links that mean a renamed Neuron by a name that it loses, so that they still mean it after the commit. All renames of a
 * commit are followed at once, which lets two Neurons swap their names. Must run within a group commit, before it is staged. A page that
 * the commit changes may have followed the renames already, as editors do: its links are compared with their previous meaning only if the
 * links concerned are the same in number and order; otherwise only links that would lead nowhere are rewritten. A page visible to more
 * readers than the renamed Neuron keeps the old name, which becomes an alias. Links from other knowledge bases are unknown here, and would
 * need a commit there: they stay, and `lint` reports broken ones.
 * @param options `renames` may include Neurons that keep their names, which changes nothing; `changed`: the files of the commit, text or
 * bytes by path, null for a removal
 */
export async function rewriteInboundLinks(
  kb: KnowledgeBase,
  reader: Reader,
  options: { renames: readonly Rename[]; changed: FileContents; sight?: LinkSight | undefined },
): Promise<RewrittenLinks> {
  const { changed } = options
  const renames = options.renames.filter(({ seqId, after }) => lostNames(kb, seqId, after).length > 0)
  if (renames.length === 0) return { pages: new Map(), aliases: new Map() }
  const written = neuronsAmong(changed)
  const change = new NameChange(kb.projection.write, renames, {
    others: written.flatMap(asRename),
    sight: options.sight,
  })
  const result: RewrittenLinks = { pages: new Map(), aliases: new Map() }
  const settings = await kb.settings()
  const mayName = ({ access }: Page, link: LinkAddress) => {
    const named = findNeuron(kb.projection.write, change.before(link) ?? '')
    return named === undefined || !isSeenByMore(access, named, settings.defaultAudience)
  }
  const rewrite = async (page: Page, mayRewrite: (link: LinkAddress) => boolean) => {
    const { path, text, from } = page
    const wanted: LinkAddress[] = []
    const rewritten = await rewriteLinks(kb.parser, text, ({ target, form, kb: name }) => {
      const link = { target, form, from }
      const found = isOwnLink(kb, name) && mayRewrite(link) ? change.newTarget(link) : undefined
      if (found === undefined) return undefined
      if (!mayName(page, link)) {
        keepAliases(result.aliases, change, [link])
        return undefined
      }
      wanted.push(link)
      return found
    })
    if (rewritten === undefined) keepAliases(result.aliases, change, wanted)
    else if (rewritten !== text) result.pages.set(path, rewritten)
  }
  await inChunks(written, async (file) => {
    const from = pathBefore(kb, file)
    const known = file.fields.seqId === undefined ? [] : linksOf(kb.projection.write, file.fields.seqId)
    const isAsBefore = await hasSameLinks(
      kb.parser,
      file,
      known,
      (link) => isOwnLink(kb, link.kb) && change.newTarget({ ...link, from }) !== undefined,
    )
    await rewrite(
      { ...file, from, access: accessIn(file, settings) },
      (link) => isAsBefore || change.after(link) === undefined,
    )
  })
  await inChunks(otherPages(kb, change, renames, changed), async ({ path, from, row }) => {
    await rewrite({ path, from, text: await reader.readText(row.blob), access: row }, () => true)
  })
  return result
}

/** Page. `from`: its previous path. */
type Page = { path: string; from: string; text: string; access: Access }

type ChangedNeuron = ReturnType<typeof parseNeuronFile> & { path: string; text: string }

function neuronsAmong(changed: FileContents): ChangedNeuron[] {
  return [...changed].flatMap(([path, text]) =>
    typeof text === 'string' && isNeuronPath(path) ? [{ path, text, ...parseNeuronFile(text) }] : [],
  )
}

function asRename({ path, fields, content }: ChangedNeuron): Rename[] {
  const { seqId, aliases } = fields
  const title = neuronTitle({ fields, content }, path)
  return seqId === undefined ? [] : [{ seqId, after: { path, title, aliases } }]
}

function pathBefore(kb: KnowledgeBase, { path, fields: { seqId } }: ChangedNeuron): string {
  return (seqId === undefined ? undefined : findNeuron(kb.projection.write, seqId)?.path) ?? path
}

/** Returns the pages that the commit does not write otherwise, and that link to a renamed Neuron by a name that it loses. */
function otherPages(
  kb: KnowledgeBase,
  change: NameChange,
  renames: readonly Rename[],
  changed: FileContents,
): { path: string; from: string; row: NeuronRow }[] {
  const sources = new Set<string>()
  for (const { seqId } of renames) {
    for (const link of linksToNamesOf(kb, seqId)) if (change.newTarget(link)) sources.add(link.seqId)
  }
  const newPaths = new Map(renames.map(({ seqId, after }) => [seqId, after.path]))
  return [...sources].flatMap((seqId) => {
    const row = findNeuron(kb.projection.write, seqId)
    if (row === undefined) return []
    const path = newPaths.get(seqId) ?? row.path
    return changed.has(path) ? [] : [{ path, from: row.path, row }]
  })
}

function keepAliases(aliases: RewrittenLinks['aliases'], change: NameChange, links: Iterable<LinkAddress>): void {
  for (const link of links) {
    const seqId = change.before(link) ?? ''
    aliases.set(seqId, [...new Set([...(aliases.get(seqId) ?? []), placeOf(link) ?? link.target])])
  }
}

async function inChunks<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += chunkSize) {
    await Promise.all(items.slice(start, start + chunkSize).map(work))
  }
}
