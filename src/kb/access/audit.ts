import type { Caller } from '../../rules/access/caller.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import type { StoredAuditEntry } from '../../state/accounts/audit-store.ts'
import type { Context } from '../context.ts'

/** Actor and network address of an act; the address is null for commands on the server's machine. */
export type By = { actor: Actor; address: string | null }

export type Acting = Pick<Caller, 'id' | 'name' | 'tenantId' | 'address' | 'isAdmin'> & Partial<Pick<Caller, 'role'>>

export type Act = {
  /** Kind of act: `<what>.<done>`, e.g. `key.revoked`. */
  action: string
  /** Object of the act, in words. */
  subject: string
  /** Details for people, besides the action and the subject. */
  detail?: string
}

export type AuditPage = {
  entries: StoredAuditEntry[]
  /** Position for the query of the next page; null on the last one. */
  next: number | null
}

const pageSize = 50

/**
 * Records an act of a person on a tenant, apart from its knowledge. The act is already committed, so a failure to record it is reported,
 * not thrown.
 */
export async function recordAct(
  { audit, now, onError }: Pick<Context, 'audit' | 'now' | 'onError'>,
  caller: Acting,
  act: Act,
): Promise<void> {
  const { id, name, tenantId, address = null } = caller
  await audit.record(tenantId, { actor: { id, name }, address, detail: '', ...act }, now()).catch(onError)
}

export async function listAudit(
  { audit }: Pick<Context, 'audit'>,
  tenantId: string,
  before?: number,
): Promise<AuditPage> {
  const entries = await audit.list(tenantId, { before, limit: pageSize + 1 })
  const shown = entries.slice(0, pageSize)
  return { entries: shown, next: entries.length > pageSize ? (shown.at(-1)?.id ?? null) : null }
}
