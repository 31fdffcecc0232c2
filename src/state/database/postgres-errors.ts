/** SQLSTATEs of a server that is stopping, starting, full, or no longer the primary. */
const unreachableStates: ReadonlySet<string> = new Set([
  '25006', // read_only_sql_transaction: a standby, after another took over
  '25P03', // idle_in_transaction_session_timeout
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
])

/** Matches errors of Node and `pg` for a connection that cannot be opened, or broke. */
const networkCodes = /^(ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT)/
const brokenMessages = /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered)/

/** Returns PostgreSQL's SQLSTATE of five characters. Undefined for errors that are not PostgreSQL's. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/** True if a statement failed because its connection failed. */
export function isUnreachable(error: unknown): boolean {
  const state = stateOf(error)
  if (state !== undefined && (unreachableStates.has(state) || state.startsWith('08'))) return true
  if (!(error instanceof Error)) return false
  // A host with several addresses fails with an error for each.
  if (error instanceof AggregateError) return error.errors.every(isUnreachable)
  return ('code' in error && networkCodes.test(String(error.code))) || brokenMessages.test(error.message)
}

/** True if a transaction conflicted with others, so that it can be run again from its beginning. */
export function isSerializationFailure(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01'
}

/** True if a row was inserted after the check that it did not exist: checking again finds it. */
export function isUniqueViolation(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** True if a statement was ended because of contention: a later attempt may succeed. */
export function isBusyState(state: string | undefined): boolean {
  // lock_not_available, query_canceled by statement_timeout, serialization_failure, deadlock_detected, insufficient resources
  return state !== undefined && (/^(55P03|57014|40001|40P01)$/.test(state) || state.startsWith('53'))
}
