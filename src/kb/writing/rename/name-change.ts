import { isWritableTarget, type NewTarget } from '../../../markdown/rewrite/rewrite-links.ts'
import { isSeenByMore } from '../../../rules/access/audience.ts'
import { meaningOf } from '../../../rules/links/file-target.ts'
import {
  barePath,
  exactKey,
  folderOfPage,
  isFolder,
  keptClaim,
  type LinkAddress,
  type NamedNeuron,
  type NameKind,
  type NeuronName,
  namedNeurons,
  nameKinds,
  namesOf,
  placeOf,
  targetKeys,
} from '../../../rules/links/link-target.ts'
import { memoized } from '../../../system/memoized.ts'
import { attachmentLookup } from '../../access/attachment-lookup.ts'
import { goesBy } from '../../kb-identity.ts'
import type { KnowledgeBase } from '../../knowledge-base.ts'
import { seqIdAtPath } from '../../projection/file-queries.ts'
import {
  keysOf,
  type LinkRow,
  linksByBareKey,
  linksByKey,
  namesByKey,
  namesOfNeuron,
} from '../../projection/link-queries.ts'
import { accessOf, findNeuron, titleOf } from '../../projection/neuron-queries.ts'
import type { Projection } from '../../projection/projection.ts'

type NeuronIdentity = { path: string; title: string; aliases: readonly string[] }

export type Rename = { seqId: string; after: NeuronIdentity }

type Sql = Projection['read']

/** Kinds of names, preferred first, for a target whose spelling matches none of the Neuron's names. */
const likelyKinds = ['title', 'alias', 'file', 'path', 'seqId'] as const

/**
 * Neurons among which the links of a page resolve, by the page's path. For a rename by somebody who may not see everything, these are only
 * the Neurons visible to everybody who sees the renamed one: its effect on other pages would reveal hidden names.
 */
export type LinkSight = (from: string) => ((seqId: string) => boolean) | undefined

/** Returns a function that checks whether everybody who sees the Neuron `other` sees that of a seqId. */
export function seenWith(sql: Sql, other: string, defaultAudience: readonly string[]): (seqId: string) => boolean {
  const least = accessOf(sql, other)
  return (seqId) => {
    const access = accessOf(sql, seqId)
    return access !== undefined && least !== undefined && !isSeenByMore(least, access, defaultAudience)
  }
}

/** Returns the {@link LinkSight} of a rename. Pages hidden from those who see the Neuron resolve as for curators. */
export function namesVisibleTo(sql: Sql, renamed: string, defaultAudience: readonly string[]): LinkSight {
  const isSeen = seenWith(sql, renamed, defaultAudience)
  return (from) => {
    const page = seqIdAtPath(sql, from)
    return page === undefined || isSeen(page) ? isSeen : undefined
  }
}

/** Resolves links before and after a commit that changes names of Neurons; `sql` is the state before. */
export class NameChange {
  readonly #sql: Sql
  readonly #sight: LinkSight | undefined
  readonly #renames: ReadonlyMap<string, NeuronIdentity>
  readonly #changed: ReadonlySet<string>
  /** New paths of pages, by their old ones. */
  readonly #moved = new Map<string, string>()
  readonly #namesAfter = new Map<string, NamedNeuron[]>()
  readonly #before = new Map<string, string | undefined>()
  readonly #after = new Map<string, string | undefined>()
  readonly #filesSeen = memoized((isSeen: ReturnType<LinkSight>) => attachmentLookup(this.#sql, isSeen))
  readonly #newTargets = new Map<string, NewTarget | undefined>()

  /** Creates the change. @param others Neurons that the same commit writes, whose names may change, too */
  constructor(
    sql: Sql,
    renames: readonly Rename[],
    { others = [], sight }: { others?: readonly Rename[]; sight?: LinkSight | undefined } = {},
  ) {
    this.#sql = sql
    this.#sight = sight
    this.#renames = new Map(renames.map(({ seqId, after }) => [seqId, after]))
    const all = new Map([...others, ...renames].map(({ seqId, after }) => [seqId, after]))
    this.#changed = new Set(all.keys())
    for (const [seqId, after] of all) {
      const before = findNeuron(sql, seqId)?.path
      if (before !== undefined && before !== after.path) this.#moved.set(before, after.path)
      const known = namesOfNeuron(sql, seqId)
      for (const name of namedNeurons({ seqId, ...after })) {
        const named = { ...name, claim: keptClaim(known, name) }
        this.#namesAfter.getOrInsertComputed(name.key, () => []).push(named)
      }
    }
  }

  /** Returns the one Neuron that a link means before the commit; `from`: the path of its page then. */
  before(link: LinkAddress): string | undefined {
    return remembered(this.#before, link, () =>
      this.#meaning(link, link.from, (key) => this.#namesSeen(key, link.from)),
    )
  }

  /** Returns the one Neuron that a link would mean after the commit, in the page that had the path `from` before. */
  after(link: LinkAddress): string | undefined {
    return remembered(this.#after, link, () =>
      this.#meaning({ ...link, from: this.#pathAfter(link.from) }, link.from, (key) => [
        ...this.#namesSeen(key, link.from).filter(({ seqId }) => !this.#changed.has(seqId)),
        ...(this.#namesAfter.get(key) ?? []),
      ]),
    )
  }

  /**
   * Returns the target that preserves a link's meaning if its Neuron was renamed or its own page has moved: for a path the new path, for a
   * name the new name of the same kind, if a link can contain it and it leads there; otherwise, and always if the sight is limited, the
   * seqId. Undefined for any other link.
   */
  newTarget(link: LinkAddress): NewTarget | undefined {
    return remembered(this.#newTargets, link, () => {
      const seqId = this.before(link)
      const renamed = seqId === undefined ? undefined : this.#renames.get(seqId)
      if (seqId === undefined || (renamed === undefined && !this.#moved.has(link.from))) return undefined
      if (placeOf(link) !== undefined) return this.#newPlace(link, seqId)
      const after = renamed ?? identityOf(this.#sql, seqId)
      const used = usedName(namesOfNeuron(this.#sql, seqId), link)
      const isKept = namesOf({ seqId, ...after }).some(({ exact }) => exact === used?.exact)
      if (isKept && this.after(link) === seqId) return undefined
      const isPath = used?.kind === 'path' || used?.kind === 'file'
      const names = isPath ? newPaths(link.target, after.path) : [after.title.trim()]
      // A hidden Neuron may have the new name, which must not be revealed.
      const isSeqId = this.#sight !== undefined
      const found = isSeqId
        ? undefined
        : names.find((name) => isWritableTarget(name) && this.after({ ...link, target: name }) === seqId)
      return found === undefined ? { target: seqId, alias: after.title } : { target: found }
    })
  }

  /**
   * Returns a path in the style of the old one: relative to the page, or from the root; for a folder the folder, if the page is its index.
   */
  #newPlace(link: LinkAddress, seqId: string): NewTarget | undefined {
    if (this.after(link) === seqId) return undefined
    const path = this.#renames.get(seqId)?.path ?? identityOf(this.#sql, seqId).path
    const folder = isFolder(link.target) ? folderOfPage(path) : undefined
    const place = folder?.replace(/^\/$/, '') ?? barePath(path)
    const suffix =
      folder === undefined && (isFolder(link.target) || /\.(?:md|markdown)$/i.test(link.target.trim())) ? '.md' : ''
    const relative = relativePath(barePath(this.#pathAfter(link.from)), place)
    const dotted =
      (link.form === 'markdown' && relative !== '') || relative.startsWith('../') ? relative : `./${relative}`
    const targets = [link.target.startsWith('/') ? `/${place}` : dotted, `/${place}`]
    const found = targets.map((target) => target + suffix).find((target) => this.after({ ...link, target }) === seqId)
    return found === undefined ? undefined : { target: found }
  }

  #meaning(link: LinkAddress, page: string, names: (key: string) => readonly NamedNeuron[]): string | undefined {
    const files = this.#filesSeen(this.#sight?.(page))
    const found = meaningOf(link, { names, files })
    return 'seqId' in found ? found.seqId : undefined
  }

  #namesSeen(key: string, from: string): NamedNeuron[] {
    const names = namesByKey(this.#sql, key)
    const isSeen = this.#sight?.(from)
    return isSeen === undefined ? names : names.filter(({ seqId }) => isSeen(seqId))
  }

  #pathAfter(path: string): string {
    return this.#moved.get(path) ?? path
  }
}

function identityOf(sql: Sql, seqId: string): NeuronIdentity {
  const names = namesOfNeuron(sql, seqId)
  const aliases = names.filter(({ kind }) => kind === 'alias').map(({ exact }) => exact)
  return { path: findNeuron(sql, seqId)?.path ?? '', title: titleOf(sql, seqId) ?? '', aliases }
}

function usedName(names: readonly NeuronName[], link: LinkAddress): NeuronName | undefined {
  const { target } = link
  const { key, bareKey } = targetKeys(link)
  const meant = names.filter((name) => name.key === key || name.key === bareKey)
  const spelled = meant.filter(({ exact }) => exact === exactKey(target) || exact === exactKey(barePath(target)))
  const [named, kinds] = spelled.length > 0 ? [spelled, nameKinds] : [meant, likelyKinds]
  return kinds.map((kind) => named.find((name) => name.kind === kind)).find((name) => name !== undefined)
}

/** Returns the new path in the forms of the target: with the same number of last segments, or in full with its prefix and suffix. */
function newPaths(target: string, path: string): string[] {
  const [old, bare] = [barePath(target), barePath(path)]
  if (old !== target) return [target.replace(old, () => bare)]
  return [bare.split('/').slice(-old.split('/').length).join('/'), bare]
}

function remembered<T>(
  known: Map<string, T | undefined>,
  { target, form, from }: LinkAddress,
  find: () => T | undefined,
): T | undefined {
  return known.getOrInsertComputed(JSON.stringify([target, form, from]), find)
}

/** Returns the path of `to` relative to the folder of `from`. Both are paths from the same root. */
export function relativePath(from: string, to: string): string {
  const folders = from.split('/').slice(0, -1)
  const names = to.split('/')
  let shared = 0
  while (shared < folders.length && shared < names.length - 1 && folders[shared] === names[shared]) shared++
  return [...folders.slice(shared).map(() => '..'), ...names.slice(shared)].join('/')
}

/** Name that leads to a Neuron now and that the commit removes. */
export type LostName = { exact: string; kind: NameKind }

function isPath(kind: NameKind): boolean {
  return kind === 'path' || kind === 'file' || kind === 'folder'
}

/** Returns the names that a Neuron loses. Must run within a group commit before it is staged, or on committed state. */
export function lostNames(
  { projection }: KnowledgeBase,
  seqId: string,
  after: NeuronIdentity,
  sql: Sql = projection.write,
): LostName[] {
  const kept = namesOf({ seqId, ...after })
  const names = new Set(kept.filter(({ kind }) => !isPath(kind)).map(({ exact }) => exact))
  const paths = new Set(kept.filter(({ kind }) => isPath(kind)).map(({ exact }) => exact))
  const [path] = kept.filter(({ kind }) => kind === 'path')
  return namesOfNeuron(sql, seqId)
    .filter(({ exact, kind }) => {
      // Relative links use a path only, even if the file keeps its name.
      if (kind === 'path') return exact !== path?.exact
      return !paths.has(exact) && (isPath(kind) || !names.has(exact))
    })
    .map(({ exact, kind }) => ({ exact, kind }))
}

type KeptLinks = {
  sql?: Sql
  sight?: LinkSight | undefined
  /** Returns true if the commit removes a link from its page. */
  isGone?: (link: LinkRow) => boolean
  /** True if this rename reverts an earlier one. */
  isTakenBack?: boolean
}

/**
 * Returns aliases to add so that no link breaks: the old title if it changes, unless that reverts a rename, and each target as written by
 * which a link of this knowledge base would no longer lead here, if an alias helps. An alias that was removed on purpose is not restored.
 * Must run within a group commit before it is staged, or on committed state.
 */
export function aliasesToKeep(
  kb: KnowledgeBase,
  seqId: string,
  after: NeuronIdentity,
  { sql = kb.projection.write, sight, isGone, isTakenBack = false }: KeptLinks = {},
): string[] {
  const lost = lostNames(kb, seqId, after, sql)
  if (lost.length === 0) return []
  const removed = new Set(lost.filter(({ kind }) => kind === 'alias').map(({ exact }) => exact))
  const title = titleOf(sql, seqId) ?? ''
  const isRetitled = title.trim() !== '' && ![after.title, ...after.aliases].map(exactKey).includes(exactKey(title))
  const withAliases = (kept: readonly string[]) =>
    new NameChange(sql, [{ seqId, after: { ...after, aliases: [...after.aliases, ...kept] } }], { sight })
  let kept = isRetitled && !isTakenBack ? [title] : []
  let change = withAliases(kept)
  for (const link of linksToNamesOf(kb, seqId, sql)) {
    const { target } = link
    if (change.before(link) !== seqId || change.after(link) === seqId || removed.has(exactKey(target))) continue
    if (isGone?.(link)) continue
    // The path of a relative link helps all links to it; its spelling helps if the link's own page has moved.
    for (const alias of [placeOf(link) ?? target, target]) {
      const helped = withAliases([...kept, alias])
      if (helped.after(link) !== seqId) continue
      kept = [...kept, alias]
      change = helped
      break
    }
  }
  return kept
}

/** Yields the links of this knowledge base that may mean a Neuron. */
export function* linksToNamesOf(kb: KnowledgeBase, seqId: string, sql: Sql = kb.projection.write): Generator<LinkRow> {
  for (const key of keysOf(sql, seqId)) {
    for (const link of linksByKey(sql, key)) if (isOwnLink(kb, link.kb)) yield link
    for (const link of linksByBareKey(sql, key)) if (isOwnLink(kb, link.kb)) yield link
  }
}

/** True if a link stays within this knowledge base. */
export function isOwnLink({ identity }: KnowledgeBase, kb: string | null): boolean {
  return kb === null || goesBy(identity, kb)
}
