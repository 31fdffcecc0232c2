import { type Kysely, type SqlBool, sql, type Transaction } from 'kysely'
import type { EventData } from '../../contract/events.ts'
import type { Oid } from '../../git/objects/object.ts'
import { isInternal } from '../../rules/access/audience.ts'
import { fold } from '../../rules/text/fold.ts'
import type { Schema } from '../../state/database/schema.ts'
import { deleteRows, updateRows } from '../../state/database/store.ts'
import { inTransaction } from '../../state/database/transaction.ts'
import type { EventCandidate } from '../../state/event-store.ts'
import { tablesOfKb } from '../../state/removal.ts'
import { erasingOf } from './erasing.ts'
import type { ErasurePlan } from './plan-erasure.ts'
import { erasedWord } from './text-forms.ts'

export type RowsToErase = { kbId: string; tenantId: string; oids: ReadonlyMap<Oid, Oid>; plan: ErasurePlan }
type RowChange = { table: keyof Schema; where: ReturnType<typeof sql<SqlBool>>; rewrite: Rewrite }
/** Returns the new text of a cell. */
type Rewrite = (text: string, column: string, row: Record<string, unknown>) => string

/**
 * Tables of questions, compared without case and accents. Rows that contain an erased text are deleted, since two may become equal without
 * it.
 */
const forgotten: ReadonlySet<keyof Schema> = new Set(['asked_questions', 'opened_results'])
const rowsAtOnce = 500

/** Removes erased data from the rows, and updates the ids of commits and blobs, all at once. Idempotent. */
export function eraseRows(
  db: Kysely<Schema>,
  rows: RowsToErase,
  alsoDo: (transaction: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  return inTransaction(db, async (transaction) => {
    await removeRows(transaction, rows)
    for (const change of rowChanges(rows)) await rewriteRows(transaction, change)
    await alsoDo(transaction)
  })
}

/** Counts the rows that contain data to erase. */
export function countHolders(db: Kysely<Schema>, rows: RowsToErase): Promise<number> {
  // PostgreSQL streams rows in transactions only.
  return inTransaction(db, async (transaction) => {
    let count = 0
    for (const change of rowChanges(rows)) count += (await changedRows(transaction, change)).length
    return count
  })
}

function rowChanges({ kbId, tenantId, oids, plan }: RowsToErase): RowChange[] {
  const erasing = erasingOf(plan)
  const folded = erasingOf({ ...plan, texts: plan.texts.map((one) => ({ ...one, text: fold(one.text) })) })
  const rewrite = (text: string) =>
    erasing.replace(text).replace(/(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g, (oid) => oids.get(oid) ?? oid)
  // Only names and addresses of people are erased from rows of other knowledge bases.
  const people = erasingOf({ ...plan, texts: plan.texts.filter(({ isWord }) => isWord) })
  const ofTenant = sql<SqlBool>`tenant_id = ${tenantId}`
  const ofSessions = sql<SqlBool>`session_id in (select id from chat_sessions where kb_id = ${kbId})`
  return [
    ...tablesOfKb.map((table) => {
      const rewrites = forgotten.has(table) ? (text: string) => folded.replace(text) : rewrite
      const own: Rewrite = table === 'events' ? (...cell) => rewrite(withoutPage(plan, ...cell)) : rewrites
      return { table, where: sql<SqlBool>`kb_id = ${kbId}`, rewrite: own }
    }),
    { table: 'chat_turns', where: ofSessions, rewrite },
    { table: 'memberships', where: ofTenant, rewrite },
    ...(['audit', 'api_keys'] as const).map((table) => {
      return { table, where: ofTenant, rewrite: (text: string) => people.replace(text) }
    }),
  ]
}

/** Returns a cell of an event without data of an erased page: its tags, and faults that name it. */
function withoutPage(plan: ErasurePlan, ...[text, column, row]: Parameters<Rewrite>): string {
  if (column !== 'candidate' && column !== 'data') return text
  const { candidateId, seqId, problems }: EventData = JSON.parse(String(row.data))
  if (column === 'data') {
    const told = [...plan.seqIds, ...Object.keys(plan.paths)]
    const isAbout = (problem: string) => told.some((one) => problem.includes(one))
    if (!problems?.some(isAbout)) return text
    return JSON.stringify({
      ...JSON.parse(text),
      problems: problems.map((problem) => (isAbout(problem) ? erasedWord : problem)),
    })
  }
  const isErased = plan.candidates.includes(candidateId ?? '') || plan.seqIds.includes(seqId ?? '')
  if (!isErased) return text
  const told: EventCandidate = JSON.parse(text)
  return JSON.stringify({ ...told, tags: told.tags.filter((tag) => isInternal([tag])) })
}

async function removeRows(
  transaction: Transaction<Schema>,
  { kbId, tenantId, plan: { seqIds, sources, people } }: RowsToErase,
): Promise<void> {
  // Stored answers contain what was sent.
  await deleteRows(transaction, 'idempotency_keys', { tenant_id: tenantId })
  // The forge still has the erased data, and its main would bring it back.
  await deleteRows(transaction, 'forge_links', { kb_id: kbId })
  for (const cited of [...seqIds, ...sources.map(({ id }) => id)]) {
    const turns = sql<string>`(select session_id from chat_turns
      where question || answer || citations || coalesce(grounds, '') like ${`%${cited}%`})`
    await transaction.deleteFrom('chat_sessions').where('kb_id', '=', kbId).where('id', 'in', turns).execute()
  }
  for (const seqId of seqIds) await deleteRows(transaction, 'opened_results', { kb_id: kbId, seq_id: seqId })
  for (const { id, contentHash, isOnly } of sources) {
    await deleteRows(transaction, 'jobs', { document_id: id })
    await deleteRows(transaction, 'upload_chunks', { upload_id: id })
    await deleteRows(transaction, 'uploads', { id })
    await deleteRows(transaction, 'sources', { id })
    if (isOnly) await deleteRows(transaction, 'blob_keys', { sha256: contentHash })
  }
  for (const id of people) await erasePerson(transaction, id)
}

async function erasePerson(transaction: Transaction<Schema>, id: string): Promise<void> {
  await deleteRows(transaction, 'chat_sessions', { owner_id: `user:${id}` })
  const agents = transaction.selectFrom('api_keys').select('grant_id').where('user_id', '=', id)
  await transaction
    .deleteFrom('oauth_records')
    .where('grant_id', 'in', agents.where('grant_id', 'is not', null))
    .execute()
  await transaction
    .updateTable('api_keys')
    .set(({ fn, ref }) => ({ revoked_at: fn.coalesce(ref('revoked_at'), ref('created_at')) }))
    .where('user_id', '=', id)
    .where('grant_id', 'is not', null)
    .execute()
  for (const table of ['sessions', 'one_time_links', 'tour_marks'] as const)
    await deleteRows(transaction, table, { user_id: id })
  await updateRows(transaction, 'audit', { actor_id: `user:${id}` }, { address: null })
  await transaction
    .updateTable('users')
    .set(({ fn, ref }) => ({
      ...{ name: erasedWord, email: `erased-${id}@ganglion.invalid`, password_hash: null, issuer: null, subject: null },
      disabled_at: fn.coalesce(ref('disabled_at'), ref('created_at')),
    }))
    .where('id', '=', id)
    .execute()
}

/** Columns with words that Ganglion itself uses. */
const kept: ReadonlySet<string> = new Set(['action', 'audience', 'format', 'git', 'kind', 'kinds', 'role', 'status'])

type ChangedRow = { row: Record<string, unknown>; cells: [string, string][] }

async function changedRows(
  transaction: Transaction<Schema>,
  { table, where, rewrite }: RowChange,
): Promise<ChangedRow[]> {
  const changed: ChangedRow[] = []
  for await (const row of transaction.selectFrom(table).selectAll().where(where).stream(rowsAtOnce)) {
    const cells = Object.entries(row).flatMap(([column, value]): [string, string][] => {
      const text = typeof value === 'string' && !kept.has(column) ? rewrite(value, column, row) : value
      return typeof text === 'string' && text !== value ? [[column, text]] : []
    })
    if (cells.length > 0) changed.push({ row, cells })
  }
  return changed
}

/** Rewrites rows. Each is identified by its full content. */
async function rewriteRows(transaction: Transaction<Schema>, change: RowChange): Promise<void> {
  const { table } = change
  for (const { row, cells } of await changedRows(transaction, change)) {
    const same = Object.entries(row).map(([name, value]) =>
      value === null ? sql`${sql.ref(name)} is null` : sql`${sql.ref(name)} = ${value}`,
    )
    const set = sql.join(cells.map(([name, text]) => sql`${sql.ref(name)} = ${text}`))
    const statement = forgotten.has(table)
      ? sql`delete from ${sql.table(table)}`
      : sql`update ${sql.table(table)} set ${set}`
    await sql`${statement} where ${sql.join(same, sql` and `)}`.execute(transaction)
  }
}
