/** Origin that no server has: a URL that resolves to it is a path of this server. */
const base = 'http://ganglion.invalid'

/**
 * The path of this server to go on to after signing in; `/` for what would lead to another origin. Browsers take `//host`, `/\host`
 * and paths with tabs in them for addresses of other hosts.
 */
export function nextPath(asked: string | undefined): string {
  const url = asked?.startsWith('/') ? URL.parse(asked, base) : null
  if (url === null || url.origin !== base || url.pathname.startsWith('//')) return '/'
  return url.pathname === '/sign-in' ? '/' : url.pathname + url.search + url.hash
}
