import type { EndUser } from '../../contract/candidates.ts'
import { ValidationError } from '../../contract/errors.ts'
import type { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import {
  assigneeOf,
  type Candidate,
  lastVerdict,
  queueStatus,
  requestedChanges,
  versionNumber,
} from '../../rules/candidates/candidate.ts'
import { endUserOf, isClient, parseMetadata, readMetadata, textsOf } from '../../rules/candidates/metadata.ts'
import { authorsOf, senderOf, votesOn } from '../../rules/deciding.ts'
import { doorOf } from '../../rules/neurons/first-come.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { indexWords, textKeyOf, titleKey } from './candidate-words.ts'
import type { AllTables, Projection } from './projection.ts'
import { allRows, query, type SqlQuery, type SqlRow } from './sql-query.ts'

type Sql = AllTables

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
  /** True if it reverts earlier changes. */
  reverts: boolean
  warnings: string[]
  createdAt: string
  createdBy: string
  /** End user on whose behalf it was sent, according to its sender. */
  endUser: EndUser | null
  /** Number of the present version. */
  version: number
  tags: string[]
  /** True if the candidate adds answer tests. */
  hasTests: boolean
  /** Reason of the policy's verdict. */
  reason: string
  /** Reason of a curator's dismissal. */
  dismissal: string | null
  /** Changes that a curator has requested. */
  asked: { reason: string; lines?: string; at: string; by: string } | null
  /** E-mail of a person or name of a key. */
  assignee: string | null
  /** Hash or blob of the file that an importing connector found, or that a push brought. */
  fingerprint: string | null
  titleKey: string
  textKey: string
  /** True if the policy approved the candidate and no curator has decided on it since. */
  approvedByPolicy: boolean
  approval: { seqId: string; documentId: string | null; commit: string } | undefined
}

/** Writes a candidate's present record to the tables. Must run in a transaction. */
export function indexCandidate({ write: sql }: Projection, candidate: Candidate, blob: string): void {
  const tags = tagsOfCandidate(candidate)
  const { id, kind, title, connector, confidence, impactEstimate, target, removes, verdict } = candidate
  const status = wasApproved(sql, id) ? 'approved' : queueStatus(candidate)
  const { origin, fingerprint, model } = saidOf(candidate)
  const textKey = textKeyOf(candidate.content)
  // A crash between the two refs of an automatic approval leaves it unfinished.
  const unfinished = verdict.approve && lastVerdict(candidate) === undefined ? 1 : 0
  const asked = requestedChanges(candidate) ?? null
  const [sender, endUser] = [senderOf(candidate), endUserOf(candidate) ?? null]
  const { row, isKnown } = indexWords(sql, candidate, textKey)
  sql.run`INSERT OR REPLACE INTO candidates (id, blob, status, kind, title, connector, confidence, impact, zone, red, target,
      removes, reverts, warnings, created_at, created_by, sender, end_user, revision, dismissal, asked, assignee, unfinished, origin, fingerprint, model, reason, tags, tests, title_key, text_key,
      word_row, path_key, authors, voters)
    VALUES (${id}, ${blob}, ${status}, ${kind}, ${title}, ${connector}, ${confidence}, ${impactEstimate ?? 0}, ${verdict.zone},
      ${verdict.zone === 'red' ? 1 : 0}, ${target}, ${Number(removes)}, ${Number(candidate.reverts === true)}, ${JSON.stringify(verdict.warnings)}, ${candidate.createdAt},
      ${candidate.createdBy.name}, ${/^(?:key|user|git|source):/.test(sender) ? sender : null},
      ${endUser && JSON.stringify(endUser)}, ${versionNumber(candidate)}, ${lastVerdict(candidate)?.reason ?? null}, ${asked && JSON.stringify({ reason: asked.reason ?? '', lines: asked.lines, at: asked.at, by: asked.by.name })},
      ${assigneeOf(candidate) ?? null}, ${unfinished}, ${origin}, ${fingerprint}, ${model}, ${verdict.reason}, ${JSON.stringify(tags)}, ${Number((candidate.tests ?? []).length > 0)},
      ${titleKey(title)}, ${textKey}, ${row}, ${pathKeyOf(candidate)}, ${JSON.stringify(authorsOf(candidate).map(({ id }) => id))}, ${votersOf(candidate)})`
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

export type OriginRow = CandidateRow & { fingerprint: string }

/** SQL that joins candidates with their approvals. `orPending` also keeps candidates that have none. */
const approved = query`JOIN approvals ON candidate_id = candidates.id JOIN commits USING (position)`
const orPending = query`LEFT JOIN approvals ON candidate_id = candidates.id LEFT JOIN commits USING (position)`

/** Returns the candidates that meet conditions, which may include an order and a limit. */
export function candidatesWhere(sql: Sql, conditions: SqlQuery, joins = orPending): CandidateRow[] {
  const rows = allRows(
    sql,
    query`SELECT id, candidates.blob, status, kind, candidates.title, connector, confidence, nullif(impact, 0) AS impact, zone,
        target, removes, reverts, warnings, candidates.created_at AS createdAt, created_by AS createdBy, end_user AS endUser, candidates.tags, tests, reason,
        revision AS version, dismissal, asked, assignee, fingerprint, title_key AS titleKey, text_key AS textKey, unfinished,
        seq_id AS seqId, document_id AS documentId, oid AS "commit"
      FROM candidates ${joins} WHERE ${conditions}`,
  )
  return rows.map(({ removes, reverts, tests, unfinished, seqId, documentId, commit, ...row }) => ({
    ...(row as unknown as CandidateRow),
    removes: removes === 1,
    reverts: reverts === 1,
    warnings: JSON.parse(String(row.warnings)),
    tags: JSON.parse(String(row.tags)),
    hasTests: tests === 1,
    asked: JSON.parse(String(row.asked)),
    endUser: JSON.parse(String(row.endUser)),
    approvedByPolicy: unfinished === 1,
    approval: commit === null ? undefined : ({ seqId, documentId, commit } as CandidateRow['approval']),
  }))
}

/** Returns the candidates that a connector made from one place: those on main first, most recently approved first. */
export function candidatesOfOrigin(sql: Sql, connector: string, origin: string): OriginRow[] {
  return candidatesWhere(
    sql,
    query`connector = ${connector} AND origin = ${origin} ORDER BY position DESC NULLS LAST, created_at DESC, id DESC`,
  ) as OriginRow[]
}

/** Returns the condition for candidates that a connector made from a place with a prefix. */
export function madeBelow(connector: string, prefix: string): SqlQuery {
  return query`connector = ${connector} AND origin >= ${prefix} AND origin < ${`${prefix}\u{10FFFF}`}`
}

/** Returns the places with a prefix from which a connector made candidates. */
export function originsBelow(sql: Sql, connector: string, prefix: string): string[] {
  const origins = query`SELECT DISTINCT origin FROM candidates WHERE ${madeBelow(connector, prefix)} ORDER BY origin`
  return allRows(sql, origins).map(({ origin }) => String(origin))
}

/** Neuron of main, with the place from which a connector imported its latest version. */
export type BroughtNeuron = { origin: string; fingerprint: string; seqId: string; path: string; blob: string }

/** Returns the Neurons of main whose latest version a connector brought from places with a prefix, by place. */
export function broughtNeurons(sql: Sql, connector: string, prefix: string): Map<string, BroughtNeuron> {
  const rows = sql.all`SELECT origin, fingerprint, seq_id AS seqId, path, neurons.blob FROM candidates
    JOIN approvals ON approvals.candidate_id = candidates.id JOIN neurons USING (seq_id)
    WHERE connector = ${connector} AND origin IS NOT NULL ORDER BY approvals.position, candidates.id` as BroughtNeuron[]
  const latest = new Map(rows.map((neuron) => [neuron.seqId, neuron]))
  const brought = [...latest.values()].filter(({ origin }) => origin.startsWith(prefix))
  brought.sort((a, b) => (a.origin < b.origin ? -1 : 1))
  return new Map(brought.map((neuron) => [neuron.origin, neuron]))
}

/** Returns the pending candidates that a connector made from places with a prefix, oldest first. */
export function pendingBelow(sql: Sql, connector: string, prefix: string): OriginRow[] {
  return candidatesWhere(sql, query`${madeBelow(connector, prefix)} AND status = 'pending' ORDER BY id`) as OriginRow[]
}

/** Returns the Neurons that began as candidates of a connector from places with a prefix. */
export function neuronsBelow(sql: Sql, connector: string, prefix: string): Set<string> {
  const begun = query`SELECT DISTINCT seq_id FROM candidates JOIN approvals ON candidate_id = id WHERE ${madeBelow(connector, prefix)}`
  return new Set(allRows(sql, begun).map(({ seq_id }) => String(seq_id)))
}

/** Returns the Neurons of main that began as candidates of a connector from places with a prefix, by seqId. */
export function presentBelow(sql: Sql, connector: string, prefix: string): { seqId: string; title: string }[] {
  const present = query`SELECT DISTINCT seq_id AS seqId, neurons.title FROM candidates
    JOIN approvals ON approvals.candidate_id = candidates.id JOIN neurons USING (seq_id)
    WHERE ${madeBelow(connector, prefix)} ORDER BY seq_id`
  return allRows(sql, present) as { seqId: string; title: string }[]
}

/** Returns the candidate that a connector made with this fingerprint, in any status. */
export function candidateOfFingerprint(sql: Sql, connector: string, fingerprint: string): CandidateRow | undefined {
  return candidatesWhere(sql, query`connector = ${connector} AND fingerprint = ${fingerprint} ORDER BY id LIMIT 1`)[0]
}

/** Returns the most recently approved candidate that a connector made with this fingerprint. */
export function approvedOfFingerprint(sql: Sql, connector: string, fingerprint: string): CandidateRow | undefined {
  const latest = query`connector = ${connector} AND fingerprint = ${fingerprint} ORDER BY position DESC LIMIT 1`
  return candidatesWhere(sql, latest, approved)[0]
}

/** Returns the Neurons that began as candidates of a connector with a fingerprint. */
export function neuronsOfConnector(sql: Sql, connector: string): Set<string> {
  const rows = sql.all`SELECT seq_id FROM candidates JOIN approvals ON candidate_id = candidates.id
    WHERE connector = ${connector} AND fingerprint IS NOT NULL`
  return new Set(rows.map(({ seq_id }) => String(seq_id)))
}

/** Returns the pending candidates that propose to delete a Neuron, oldest first. */
export function pendingRemovals(sql: Sql, target: string): string[] {
  return idsIn(
    sql.all`SELECT id FROM candidates WHERE target = ${target} AND removes = 1 AND status = 'pending' ORDER BY id`,
  )
}

function idsIn(rows: readonly SqlRow[]): string[] {
  return rows.map(({ id }) => String(id))
}

/** Returns the records of the pending candidates that a connector made for a Neuron, oldest first. */
export function pendingForTarget(
  sql: Sql,
  { connector, target }: { connector: string; target: string },
): { id: string; blob: string }[] {
  return sql.all`SELECT id, blob FROM candidates WHERE target = ${target} AND connector = ${connector}
    AND status = 'pending' ORDER BY id` as { id: string; blob: string }[]
}

/** Returns pending candidates that a connector made with one fingerprint for a Neuron, or for a new one, oldest first. */
export function pendingOfFingerprint(
  sql: Sql,
  { connector, fingerprint, target }: { connector: string; fingerprint: string; target: string | undefined },
): string[] {
  return idsIn(sql.all`SELECT id FROM candidates WHERE connector = ${connector} AND fingerprint = ${fingerprint}
    AND target IS ${target ?? null} AND status = 'pending' ORDER BY id`)
}

/** True if main has a candidate's approval, whatever the queue has. */
export function wasApproved(sql: Sql, id: string): boolean {
  return sql.get`SELECT 1 FROM approvals WHERE candidate_id = ${id}` !== undefined
}

export function forgetCandidate({ write: sql }: Projection, id: string): void {
  sql.run`DELETE FROM candidates WHERE id = ${id}`
  sql.run`DELETE FROM candidate_tags WHERE id = ${id}`
  sql.run`DELETE FROM candidate_rows WHERE id = ${id}`
}

export function hasCandidate(sql: Sql, id: string): boolean {
  return sql.get`SELECT 1 FROM candidates WHERE id = ${id}` !== undefined
}

export function findCandidate(sql: Sql, id: string): CandidateRow | undefined {
  return candidatesWhere(sql, query`id = ${id}`)[0]
}

/** True if the approval of a candidate changed a Neuron in a commit. */
export function isApprovedIn(sql: Sql, id: string, { seqId, commit }: { seqId: string; commit: string }): boolean {
  return (
    sql.get`SELECT 1 FROM approvals JOIN commits USING (position)
      WHERE candidate_id = ${id} AND seq_id = ${seqId} AND oid = ${commit}` !== undefined
  )
}

export function countPending(sql: Sql): number {
  // The hint keeps SQLite from counting in an index that is three times as wide.
  const row = sql.get`SELECT count(*) AS count FROM candidates INDEXED BY candidates_by_target WHERE status = 'pending'`
  return Number(row?.count)
}

/** Counts the candidates of a key, sent or pushed: pending ones, and those approved by the policy or a push on the day of `at`. */
export function usedBudget(sql: Sql, key: string, at: string): { pending: number; approved: number } {
  const day = at.slice(0, 10)
  return sql.get`SELECT coalesce(sum(status = 'pending'), 0) AS pending,
      coalesce(sum(status = 'approved' AND (unfinished = 1 OR sender = ${`git:${key}`}) AND created_at >= ${day}), 0) AS approved
    FROM candidates WHERE sender IN (${`key:${key}`}, ${`git:${key}`})
      AND (status = 'pending' OR created_at >= ${day})` as ReturnType<typeof usedBudget>
}

/** Returns the ids of the first pending candidates in the queue's order. */
export function firstPending(sql: Sql, limit: number): string[] {
  return idsIn(
    sql.all`SELECT id FROM candidates WHERE status = 'pending' ORDER BY red DESC, impact DESC, id LIMIT ${limit}`,
  )
}

export function pendingRecord(sql: Sql, id: string): string | undefined {
  const row = sql.get`SELECT blob FROM candidates WHERE id = ${id} AND status = 'pending'`
  return row && String(row.blob)
}

/** True if a candidate proposes a whole page at a path. */
export function proposesAt(sql: Sql, id: string, path: string): boolean {
  const [row, place] = [sql.get`SELECT fingerprint FROM candidates WHERE id = ${id}`, `${path} `]
  return row?.fingerprint?.toString().startsWith(place) === true
}

/** Candidate that the policy approved and that has not reached main. `source`: Source that ingest compiled it from. */
export type Unfinished = { id: string; sender: string; source: string | undefined }

/** Returns the oldest unfinished candidate of each sender. */
export function firstUnfinished(sql: Sql, except: readonly string[] = []): Unfinished[] {
  const rows = sql.all`SELECT min(id) AS id, coalesce(sender, connector) AS sender FROM candidates
    WHERE unfinished = 1 AND status = 'pending' AND id NOT IN (SELECT value FROM json_each(${JSON.stringify(except)}))
    GROUP BY 2 ORDER BY 1`
  return rows.map(({ id, sender }) => {
    const [, source] = /^source:(.+)$/.exec(String(sender)) ?? []
    return { id: String(id), sender: String(sender), source }
  })
}

/** Returns candidates that the policy approved and that a crash kept from reaching main. */
export function unfinishedApprovals(sql: Sql): string[] {
  return idsIn(sql.all`SELECT id FROM candidates WHERE unfinished = 1 AND status = 'pending'`)
}

/** Returns the tags that a candidate's Neuron would get: from the proposed page, else from the metadata. */
export function tagsOfCandidate({ frontMatter, metadata }: Pick<Candidate, 'frontMatter' | 'metadata'>): string[] {
  if (frontMatter !== null) return parseNeuronFile(frontMatter).fields.tags
  return knownMetadata(metadata)?.tags ?? []
}

/** Returns the key of the path that a candidate asks for: of a new page, or of one that it moves. */
function pathKeyOf({ frontMatter, metadata, target }: Candidate): string | null {
  const path = target === null || frontMatter !== null ? knownMetadata(metadata)?.path : undefined
  return path === undefined ? null : pathKey(path)
}

/** Returns the ids of those who voted for the present version, as JSON. */
function votersOf(candidate: Candidate): string | null {
  const votes = votesOn(candidate, (id) => id)
  return votes.size === 0 ? null : JSON.stringify([...votes.keys()])
}

/** Reads metadata; undefined if another program wrote a record whose metadata is invalid. */
function knownMetadata(metadata: Candidate['metadata']): ReturnType<typeof readMetadata> | undefined {
  try {
    return readMetadata(parseMetadata(metadata).data)
  } catch (error) {
    if (error instanceof ValidationError) return undefined
    throw error
  }
}
