import type { IndexedNeuron } from '../../markdown/pool/indexed-neuron.ts'
import { fileNameKey } from '../../rules/links/file-target.ts'
import { fileKeys, keptClaim, targetKeys } from '../../rules/links/link-target.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { joinTags, tagKey } from '../../rules/neurons/tag.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { pauses } from '../../system/pauses.ts'
import { namesOfNeuron } from './link-queries.ts'
import { lastPosition } from './main-changes.ts'
import type { MainTables, Projection } from './projection.ts'

/** File that a commit changed; without `blob` it was removed. `neuron`: set if the file has a seqId. */
export type IndexedFile = {
  path: string
  mode: string
  blob: string | undefined
  neuron: IndexedNeuron | undefined
  /** Setting of `kb.yaml` that decides whether tags in texts count. */
  inlineTags?: boolean
}

export type IndexedCommit = {
  commit: string
  at: Date
  files: readonly IndexedFile[]
  /** Deleted Neurons for which the commit names a candidate: deleted by this commit, or before. */
  removals: readonly { seqId: string; candidateId: string }[]
  /** Neurons that already have the text of a candidate, which a commit without changes approves. */
  unchanged: readonly { seqId: string; candidateId: string }[]
  /** Neurons that may not take a name that another one has already. */
  firstCome: ReadonlySet<string>
}

/** Maximum links of a page that are written before other work may run. */
const linksOfSlice = 500

type HeldRow = { path: string; blob: string }

/**
 * Adds one commit of main's first-parent line to the tables. Must run in a transaction.
 * @param load reads a Neuron that the commit itself did not change, when it becomes the holder of a seqId that two files claimed
 */
export async function indexCommit(
  projection: Projection,
  { commit, at, files, removals, unchanged, firstCome }: IndexedCommit,
  load: (path: string, blob: string) => Promise<IndexedNeuron | undefined>,
): Promise<void> {
  const { write: sql } = projection
  const position = lastPosition(sql) + 1
  sql.run`INSERT INTO commits (position, oid, at) VALUES (${position}, ${commit}, ${at.toISOString()})`
  const touched = new Set<string>()
  const parsed = new Map<string, IndexedNeuron>()
  for (const { path, mode, blob, neuron, inlineTags = false } of files) {
    if (path === 'kb.yaml') countInlineTags(sql, inlineTags)
    const was = sql.get`SELECT seq_id FROM files WHERE path = ${path}`
    if (typeof was?.seq_id === 'string') touched.add(was.seq_id)
    const isAttachment = blob !== undefined && neuron === undefined
    if (was?.seq_id === null && !isAttachment) forgetAttachment(sql, path)
    if (was?.seq_id !== null && isAttachment) putAttachment(sql, path)
    if (blob === undefined) {
      sql.run`DELETE FROM files WHERE path = ${path}`
      continue
    }
    const seqId = neuron?.seqId ?? null
    sql.run`INSERT OR REPLACE INTO files (path, path_key, mode, blob, seq_id)
      VALUES (${path}, ${pathKey(path)}, ${mode}, ${blob}, ${seqId})`
    if (neuron !== undefined) {
      touched.add(neuron.seqId)
      parsed.set(path, neuron)
    }
  }
  for (const seqId of [...touched].sort()) {
    const [holder, another] = claimsOf(projection, seqId)
    const held = sql.get`SELECT path, blob FROM neurons WHERE seq_id = ${seqId}` as HeldRow | undefined
    if (another !== undefined) sql.run`INSERT OR IGNORE INTO contested (seq_id) VALUES (${seqId})`
    if (holder === undefined) {
      if (held !== undefined) removeNeuron(projection, seqId, held.path, position)
    } else if (holder.path !== held?.path || holder.blob !== held.blob) {
      const neuron = parsed.get(holder.path) ?? (await load(holder.path, holder.blob))
      if (neuron !== undefined)
        await putNeuron(projection, neuron, holder, { position, at, isFirstCome: firstCome.has(seqId) })
    }
  }
  for (const { seqId, candidateId } of removals) nameRemoval(projection, seqId, candidateId, position)
  for (const { seqId, candidateId } of files.length === 0 ? unchanged : []) {
    const held = sql.get`SELECT document_id FROM neurons WHERE seq_id = ${seqId}`
    if (held !== undefined)
      putApproval(sql, candidateId, { seqId, documentId: held.document_id as string | null, position })
  }
}

function nameRemoval({ write: sql }: Projection, seqId: string, candidateId: string, position: number): void {
  const last = sql.get`SELECT version, blob, candidate_id FROM versions WHERE seq_id = ${seqId} ORDER BY version DESC LIMIT 1`
  if (last === undefined || last.blob !== null || last.candidate_id !== null) return
  sql.run`UPDATE versions SET candidate_id = ${candidateId} WHERE seq_id = ${seqId} AND version = ${Number(last.version)}`
  approve(sql, candidateId, { seqId, documentId: null, position })
}

/** Records an approval. The first commit that names a candidate approves it. @returns true if this is the first */
function approve(
  sql: Projection['write'],
  candidateId: string,
  { seqId, documentId, position }: { seqId: string; documentId: string | null; position: number },
): boolean {
  const isFirst = putApproval(sql, candidateId, { seqId, documentId, position })
  if (isFirst) sql.run`DELETE FROM unapproved WHERE seq_id = ${seqId}`
  return isFirst
}

function putApproval(
  sql: Projection['write'],
  candidateId: string,
  { seqId, documentId, position }: { seqId: string; documentId: string | null; position: number },
): boolean {
  const { changes } = sql.run`INSERT OR IGNORE INTO approvals (candidate_id, seq_id, document_id, position)
    VALUES (${candidateId}, ${seqId}, ${documentId}, ${position})`
  if (changes === 0) return false
  sql.run`UPDATE candidates SET status = 'approved' WHERE id = ${candidateId}`
  return true
}

/** Returns the files that claim a seqId. The first one holds it: the previous holder, else the first by path. */
function claimsOf({ write: sql }: Projection, seqId: string): HeldRow[] {
  return sql.all`SELECT files.path, files.blob FROM files
    LEFT JOIN neurons ON neurons.seq_id = files.seq_id AND neurons.path = files.path
    WHERE files.seq_id = ${seqId} ORDER BY neurons.path IS NULL, files.path LIMIT 2` as HeldRow[]
}

async function putNeuron(
  { write: sql }: Projection,
  neuron: IndexedNeuron,
  { path, blob }: HeldRow,
  { position, at, isFirstCome }: { position: number; at: Date; isFirstCome: boolean },
): Promise<void> {
  const { seqId, documentId = null, title, candidateId = null, audience } = neuron
  const version = nextVersion(sql, seqId)
  const number = parseSeqId(seqId)?.number ?? 0
  sql.run`INSERT INTO versions (seq_id, version, number, position, path, blob, candidate_id)
    VALUES (${seqId}, ${version}, ${number}, ${position}, ${path}, ${blob}, ${candidateId})`
  const tags = joinTags(neuron.tags, hasInlineTags(sql) ? neuron.inlineTags : [])
  const first =
    version > 1 &&
    sql.get`SELECT at FROM versions JOIN commits USING (position) WHERE seq_id = ${seqId} AND version = 1`
  const createdAt = first ? String(first.at) : at.toISOString()
  const was = sql.get`SELECT source, renewed, said FROM neurons WHERE seq_id = ${seqId}`
  const isOwn = neuron.isIngested || typeof was?.source === 'string' // Still compiled from its Source after an edit.
  // Later editions have higher ids.
  const source = (isOwn ? neuron.sources.toSorted().at(-1) : undefined) ?? null
  const isLater = source !== null && typeof was?.source === 'string' && source > was.source
  const { said = null } = neuron
  const kept = isLater || was?.source === source ? Number(was?.renewed) || null : null
  const renewed = isLater && said !== was.said ? position : kept
  sql.run`INSERT OR REPLACE INTO neurons (seq_id, document_id, path, blob, title, candidate_id, version, position,
      created_at, updated_at, own_tags, inline_tags, tags, audience, partial, verified, owner, source, said, renewed)
    VALUES (${seqId}, ${documentId}, ${path}, ${blob}, ${title}, ${candidateId}, ${version}, ${position}, ${createdAt},
      ${at.toISOString()}, ${JSON.stringify(neuron.tags)}, ${JSON.stringify(neuron.inlineTags)}, ${JSON.stringify(tags)},
      ${audience === undefined ? null : JSON.stringify(audience)}, ${Number(neuron.isPartial)},
      ${neuron.verified ? JSON.stringify(neuron.verified) : null}, ${neuron.owner ?? null}, ${source}, ${said}, ${renewed})`
  const isApproved = candidateId !== null && approve(sql, candidateId, { seqId, documentId, position })
  if (!isApproved) sql.run`INSERT OR IGNORE INTO unapproved (seq_id) VALUES (${seqId})`
  const before = version > 1 ? namesOfNeuron(sql, seqId) : []
  // Most edits leave names, tags and links as they are, whose rows and index entries lie far apart: only what differs is written.
  for (const { key, kind, exact } of before) {
    if (neuron.names.some((name) => name.key === key && name.kind === kind && name.exact === exact)) continue
    sql.run`DELETE FROM names WHERE seq_id = ${seqId} AND key = ${key} AND kind = ${kind} AND exact = ${exact}`
  }
  for (const name of neuron.names) {
    const { since, yields } = keptClaim(before, name) ?? { since: position, yields: isFirstCome }
    sql.run`INSERT INTO names (key, seq_id, kind, exact, since, yields)
      VALUES (${name.key}, ${seqId}, ${name.kind}, ${name.exact}, ${since}, ${Number(yields)})
      ON CONFLICT DO UPDATE SET since = excluded.since, yields = excluded.yields
        WHERE (since, yields) IS NOT (excluded.since, excluded.yields)`
  }
  if (version > 1) {
    const keys = JSON.stringify(tags.map(tagKey))
    sql.run`DELETE FROM tags WHERE seq_id = ${seqId} AND key NOT IN (SELECT value FROM json_each(${keys}))`
    sql.run`DELETE FROM links WHERE seq_id = ${seqId} AND ordinal >= ${neuron.links.length}`
  }
  putTags(sql, seqId, tags)
  if (!isOwn) sql.run`DELETE FROM page_sources WHERE seq_id = ${seqId}`
  for (const id of neuron.sources) sql.run`INSERT OR IGNORE INTO page_sources (source, seq_id) VALUES (${id}, ${seqId})`
  const pause = pauses()
  for (const [ordinal, { form, type, kb, target, embed, line }] of neuron.links.entries()) {
    if (ordinal % linksOfSlice === linksOfSlice - 1) await pause()
    const { key, bareKey = null } = targetKeys({ target, form, from: path })
    sql.run`INSERT INTO links (seq_id, ordinal, form, type, kb, target, key, bare_key, file_key, embed, line)
      VALUES (${seqId}, ${ordinal}, ${form}, ${type}, ${kb}, ${target}, ${key}, ${bareKey}, ${fileNameKey(target) ?? null},
        ${Number(embed)}, ${line})
      ON CONFLICT DO UPDATE SET form = excluded.form, type = excluded.type, kb = excluded.kb, target = excluded.target,
          key = excluded.key, bare_key = excluded.bare_key, file_key = excluded.file_key, embed = excluded.embed
        WHERE (form, type, kb, target, key, bare_key, file_key, embed) IS NOT (excluded.form, excluded.type, excluded.kb,
          excluded.target, excluded.key, excluded.bare_key, excluded.file_key, excluded.embed)`
    // Apart, since a line is in no index.
    if (version > 1)
      sql.run`UPDATE links SET line = ${line} WHERE seq_id = ${seqId} AND ordinal = ${ordinal} AND line IS NOT ${line}`
  }
}

/** True if tags in a text count at the commit of the tables. */
export function hasInlineTags(sql: MainTables): boolean {
  return sql.get`SELECT 1 FROM meta WHERE key = 'inline-tags'` !== undefined
}

/** Starts or stops counting tags in texts. */
function countInlineTags(sql: Projection['write'], isCounted: boolean): void {
  if (isCounted === hasInlineTags(sql)) return
  if (isCounted) sql.run`INSERT INTO meta (key, value) VALUES ('inline-tags', 'true')`
  else sql.run`DELETE FROM meta WHERE key = 'inline-tags'`
  for (const row of sql.all`SELECT seq_id, own_tags, inline_tags FROM neurons WHERE inline_tags <> '[]'`) {
    const seqId = String(row.seq_id)
    sql.run`DELETE FROM tags WHERE seq_id = ${seqId}`
    const [own, inline] = [JSON.parse(String(row.own_tags)), JSON.parse(String(row.inline_tags))]
    const tags = joinTags(own, isCounted ? inline : [])
    sql.run`UPDATE neurons SET tags = ${JSON.stringify(tags)} WHERE seq_id = ${seqId}`
    putTags(sql, seqId, tags)
  }
}

function putTags(sql: Projection['write'], seqId: string, tags: readonly string[]): void {
  for (const tag of tags) sql.run`INSERT OR IGNORE INTO tags (key, seq_id) VALUES (${tagKey(tag)}, ${seqId})`
}

function removeNeuron({ write: sql }: Projection, seqId: string, path: string, position: number): void {
  const version = nextVersion(sql, seqId)
  const number = parseSeqId(seqId)?.number ?? 0
  sql.run`INSERT INTO versions (seq_id, version, number, position, path, blob, candidate_id)
    VALUES (${seqId}, ${version}, ${number}, ${position}, ${path}, NULL, NULL)`
  sql.run`DELETE FROM neurons WHERE seq_id = ${seqId}`
  sql.run`INSERT OR IGNORE INTO unapproved (seq_id) VALUES (${seqId})`
  sql.run`DELETE FROM names WHERE seq_id = ${seqId}`
  sql.run`DELETE FROM tags WHERE seq_id = ${seqId}`
  sql.run`DELETE FROM links WHERE seq_id = ${seqId}`
}

function putAttachment(sql: Projection['write'], path: string): void {
  for (const key of fileKeys(path)) sql.run`INSERT OR IGNORE INTO attachments (key, path) VALUES (${key}, ${path})`
}

function forgetAttachment(sql: Projection['write'], path: string): void {
  for (const key of fileKeys(path)) sql.run`DELETE FROM attachments WHERE key = ${key} AND path = ${path}`
}

function nextVersion(sql: Projection['write'], seqId: string): number {
  return Number(sql.get`SELECT coalesce(max(version), 0) + 1 AS next FROM versions WHERE seq_id = ${seqId}`?.next)
}
