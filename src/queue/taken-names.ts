import type { Warning } from '../contract/candidates.ts'
import { attachmentLookup } from '../kb/access/attachment-lookup.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { namesByKey, namesOfNeuron } from '../kb/projection/link-queries.ts'
import type { MainTables } from '../kb/projection/projection.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { fileNameKey, yieldsToFile } from '../rules/links/file-target.ts'
import { doesYield, namesOf } from '../rules/links/link-target.ts'
import { isFirstCome } from '../rules/neurons/first-come.ts'
import { oneLine } from '../rules/text/lines.ts'

/**
 * Returns warnings about names of a Neuron whose links lead elsewhere, since other Neurons, or files, had the names first.
 * @param isVisible returns true for Neurons that the sender sees; no others are named
 */
export function takenNames(
  sql: MainTables,
  seqId: string,
  isVisible: (seqId: string) => boolean,
  names: ReturnType<typeof namesOfNeuron> = namesOfNeuron(sql, seqId),
): Warning[] {
  const taken = new Map<string, string>()
  const takenByFiles = new Set<string>()
  const files = attachmentLookup(sql, isVisible)
  for (const { key, exact, kind, claim } of names) {
    if (!claim.yields) continue
    if (yieldsToFile({ kind, claim }) && fileNameKey(exact) !== undefined && files.byKey(key).length > 0)
      takenByFiles.add(exact)
    const holder = namesByKey(sql, key).find(
      (other) => doesYield({ seqId, kind, claim }, other) && isVisible(other.seqId),
    )
    if (holder !== undefined) taken.set(holder.seqId, exact)
  }
  const warning = (name: string, other: string) => ({
    code: 'name_taken',
    message: `Links by the name "${oneLine(name, 200)}" lead to ${other}, which had it first: the new page is reached by its seqId and its path.`,
  })
  return [
    ...[...taken].map(([other, name]) => ({ ...warning(name, other), seqId: other })),
    ...[...takenByFiles].map((name) => warning(name, 'the file of that name')),
  ]
}

/** Returns warnings for a curator about names that the candidate's Neuron yields to others, or would yield once approved. */
export function namesTakenFrom(sql: MainTables, { approval, target }: CandidateRow, candidate: Candidate): string[] {
  const { title, removes, renames = false } = candidate
  if (removes || !isFirstCome(candidate)) return []
  const claim = { since: Number.POSITIVE_INFINITY, yields: true }
  const isNamed = target === null || renames
  const wished = isNamed ? namesOf({ seqId: '', path: '', title, aliases: [] }).map((name) => ({ ...name, claim })) : []
  const seqId = approval?.seqId ?? target ?? ''
  const taken = takenNames(sql, seqId, () => true, approval === undefined ? wished : undefined)
  return taken.map(({ message }) => message)
}
