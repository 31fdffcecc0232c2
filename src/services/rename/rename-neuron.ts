import { exactKey, type NameKind, namesOf } from '../../knowledge/link-target.ts'
import { keysOf, type LinkRow, linksByBareKey, linksByKey, namesOfNeuron } from '../../store/link-queries.ts'
import { titleOf } from '../../store/neuron-queries.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { NameChange, type NeuronIdentity } from './name-change.ts'

/** A name by which links reach a Neuron now and that, spelled so, it would no longer answer to. */
export type LostName = { exact: string; kind: NameKind }

function isPath({ kind }: Pick<LostName, 'kind'>): boolean {
  return kind === 'path' || kind === 'file'
}

/** The names that a Neuron loses. Within a group commit, before it is staged. */
export function lostNames(kb: KnowledgeBase, seqId: string, after: NeuronIdentity): LostName[] {
  const kept = namesOf({ seqId, ...after })
  const names = new Set(kept.map(({ exact }) => exact))
  // A link that is written as a path finds no title.
  const paths = new Set(kept.filter(isPath).map(({ exact }) => exact))
  return namesOfNeuron(kb.projection.write, seqId)
    .filter((name) => !(isPath(name) ? paths : names).has(name.exact))
    .map(({ exact, kind }) => ({ exact, kind }))
}

/**
 * Aliases to add, so that no link breaks: the old title where it changes, and each target, as it is written, by which a link
 * of this knowledge base would no longer lead here, where an alias helps. An alias that is taken away on purpose is not put
 * back. Within a group commit, before it is staged.
 */
export function aliasesToKeep(kb: KnowledgeBase, seqId: string, after: NeuronIdentity): string[] {
  const lost = lostNames(kb, seqId, after)
  if (lost.length === 0) return []
  const { write: sql } = kb.projection
  const removed = new Set(lost.filter(({ kind }) => kind === 'alias').map(({ exact }) => exact))
  const title = titleOf(sql, seqId) ?? ''
  const isRetitled = title.trim() !== '' && ![after.title, ...after.aliases].map(exactKey).includes(exactKey(title))
  const withAliases = (kept: readonly string[]) =>
    new NameChange(sql, [{ seqId, after: { ...after, aliases: [...after.aliases, ...kept] } }])
  let kept = isRetitled ? [title] : []
  let change = withAliases(kept)
  const targets = new Set<string>()
  for (const { target } of linksToNamesOf(kb, seqId)) targets.add(target)
  for (const target of targets) {
    if (change.before(target) !== seqId || change.after(target) === seqId || removed.has(exactKey(target))) continue
    const helped = withAliases([...kept, target])
    if (helped.after(target) !== seqId) continue
    kept = [...kept, target]
    change = helped
  }
  return kept
}

/** The links of this knowledge base that may mean a Neuron, read as it goes. */
export function* linksToNamesOf(kb: KnowledgeBase, seqId: string): Generator<LinkRow> {
  const { write: sql } = kb.projection
  for (const key of keysOf(sql, seqId)) {
    for (const link of linksByKey(sql, key)) if (isOwnLink(kb, link.kb)) yield link
    for (const link of linksByBareKey(sql, key)) if (isOwnLink(kb, link.kb)) yield link
  }
}

/** Whether a link that names a knowledge base stays in this one. */
export function isOwnLink({ identity }: KnowledgeBase, kb: string | null): boolean {
  return kb === null || kb === identity.slug || kb === identity.id
}
