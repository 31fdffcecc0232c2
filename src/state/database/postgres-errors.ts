/** States of a server that is going, coming, full, or no longer the one that may be written to. */
const unreachableStates: ReadonlySet<string> = new Set([
  '25006', // read_only_sql_transaction: a standby, after another took over
  '25P03', // idle_in_transaction_session_timeout
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
])

/** Errors of Node and `pg` for a connection that cannot be opened, or broke. */
const networkCodes = /^(ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT)/
const brokenMessages = /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered)/

/** PostgreSQL's SQLSTATE: five characters. Undefined for errors that it did not tell. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/** Whether a statement failed with its connection, rather than on its own account. */
export function isUnreachable(error: unknown): boolean {
  const state = stateOf(error)
  if (state !== undefined && (unreachableStates.has(state) || state.startsWith('08'))) return true
  if (!(error instanceof Error)) return false
  // A host with several addresses fails with an error for each.
  if (error instanceof AggregateError) return error.errors.every(isUnreachable)
  return ('code' in error && networkCodes.test(String(error.code))) || brokenMessages.test(error.message)
}

/** Whether a transaction lost against others, and can be done again from its beginning. */
export function isSerializationFailure(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01'
}

/** Whether a row is there that was not when it was looked for, so that looking again finds it. */
export function isUniqueViolation(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** Whether a statement was given up because of others: it is worth trying again later. */
export function isBusyState(state: string | undefined): boolean {
  // lock_not_available, query_canceled by statement_timeout, serialization_failure, deadlock_detected, insufficient resources
  return state !== undefined && (/^(55P03|57014|40001|40P01)$/.test(state) || state.startsWith('53'))
}
