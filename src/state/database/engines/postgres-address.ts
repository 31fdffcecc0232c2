/** Supported values of libpq's `sslmode`. */
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full']

/** True if an address is that of a PostgreSQL database, not of a file. */
export function isPostgresAddress(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address)
}

/** Returns the problem of a PostgreSQL address, without repeating the address, which may contain a password. */
export function problemOfAddress(address: string): string | undefined {
  const url = isPostgresAddress(address) ? URL.parse(address) : null
  if (url === null || url.pathname.length < 2) return 'must be like postgres://user:password@host:5432/database'
  const sslMode = url.searchParams.get('sslmode')
  if (sslMode !== null && !sslModes.includes(sslMode)) return `sslmode must be one of ${sslModes.join(', ')}`
  return undefined
}

/** Returns the host and name of a database, for people: without user and password. */
export function nameOfAddress(address: string): string {
  const url = new URL(address)
  return `${url.searchParams.get('host') ?? decodeURIComponent(url.host)}${url.pathname}`
}
