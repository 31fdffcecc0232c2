import { exactKey, type NameKind, namesOf, placeOf } from '../../../rules/links/link-target.ts'
import { goesBy } from '../../kb-identity.ts'
import type { KnowledgeBase } from '../../knowledge-base.ts'
import { keysOf, type LinkRow, linksByBareKey, linksByKey, namesOfNeuron } from '../../projection/link-queries.ts'
import { titleOf } from '../../projection/neuron-queries.ts'
import type { Projection } from '../../projection/projection.ts'
import { type LinkSight, NameChange, type NeuronIdentity } from './name-change.ts'

type Sql = Projection['read']

/** Name by which links reach a Neuron now, and which in this spelling it would lose. */
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

/**
 * Returns aliases to add so that no link breaks: the old title if it changes, unless that reverts a rename, and each target as written by
 * which a link of this knowledge base would no longer lead here, if an alias helps. An alias that was removed on purpose is not restored.
 * Must run within a group commit before it is staged, or on committed state.
 */
export function aliasesToKeep(
  kb: KnowledgeBase,
  seqId: string,
  after: NeuronIdentity,
  {
    sql = kb.projection.write,
    sight,
    isGone,
    isTakenBack = false,
  }: {
    sql?: Sql
    sight?: LinkSight | undefined
    /** True if the commit removes a link from its page. */
    isGone?: (link: LinkRow) => boolean
    isTakenBack?: boolean
  } = {},
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
