import type { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'
import {
  assigneeOf,
  type Candidate,
  lastVerdict,
  queueStatus,
  requestedChanges,
} from '../../rules/candidates/candidate.ts'
import { textsOf } from '../../rules/candidates/metadata.ts'
import { senderOf } from '../../rules/deciding.ts'
import { doorOf } from '../../rules/neurons/first-come.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { indexWords, textKeyOf, titleKey } from './candidate-words.ts'
import type { Projection } from './projection.ts'
import { allRows, query, type SqlQuery } from './sql-query.ts'

export type CandidateRow = {
  id: string
  blob: string
  status: CandidateStatus
  kind: CandidateKind
  title: string
  connector: string
  confidence: number | null
  impact: number | null
  zone: Zone | null
  target: string | null
  removes: boolean
  warnings: string[]
  createdAt: string
  createdBy: string
  tags: string[]
  /** True if answer tests come with it. */
  hasTests: boolean
  /** Reason of the policy's verdict. */
  reason: string
  /** Reason of a curator's dismissal. */
  dismissal: string | null
  /** Changes that a curator has requested. */
  asked: { reason: string; at: string; by: string } | null
  /** E-mail of a person or name of a key. */
  assignee: string | null
  titleKey: string
  textKey: string
  /** True if the policy approved it and no curator has decided since. */
  approvedByPolicy: boolean
  approval: { seqId: string; documentId: string | null; commit: string } | undefined
}

/** Writes a candidate's present record to the tables. Must run in a transaction. `tags`: those that its Neuron would get. */
export function indexCandidate(
  { write: sql }: Projection,
  candidate: Candidate,
  { blob, tags }: { blob: string; tags: readonly string[] },
): void {
  const { id, kind, title, connector, confidence, impactEstimate, target, removes, verdict } = candidate
  const status = wasApproved(sql, id) ? 'approved' : queueStatus(candidate)
  const { origin, fingerprint, model } = saidOf(candidate)
  const textKey = textKeyOf(candidate.content)
  // A crash between the two refs of an automatic approval leaves it unfinished.
  const unfinished = verdict.approve && lastVerdict(candidate) === undefined ? 1 : 0
  const asked = requestedChanges(candidate) ?? null
  const sender = senderOf(candidate)
  const { row, isKnown } = indexWords(sql, candidate, textKey)
  sql.run`INSERT OR REPLACE INTO candidates (id, blob, status, kind, title, connector, confidence, impact, zone, red, target,
      removes, warnings, created_at, created_by, sender, dismissal, asked, assignee, unfinished, origin, fingerprint, model, reason, tags, tests, title_key, text_key,
      word_row)
    VALUES (${id}, ${blob}, ${status}, ${kind}, ${title}, ${connector}, ${confidence}, ${impactEstimate ?? 0}, ${verdict.zone},
      ${verdict.zone === 'red' ? 1 : 0}, ${target}, ${Number(removes)}, ${JSON.stringify(verdict.warnings)}, ${candidate.createdAt},
      ${candidate.createdBy.name}, ${/^(?:key|user|git|source):/.test(sender) ? sender : null},
      ${lastVerdict(candidate)?.reason ?? null}, ${asked && JSON.stringify({ reason: asked.reason ?? '', at: asked.at, by: asked.by.name })},
      ${assigneeOf(candidate) ?? null}, ${unfinished}, ${origin}, ${fingerprint}, ${model}, ${verdict.reason}, ${JSON.stringify(tags)}, ${Number((candidate.tests ?? []).length > 0)},
      ${titleKey(title)}, ${textKey}, ${row})`
  if (isKnown) sql.run`DELETE FROM candidate_tags WHERE id = ${id}`
  for (const key of new Set(tags.map(tagKey))) sql.run`INSERT INTO candidate_tags (key, id) VALUES (${key}, ${id})`
}

/**
 * Returns the metadata of an importing connector: `filename`, where it found the candidate, and `fingerprint`, what that was. Values from a
 * client are ignored, since they would steer the next import, or what curators read; a page of the console has a fingerprint alone.
 * `model`: language model that wrote it, according to its sender.
 */
function saidOf({
  metadata,
  connector,
  createdBy,
}: Candidate): Record<'origin' | 'fingerprint' | 'model', string | null> {
  const text = textsOf(metadata)
  const model = text('model') ?? null
  const fingerprint = text('fingerprint') ?? null
  const isWritten = doorOf({ connector, createdBy }) === 'console'
  if (isClient({ createdBy })) return { origin: null, fingerprint: isWritten ? fingerprint : null, model }
  return { origin: fingerprint === null ? null : (text('filename') ?? null), fingerprint, model }
}

/** True if a key, a person or a visitor sent it over HTTP. */
function isClient({ createdBy }: Pick<Candidate, 'createdBy'>): boolean {
  return /^(?:key|user|visitor):/.test(createdBy.id)
}

export type OriginRow = CandidateRow & { fingerprint: string }

/** Returns the candidates that a connector made from one place: those on main first, most recently approved first. */
export function candidatesOfOrigin(sql: Projection['read'], connector: string, origin: string): OriginRow[] {
  const rows = sql.all`SELECT candidates.*, seq_id, document_id, oid FROM candidates
    LEFT JOIN approvals ON candidate_id = candidates.id LEFT JOIN commits USING (position)
    WHERE connector = ${connector} AND origin = ${origin}
    ORDER BY position DESC NULLS LAST, created_at DESC, candidates.id DESC`
  return rows.map((row) => ({ ...toCandidateRow(row), fingerprint: String(row.fingerprint) }))
}

/** Query for whether a connector made a candidate from a place with a prefix. */
export function madeBelow(connector: string, prefix: string): SqlQuery {
  return query`connector = ${connector} AND origin >= ${prefix} AND origin < ${`${prefix}\u{10FFFF}`}`
}

/** Returns the places with a prefix from which a connector made candidates. */
export function originsBelow(sql: Projection['read'], connector: string, prefix: string): string[] {
  const origins = query`SELECT DISTINCT origin FROM candidates WHERE ${madeBelow(connector, prefix)} ORDER BY origin`
  return allRows(sql, origins).map(({ origin }) => String(origin))
}

/** Neuron of main, and the place from which a connector brought its latest version. */
export type BroughtNeuron = { origin: string; fingerprint: string; seqId: string; path: string; blob: string }

/** Returns the Neurons of main whose latest version a connector brought from places with a prefix, by place. */
export function broughtNeurons(sql: Projection['read'], connector: string, prefix: string): Map<string, BroughtNeuron> {
  const rows = sql.all`SELECT origin, fingerprint, seq_id, path, neurons.blob FROM candidates
    JOIN approvals ON approvals.candidate_id = candidates.id JOIN neurons USING (seq_id)
    WHERE connector = ${connector} AND origin IS NOT NULL ORDER BY approvals.position, candidates.id`
  const latest = new Map<string, BroughtNeuron>()
  for (const { origin, fingerprint, seq_id, path, blob } of rows) {
    const seqId = String(seq_id)
    const neuron = { origin: String(origin), fingerprint: String(fingerprint), path: String(path), blob: String(blob) }
    latest.set(seqId, { seqId, ...neuron })
  }
  const brought = [...latest.values()].filter(({ origin }) => origin.startsWith(prefix))
  brought.sort((a, b) => (a.origin < b.origin ? -1 : 1))
  return new Map(brought.map((neuron) => [neuron.origin, neuron]))
}

/** Returns the pending candidates that a connector made from places with a prefix, oldest first. */
export function pendingBelow(sql: Projection['read'], connector: string, prefix: string): OriginRow[] {
  const pending = query`SELECT candidates.*, NULL AS seq_id, NULL AS document_id, NULL AS oid FROM candidates
    WHERE ${madeBelow(connector, prefix)} AND status = 'pending' ORDER BY id`
  return allRows(sql, pending).map((row) => ({ ...toCandidateRow(row), fingerprint: String(row.fingerprint) }))
}

/** Returns the Neurons that began as candidates of a connector from places with a prefix. */
export function neuronsBelow(sql: Projection['read'], connector: string, prefix: string): Set<string> {
  const begun = query`SELECT DISTINCT seq_id FROM candidates JOIN approvals ON candidate_id = id WHERE ${madeBelow(connector, prefix)}`
  return new Set(allRows(sql, begun).map(({ seq_id }) => String(seq_id)))
}

/** Returns the Neurons of main that began as candidates of a connector from places with a prefix, by seqId. */
export function presentBelow(
  sql: Projection['read'],
  connector: string,
  prefix: string,
): { seqId: string; title: string }[] {
  const present = query`SELECT DISTINCT seq_id, neurons.title FROM candidates
    JOIN approvals ON approvals.candidate_id = candidates.id JOIN neurons USING (seq_id)
    WHERE ${madeBelow(connector, prefix)} ORDER BY seq_id`
  return allRows(sql, present).map(({ seq_id, title }) => ({ seqId: String(seq_id), title: String(title) }))
}

/** Returns the candidate that a connector made with this fingerprint, in any status. */
export function candidateOfFingerprint(
  sql: Projection['read'],
  connector: string,
  fingerprint: string,
): CandidateRow | undefined {
  const row = sql.get`SELECT candidates.*, seq_id, document_id, oid FROM candidates
    LEFT JOIN approvals ON candidate_id = candidates.id LEFT JOIN commits USING (position)
    WHERE connector = ${connector} AND fingerprint = ${fingerprint} ORDER BY candidates.id LIMIT 1`
  return row === undefined ? undefined : toCandidateRow(row)
}

/** Returns the most recently approved candidate that a connector made with this fingerprint. */
export function approvedOfFingerprint(
  sql: Projection['read'],
  connector: string,
  fingerprint: string,
): CandidateRow | undefined {
  const row = sql.get`SELECT candidates.*, seq_id, document_id, oid FROM candidates
    JOIN approvals ON candidate_id = candidates.id JOIN commits USING (position)
    WHERE connector = ${connector} AND fingerprint = ${fingerprint} ORDER BY position DESC LIMIT 1`
  return row === undefined ? undefined : toCandidateRow(row)
}

/** Returns the Neurons that began as candidates of a connector with a fingerprint. */
export function neuronsOfConnector(sql: Projection['read'], connector: string): Set<string> {
  const rows = sql.all`SELECT seq_id FROM candidates JOIN approvals ON candidate_id = candidates.id
    WHERE connector = ${connector} AND fingerprint IS NOT NULL`
  return new Set(rows.map(({ seq_id }) => String(seq_id)))
}

/** Returns the pending candidates that propose to delete a Neuron, oldest first. */
export function pendingRemovals(sql: Projection['read'], target: string): string[] {
  return sql.all`SELECT id FROM candidates WHERE target = ${target} AND removes = 1 AND status = 'pending' ORDER BY id`.map(
    ({ id }) => String(id),
  )
}

/** Returns the records of the pending candidates that a connector made for a Neuron, oldest first. */
export function pendingForTarget(
  sql: Projection['read'],
  { connector, target }: { connector: string; target: string },
): { id: string; blob: string }[] {
  const rows = sql.all`SELECT id, blob FROM candidates WHERE target = ${target} AND connector = ${connector}
    AND status = 'pending' ORDER BY id`
  return rows.map(({ id, blob }) => ({ id: String(id), blob: String(blob) }))
}

/** Returns pending candidates that a connector made with one fingerprint for a Neuron, or for a new one, oldest first. */
export function pendingOfFingerprint(
  sql: Projection['read'],
  { connector, fingerprint, target }: { connector: string; fingerprint: string; target: string | undefined },
): string[] {
  return sql.all`SELECT id FROM candidates WHERE connector = ${connector} AND fingerprint = ${fingerprint}
    AND target IS ${target ?? null} AND status = 'pending' ORDER BY id`.map(({ id }) => String(id))
}

/** True if main has a candidate's approval, whatever the queue has. */
export function wasApproved(sql: Projection['read'], id: string): boolean {
  return sql.get`SELECT 1 FROM approvals WHERE candidate_id = ${id}` !== undefined
}

export function forgetCandidate({ write: sql }: Projection, id: string): void {
  sql.run`DELETE FROM candidates WHERE id = ${id}`
  sql.run`DELETE FROM candidate_tags WHERE id = ${id}`
  sql.run`DELETE FROM candidate_rows WHERE id = ${id}`
}

export function findCandidate(sql: Projection['read'], id: string): CandidateRow | undefined {
  const row = sql.get`SELECT candidates.*, seq_id, document_id, oid FROM candidates
    LEFT JOIN approvals ON candidate_id = candidates.id LEFT JOIN commits USING (position) WHERE candidates.id = ${id}`
  return row === undefined ? undefined : toCandidateRow(row)
}

export function countPending(sql: Projection['read']): number {
  // The hint keeps SQLite from counting in an index that is three times as wide.
  const row = sql.get`SELECT count(*) AS count FROM candidates INDEXED BY candidates_by_target WHERE status = 'pending'`
  return Number(row?.count)
}

/** Counts the candidates of a key, sent or pushed: pending ones, and those approved by the policy or a push on the day of `at`. */
export function usedBudget(sql: Projection['read'], key: string, at: string): { pending: number; approved: number } {
  const row = sql.get`SELECT coalesce(sum(status = 'pending'), 0) AS pending,
      coalesce(sum(status = 'approved' AND (unfinished = 1 OR sender = ${`git:${key}`}) AND created_at >= ${at.slice(0, 10)}), 0) AS approved
    FROM candidates WHERE sender IN (${`key:${key}`}, ${`git:${key}`}) AND (status = 'pending' OR created_at >= ${at.slice(0, 10)})`
  return { pending: Number(row?.pending), approved: Number(row?.approved) }
}

/** Returns the ids of the first pending candidates in the queue's order. */
export function firstPending(sql: Projection['read'], limit: number): string[] {
  return sql.all`SELECT id FROM candidates WHERE status = 'pending'
    ORDER BY red DESC, impact DESC, id LIMIT ${limit}`.map(({ id }) => String(id))
}

export function pendingRecord(sql: Projection['read'], id: string): string | undefined {
  const row = sql.get`SELECT blob FROM candidates WHERE id = ${id} AND status = 'pending'`
  return row === undefined ? undefined : String(row.blob)
}

/** True if a candidate proposes a whole page at a path. */
export function proposesAt(sql: Projection['read'], id: string, path: string): boolean {
  const place = `${path} `
  return (
    sql.get`SELECT 1 FROM candidates WHERE id = ${id} AND substr(fingerprint, 1, ${place.length}) = ${place}` !==
    undefined
  )
}

/** Candidate that the policy approved and that has not reached main. `source`: Source that ingest compiled it from. */
export type Unfinished = { id: string; sender: string; source: string | undefined }

/** Returns the oldest unfinished candidate of each sender. */
export function firstUnfinished(sql: Projection['read'], except: readonly string[] = []): Unfinished[] {
  const rows = sql.all`SELECT min(id) AS id, coalesce(sender, connector) AS sender FROM candidates
    WHERE unfinished = 1 AND status = 'pending' AND id NOT IN (SELECT value FROM json_each(${JSON.stringify(except)}))
    GROUP BY 2 ORDER BY 1`
  return rows.map(({ id, sender }) => {
    const [, source] = /^source:(.+)$/.exec(String(sender)) ?? []
    return { id: String(id), sender: String(sender), source }
  })
}

/** Returns candidates that the policy approved and that a crash kept from reaching main. */
export function unfinishedApprovals(sql: Projection['read']): string[] {
  return sql.all`SELECT id FROM candidates WHERE unfinished = 1 AND status = 'pending'`.map(({ id }) => String(id))
}

export function toCandidateRow(row: Record<string, unknown>): CandidateRow {
  const { seq_id: seqId, document_id: documentId, oid } = row
  const { id, blob, status, kind, title, connector, confidence, zone, target, impact } = row as CandidateRow
  return {
    ...{ id, blob, status, kind, title, connector, confidence, zone, target },
    impact: impact === 0 ? null : impact,
    removes: row.removes === 1,
    warnings: JSON.parse(String(row.warnings)),
    createdAt: String(row.created_at),
    createdBy: String(row.created_by),
    tags: JSON.parse(String(row.tags)),
    hasTests: row.tests === 1,
    reason: String(row.reason),
    dismissal: row.dismissal === null ? null : String(row.dismissal),
    asked: row.asked === null ? null : JSON.parse(String(row.asked)),
    assignee: row.assignee === null ? null : String(row.assignee),
    titleKey: String(row.title_key),
    textKey: String(row.text_key),
    approvedByPolicy: row.unfinished === 1,
    approval:
      typeof oid === 'string'
        ? { seqId: String(seqId), documentId: documentId as string | null, commit: oid }
        : undefined,
  }
}
