import { exactKey, type NameKind, namesOf, placeOf } from '../../../rules/links/link-target.ts'
import { goesBy } from '../../kb-identity.ts'
import type { KnowledgeBase } from '../../knowledge-base.ts'
import { keysOf, type LinkRow, linksByBareKey, linksByKey, namesOfNeuron } from '../../projection/link-queries.ts'
import { titleOf } from '../../projection/neuron-queries.ts'
import type { Projection } from '../../projection/projection.ts'
import { type LinkSight, NameChange, type NeuronIdentity } from './name-change.ts'

type Sql = Projection['read']

/** A name by which links reach a Neuron now and that, spelled so, it would no longer answer to. */
export type LostName = { exact: string; kind: NameKind }

function isPath(kind: NameKind): boolean {
  return kind === 'path' || kind === 'file' || kind === 'folder'
}

/** The names that a Neuron loses. Within a group commit, before it is staged; or by what has been committed. */
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
      // Relative links know a path only, though the file keeps its name.
      if (kind === 'path') return exact !== path?.exact
      return !paths.has(exact) && (isPath(kind) || !names.has(exact))
    })
    .map(({ exact, kind }) => ({ exact, kind }))
}

/**
 * Aliases to add, so that no link breaks: the old title where it changes, unless that takes it back, and each target, as it is written, by which a link
 * of this knowledge base would no longer lead here, where an alias helps. An alias that is taken away on purpose is not put
 * back. Within a group commit, before it is staged; or by what has been committed.
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
    /** Of a link, whether the commit takes it out of its page. */
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
    // The path that a relative link names helps all links to it; the spelling helps where the link's own page has moved.
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

/** The links of this knowledge base that may mean a Neuron, read as it goes. */
export function* linksToNamesOf(kb: KnowledgeBase, seqId: string, sql: Sql = kb.projection.write): Generator<LinkRow> {
  for (const key of keysOf(sql, seqId)) {
    for (const link of linksByKey(sql, key)) if (isOwnLink(kb, link.kb)) yield link
    for (const link of linksByBareKey(sql, key)) if (isOwnLink(kb, link.kb)) yield link
  }
}

/** Whether a link that names a knowledge base stays in this one. */
export function isOwnLink({ identity }: KnowledgeBase, kb: string | null): boolean {
  return kb === null || goesBy(identity, kb)
}
