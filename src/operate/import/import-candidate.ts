import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { OriginRow } from '../../kb/projection/candidate-index.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { candidateIdFor } from '../../rules/candidates/candidate-id.ts'
import { parseMetadata } from '../../rules/candidates/metadata.ts'
import type { ImportedFields, ImportNote } from './import-note.ts'
import type { PlannedFile } from './import-plan.ts'

/** Note after reading. `pictures`: pictures extracted from its text, by file name. */
export type ReadNote = PlannedFile & { note: ImportNote; pictures: ReadonlyMap<string, Buffer>; sha256: string }

/** Candidate of an earlier import, as in the index and on the queue. */
export type PastCandidate = { row: OriginRow; record: Candidate }

export const importConnector = 'import'
const maxTags = 64
const maxTagBytes = 80
const maxFormerNames = 20

/** Differences of a Neuron from its note: a curator's changes, and former names that links still use. */
export type Additions = { isMerged: boolean; formerNames: readonly string[] }

/** Returns a pending candidate of an import. @param reason of the verdict */
export function newCandidate(
  kb: KnowledgeBase,
  own: Pick<Candidate, 'title' | 'content' | 'metadata' | 'target' | 'base' | 'removes'>,
  { actor, at, reason }: { actor: Actor; at: Date; reason: string },
): Candidate {
  return {
    ...own,
    id: candidateIdFor(kb.identity.id, { msecs: at.getTime() }),
    kind: own.target === null ? 'external-feed' : 'ingest-page-update',
    connector: importConnector,
    ...{ confidence: null, impactEstimate: null, frontMatter: null, decisions: [] },
    verdict: { approve: false, zone: null, reason, warnings: [] },
    createdAt: at.toISOString(),
    createdBy: actor,
  }
}

export function importMetadata({ source, sha256, note }: ReadNote, { isMerged, formerNames }: Additions): string {
  const tags = note.tags.filter((tag) => Buffer.byteLength(tag) <= maxTagBytes).slice(0, maxTags)
  const metadata = { connector: importConnector, filename: source, fingerprint: sha256, tags }
  return JSON.stringify({
    ...metadata,
    ...(isMerged ? { merged: true } : {}),
    ...(formerNames.length === 0 ? {} : { formerNames: formerNames.slice(-maxFormerNames) }),
  })
}

export function formerNamesOf({ metadata }: Candidate): string[] {
  const { formerNames } = parseMetadata(metadata).data
  return Array.isArray(formerNames) ? formerNames.map(String) : []
}

export function isMerged({ metadata }: Candidate): boolean {
  return parseMetadata(metadata).data.merged === true
}

export function importedFields(
  { source, sha256 }: ReadNote,
  ids: { candidate: string; seqId: string; id: string },
): ImportedFields {
  return { ...ids, connector: importConnector, sources: [{ filename: source, sha256 }] }
}

/** Returns aliases with which a note whose path had to change keeps the names that others link to. */
export function aliasesFor({ origin, note }: ReadNote, path: string): string[] {
  const [from, to] = [origin, path.slice('neurons/'.length)].map((file) =>
    file.normalize('NFC').replace(/\.(?:md|markdown)$/i, ''),
  )
  if (from === undefined || from === to) return []
  const name = from.slice(from.lastIndexOf('/') + 1)
  const isNameKept = to?.slice(to.lastIndexOf('/') + 1) === name || name === note.title
  return [...(isNameKept ? [] : [name]), ...(from === name ? [] : [from])]
}
