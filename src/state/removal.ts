import type { Transaction } from 'kysely'
import type { Schema } from './database/schema.ts'
import { deleteRows } from './database/store.ts'

/** Tables in the order of removal: each precedes the tables that it refers to. Rows that refer to the removed ones are removed, too. */
export const tablesOfKb = [
  ...(['forge_links', 'notices', 'webhooks', 'jobs', 'uploads', 'sources'] as const),
  ...(['event_cursors', 'events', 'chat_sessions', 'asked_questions', 'opened_results', 'sites'] as const),
  ...(['repository_packs', 'repository_refs', 'repositories'] as const),
] as const
const ofTenant = [
  ...(['webhooks', 'audit', 'tour_marks', 'sessions', 'one_time_links', 'memberships'] as const),
  ...(['api_keys', 'idempotency_keys', 'event_counters', 'notices', 'notice_cursors'] as const),
] as const
const ofUser = ['notices', 'tour_marks', 'sessions', 'one_time_links', 'memberships'] as const

/** Removes a knowledge base with all of its rows. Sweeps remove the bytes that they refer to. */
export async function removeKbRows(transaction: Transaction<Schema>, id: string): Promise<void> {
  const uploads = transaction.selectFrom('uploads').select('id').where('kb_id', '=', id)
  await transaction.deleteFrom('upload_chunks').where('upload_id', 'in', uploads).execute()
  for (const table of tablesOfKb) await deleteRows(transaction, table, { kb_id: id })
  await deleteRows(transaction, 'knowledge_bases', { id })
}

/** Removes a tenant without knowledge bases, all of its rows, and the people who have no other tenant. */
export async function removeTenantRows(transaction: Transaction<Schema>, id: string): Promise<void> {
  const people = await transaction
    .selectFrom('memberships')
    .select('user_id')
    .groupBy('user_id')
    .having((having) => having.fn.countAll(), '=', 1)
    .having((having) => having.fn.max('tenant_id'), '=', id)
    .execute()
  for (const table of ofTenant) await deleteRows(transaction, table, { tenant_id: id })
  await removePeople(transaction, people)
  await deleteRows(transaction, 'tenants', { id })
}

/** Removes the people without a role in any tenant. */
export async function removePeopleOfNone(transaction: Transaction<Schema>): Promise<void> {
  const members = transaction.selectFrom('memberships').select('user_id')
  const query = transaction.selectFrom('users').select('id as user_id').where('id', 'not in', members)
  await removePeople(transaction, await query.execute())
}

async function removePeople(transaction: Transaction<Schema>, people: readonly { user_id: string }[]): Promise<void> {
  for (const { user_id } of people) {
    for (const table of ofUser) await deleteRows(transaction, table, { user_id })
    await deleteRows(transaction, 'users', { id: user_id })
  }
}
