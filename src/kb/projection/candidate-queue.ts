import { type CandidateKind, type CandidateStatus, candidateStatuses, type Zone } from '../../contract/vocabulary.ts'
import type { Candidate } from '../../rules/candidates/candidate.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { type AskedCurator, askedOf } from './asked-of.ts'
import { type CandidateRow, candidatesWhere, type OriginRow } from './candidate-index.ts'
import { textKeyOf, titleKey, wordsQuery } from './candidate-words.ts'
import type { Projection } from './projection.ts'
import { allRows, nothing, query, type SqlQuery } from './sql-query.ts'

type Sql = Projection['read']

/** Filter of the queue; `zone: 'none'` for candidates without a zone. */
export type QueueFilter = {
  status?: CandidateStatus | undefined
  kind?: CandidateKind | undefined
  connector?: string | undefined
  zone?: Zone | 'none' | undefined
  tag?: string | undefined
  /** Assignee, as in `CandidateRow.assignee`. */
  assignee?: string | undefined
  /** Id of the end user on whose behalf it was sent. */
  onBehalfOf?: string | undefined
  /** Words to find in the title or at the beginning of the content. */
  text?: string | undefined
  /** True to list only the first candidate of each {@link bundleOf}. */
  bundles?: boolean | undefined
  /** Limits the result to pending candidates that wait for one curator. */
  asked?: AskedCurator | undefined
}

/** Position in the queue's order: red zone first, then impact, then age. */
export type QueuePosition = { red: number; impact: number; id: string }

/** Position at which a page continues, and its direction. */
export type QueuePlace = { after: QueuePosition } | { before: QueuePosition }

/** Maximum number of candidates that are counted. */
const maxCounted = 10_000
const maxConnectors = 50

export function queuePosition(row: CandidateRow): QueuePosition {
  return { red: row.zone === 'red' ? 1 : 0, impact: row.impact ?? 0, id: row.id }
}

export function byPosition(a: QueuePosition, b: QueuePosition): number {
  return b.red - a.red || b.impact - a.impact || (a.id < b.id ? -1 : 1)
}

/** Returns candidates in the queue's order: the first ones, or those next to a position. */
export function queuePage(sql: Sql, filter: QueueFilter, place: QueuePlace | undefined, limit: number): CandidateRow[] {
  const isBefore = place !== undefined && 'before' in place
  const rows = statusesOf(filter).flatMap((status) => {
    const page = query`SELECT id FROM candidates WHERE ${matching({ ...filter, status })} ${inPlace(place)} LIMIT ${limit}`
    return candidatesWhere(sql, query`id IN (${page})`)
  })
  rows.sort((a, b) => byPosition(queuePosition(a), queuePosition(b)))
  return isBefore ? rows.slice(-limit) : rows.slice(0, limit)
}

/** Returns the statuses to query one by one, so that the rows come in the order of the index. */
function statusesOf({ status }: QueueFilter): readonly CandidateStatus[] {
  return status === undefined ? candidateStatuses : [status]
}

function inPlace(place: QueuePlace | undefined): SqlQuery {
  if (place === undefined) return query`ORDER BY red DESC, impact DESC, id`
  if ('after' in place) {
    const { red, impact, id } = place.after
    return query`AND red <= ${red} AND (red < ${red} OR impact < ${impact} OR (impact = ${impact} AND id > ${id}))
      ORDER BY red DESC, impact DESC, id`
  }
  const { red, impact, id } = place.before
  return query`AND red >= ${red} AND (red > ${red} OR impact > ${impact} OR (impact = ${impact} AND id < ${id}))
    ORDER BY red, impact, id DESC`
}

function matching({
  status,
  kind,
  connector,
  zone,
  tag,
  text,
  assignee,
  onBehalfOf,
  bundles,
  asked,
}: QueueFilter & { status: CandidateStatus }): SqlQuery {
  const words = text === undefined ? undefined : (wordsQuery(text) ?? '""')
  return query`status = ${status} ${kind === undefined ? nothing : query`AND kind = ${kind}`}
    ${connector === undefined ? nothing : query`AND connector = ${connector}`}
    ${zone === undefined ? nothing : query`AND zone IS ${zone === 'none' ? null : zone}`}
    ${
      bundles
        ? query`AND (connector NOT IN ${bundled} OR NOT EXISTS (
            SELECT 1 FROM candidates AS one JOIN candidates AS mate USING (created_at, created_by)
            WHERE one.id = candidates.id AND ${mates} AND mate.id >= substr(one.id, 1, ${timeLength}) AND mate.id < one.id))`
        : nothing
    }
    ${tag === undefined ? nothing : query`AND id IN (SELECT id FROM candidate_tags WHERE key = ${tagKey(tag)})`}
    ${assignee === undefined ? nothing : query`AND assignee = ${assignee}`}
    ${forEndUser(onBehalfOf)}
    ${asked === undefined ? nothing : query`AND status = 'pending' AND ${askedOf(asked)}`}
    ${
      words === undefined
        ? nothing
        : query`AND word_row IN (SELECT rowid FROM candidate_words WHERE candidate_words MATCH ${words})`
    }`
}

/**
 * Number of characters at the start of an id that encode its time in milliseconds. This prefix selects few rows; `+` prevents SQLite
 * from using the index of all pending candidates.
 */
const timeLength = 14

export const undoConnector = 'undo'

/** Connectors whose candidates form bundles: a push, the console and an undo. */
const bundled = query`('git', 'console', ${undoConnector})`

/** Condition for candidates that are decided as one. A candidate that a client claims to come from a push has no fingerprint. */
const mates = query`one.status = 'pending' AND one.connector IN ${bundled} AND +mate.connector = one.connector
  AND +mate.status = one.status AND mate.zone IS one.zone AND mate.fingerprint IS NOT NULL AND one.fingerprint IS NOT NULL`

/** Member of a bundle. `path`: path in the push, which orders the bundle. `pushed`: blob at that path. */
export type Mate = CandidateRow & { path: string; pushed: string }

/**
 * Returns the pending candidates that are decided as one with a candidate: of the same push or undo, or written together in the console, in
 * its zone. Their ids have the same time.
 */
export function bundleOf(sql: Sql, { id }: CandidateRow): Mate[] {
  const time = timeOfBundle(id)
  const found = candidatesWhere(
    sql,
    query`id IN (SELECT mate.id FROM candidates AS one JOIN candidates AS mate USING (created_at, created_by)
      WHERE one.id = ${id} AND ${mates} AND mate.id >= ${time} AND mate.id < ${`${time}~`}) ORDER BY fingerprint, id`,
  )
  return found.map((row) => {
    const { fingerprint } = row as OriginRow
    const end = fingerprint.lastIndexOf(' ')
    return { ...row, path: fingerprint.slice(0, end), pushed: fingerprint.slice(end + 1) }
  })
}

/** Returns somebody's pending candidates from the console, the first of each bundle; the latest bundle first. */
export function waitingOfConsole(
  sql: Sql,
  sender: string,
  limit: number,
): { id: string; title: string; createdAt: string }[] {
  return sql.all`SELECT min(id) AS id, title, created_at AS createdAt FROM candidates
    WHERE sender = ${sender} AND connector = 'console' AND status = 'pending' AND fingerprint IS NOT NULL
    GROUP BY created_at ORDER BY created_at DESC LIMIT ${limit}` as ReturnType<typeof waitingOfConsole>
}

/** Returns the beginning that the ids of a bundle have in common. */
export function timeOfBundle(id: string): string {
  return id.slice(0, timeLength)
}

/** True if two ids have the same time, as those of a bundle do. */
export function areTogether(id: string, other: string): boolean {
  return timeOfBundle(id) === timeOfBundle(other)
}

/** Counts the candidates of a status that pass a filter, by zone; of each zone up to 10,000, and 10,001 means more. */
export function countByZone(
  sql: Sql,
  filter: QueueFilter & { status: CandidateStatus },
): Record<Zone | 'none', number> {
  const count = (zone: Zone | 'none') => {
    if (filter.zone !== undefined && filter.zone !== zone) return 0
    const found = query`SELECT 1 FROM candidates WHERE ${matching({ ...filter, zone })} LIMIT ${maxCounted + 1}`
    return Number(allRows(sql, query`SELECT count(*) AS count FROM (${found})`)[0]?.count)
  }
  return { red: count('red'), yellow: count('yellow'), green: count('green'), none: count('none') }
}

export function connectorsOf(sql: Sql, status: CandidateStatus): string[] {
  const rows = sql.all`WITH RECURSIVE names (name) AS (
      SELECT min(connector) FROM candidates WHERE status = ${status}
      UNION ALL SELECT (SELECT min(connector) FROM candidates WHERE status = ${status} AND connector > name)
        FROM names WHERE name IS NOT NULL
    ) SELECT name FROM names WHERE name IS NOT NULL LIMIT ${maxConnectors}`
  return rows.map(({ name }) => String(name))
}

/** Returns pending candidates that may duplicate another one: for the same Neuron, with its title or its text; oldest first. */
export function pendingLike(
  sql: Sql,
  { id, target, titleKey: title, textKey }: Pick<CandidateRow, 'id' | 'target' | 'titleKey' | 'textKey'>,
  limit: number,
): CandidateRow[] {
  return candidatesWhere(
    sql,
    query`id IN (SELECT id FROM candidates WHERE target = ${target} AND status = 'pending' UNION ${idsSaying(title, textKey)})
      AND id <> ${id} ORDER BY id LIMIT ${limit}`,
  )
}

/** Selects the ids of pending candidates with a title or a text, each by an index of its own. An empty title equals no other. */
function idsSaying(title: string, textKey: string): SqlQuery {
  return query`SELECT id FROM candidates WHERE title_key = ${title} AND title_key <> '' AND status = 'pending'
    UNION SELECT id FROM candidates WHERE text_key = ${textKey} AND status = 'pending'`
}

export function pendingTitled(sql: Sql, title: string): CandidateRow[] {
  const isSame = query`title_key = ${titleKey(title)} AND title_key <> ''`
  return candidatesWhere(sql, query`${isSame} AND status = 'pending' AND target IS NULL ORDER BY id LIMIT 5`)
}

/**
 * Returns the last pending candidates of a kind in the queue's order: the last of each sender, then the one before, up to the limit. All
 * visitors count as one sender.
 */
export function lastOfSenders(sql: Sql, kind: CandidateKind, limit: number): { id: string; blob: string }[] {
  return sql.all`SELECT id, blob FROM (
      SELECT id, blob, red, impact, row_number() OVER (PARTITION BY sender ORDER BY red, impact, id DESC) AS nth
      FROM candidates WHERE status = 'pending' AND kind = ${kind} ORDER BY nth, red, impact, id DESC LIMIT ${limit}
    ) ORDER BY red DESC, impact DESC, id` as { id: string; blob: string }[]
}

/** Returns the condition for candidates that were sent on behalf of an end user; none without one. */
export function forEndUser(id: string | undefined): SqlQuery {
  return id === undefined ? nothing : query`AND end_user IS NOT NULL AND end_user ->> 'id' = ${id}`
}

export type SentFilter = Pick<QueueFilter, 'status' | 'onBehalfOf'> & {
  /** Limits the result to candidates of which a curator waits for a new version. */
  state?: 'changes_requested' | undefined
  below?: string | undefined
  limit: number
}

export function sentBy(
  sql: Sql,
  sender: string,
  { status, state, onBehalfOf, below, limit }: SentFilter,
): CandidateRow[] {
  const ofStatus = status === undefined ? nothing : query`AND status = ${status}`
  const asked = state === undefined ? nothing : query`AND asked IS NOT NULL AND status = 'pending'`
  const before = below === undefined ? nothing : query`AND id < ${below}`
  return candidatesWhere(
    sql,
    query`sender = ${sender} ${ofStatus} ${asked} ${forEndUser(onBehalfOf)} ${before} ORDER BY id DESC LIMIT ${limit}`,
  )
}

/**
 * Returns the candidates of the same sender for the same target that wait for a curator, with the same text, or for a new page the same
 * title, latest first. The title of a correction is that of its page.
 */
export function waitingTwins(
  sql: Sql,
  { id, title, content, target, createdBy }: Pick<Candidate, 'id' | 'title' | 'content' | 'target' | 'createdBy'>,
  limit: number,
): CandidateRow[] {
  const key = target === null ? titleKey(title) : ''
  return candidatesWhere(
    sql,
    query`id IN (${idsSaying(key, textKeyOf(content))})
      AND +sender = ${createdBy.id} AND target IS ${target} AND unfinished = 0 AND id <> ${id} ORDER BY id DESC LIMIT ${limit}`,
  )
}

/** True if a client sent a candidate. */
export function isSender(sql: Sql, sender: string, id: string): boolean {
  return sql.get`SELECT 1 FROM candidates WHERE id = ${id} AND sender = ${sender}` !== undefined
}

/** Returns pending candidates that one of some ids has voted for, oldest first. */
export function votedOnBy(sql: Sql, actors: readonly string[], limit: number): CandidateRow[] {
  return candidatesWhere(
    sql,
    query`voters IS NOT NULL AND status = 'pending' AND EXISTS (SELECT 1 FROM json_each(voters)
      WHERE value IN (SELECT value FROM json_each(${JSON.stringify(actors)}))) ORDER BY id LIMIT ${limit}`,
  )
}
