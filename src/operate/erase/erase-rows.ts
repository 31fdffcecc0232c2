import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Oid } from '../../git/objects/object.ts'
import { Erasing, erasedWord } from './erasing.ts'
import type { ErasurePlan } from './plan-erasure.ts'

const tablesOfKbs = `SELECT tables.name FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND columns.name = 'kb_id'`

/**
 * Takes what is to be erased out of the database, and names commits and blobs by their new ids. Nothing of it stays in free pages of the
 * file or its log. May be repeated.
 */
export function eraseRows(
  file: string,
  { kbId, oids, plan }: { kbId: string; oids: ReadonlyMap<Oid, Oid>; plan: ErasurePlan },
): void {
  const db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: true })
  try {
    db.exec('PRAGMA secure_delete = ON; BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON')
    const tenantId = String(db.prepare('SELECT tenant_id FROM knowledge_bases WHERE id = ?').get(kbId)?.tenant_id)
    removeRows(db, { kbId, tenantId }, plan)
    const erasing = new Erasing(plan)
    const rewrite = (text: string) =>
      erasing.replace(text).replace(/(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g, (oid) => oids.get(oid) ?? oid)
    for (const { name } of db.prepare(tablesOfKbs).all()) {
      rewriteRows(db, { table: String(name), where: 'kb_id = ?', value: kbId }, rewrite)
    }
    const ofSessions = 'session_id IN (SELECT id FROM chat_sessions WHERE kb_id = ?)'
    rewriteRows(db, { table: 'chat_turns', where: ofSessions, value: kbId }, rewrite)
    // Other tenants, and texts that others of the tenant have, are not what was asked for.
    const people = new Erasing({ ...plan, texts: plan.texts.filter(({ isWord }) => isWord) })
    for (const table of ['audit', 'api_keys']) {
      rewriteRows(db, { table, where: 'tenant_id = ?', value: tenantId }, (text) => people.replace(text))
    }
    db.exec('COMMIT')
    db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

function removeRows(
  db: DatabaseSync,
  { kbId, tenantId }: { kbId: string; tenantId: string },
  { seqIds, sources, people }: ErasurePlan,
): void {
  const run = (statement: string, ...values: SQLInputValue[]) => void db.prepare(statement).run(...values)
  // Kept answers to requests hold what was sent.
  run('DELETE FROM idempotency_keys WHERE tenant_id = ?', tenantId)
  const forgetChats = (where: string, ...values: SQLInputValue[]) => {
    run(`DELETE FROM chat_turns WHERE session_id IN (SELECT id FROM chat_sessions WHERE ${where})`, ...values)
    run(`DELETE FROM chat_sessions WHERE ${where}`, ...values)
  }
  for (const seqId of seqIds) {
    const names = `instr(question || answer || citations || coalesce(grounds, ''), ?) > 0`
    forgetChats(`kb_id = ? AND id IN (SELECT session_id FROM chat_turns WHERE ${names})`, kbId, seqId)
    run('DELETE FROM opened_results WHERE kb_id = ? AND seq_id = ?', kbId, seqId)
  }
  for (const { id } of sources) {
    forgetChats('kb_id = ? AND id IN (SELECT session_id FROM chat_turns WHERE instr(citations, ?) > 0)', kbId, id)
    run('DELETE FROM jobs WHERE document_id = ?', id)
    run('DELETE FROM uploads WHERE id = ?', id)
    run('DELETE FROM sources WHERE id = ?', id)
  }
  for (const id of people) {
    forgetChats('owner_id = ?', `user:${id}`)
    for (const table of ['sessions', 'one_time_links', 'tour_marks']) run(`DELETE FROM ${table} WHERE user_id = ?`, id)
    run('UPDATE audit SET address = NULL WHERE actor_id = ?', `user:${id}`)
    run(
      `UPDATE users SET name = ?, email = ?, password_hash = NULL, issuer = NULL, subject = NULL,
        disabled_at = coalesce(disabled_at, created_at) WHERE id = ?`,
      ...[erasedWord, `erased-${id}@ganglion.invalid`, id],
    )
  }
}

function rewriteRows(
  db: DatabaseSync,
  { table, where, value }: { table: string; where: string; value: string },
  rewrite: (text: string) => string,
): void {
  const columns = db.prepare('SELECT name, pk FROM pragma_table_info(?)').all(table)
  const primary = columns.flatMap(({ name, pk }) => (Number(pk) > 0 ? [String(name)] : []))
  const keys = primary.length > 0 ? primary : ['rowid']
  const changed: { key: SQLInputValue[]; cells: [string, string][] }[] = []
  for (const row of db.prepare(`SELECT ${keys.join(', ')}, * FROM "${table}" WHERE ${where}`).iterate(value)) {
    const cells = Object.entries(row).flatMap(([column, value]): [string, string][] => {
      const text = typeof value === 'string' ? rewrite(value) : value
      return typeof text === 'string' && text !== value ? [[column, text]] : []
    })
    if (cells.length > 0) changed.push({ key: keys.map((key) => row[key] ?? null), cells })
  }
  for (const { key, cells } of changed) {
    const set = cells.map(([column]) => `"${column}" = ?`).join(', ')
    const same = keys.map((each) => `"${each}" = ?`).join(' AND ')
    db.prepare(`UPDATE "${table}" SET ${set} WHERE ${same}`).run(...cells.map(([, text]) => text), ...key)
  }
}
