/** Origin that no server has: a URL that still resolves to it is a path of this server. */
const base = 'http://ganglion.invalid'

/**
 * Returns the path of this server to continue with after signing in; `/` if the given one leads to another origin. Browsers read `//host`,
 * `/\host` and paths with tabs as addresses of other hosts.
 */
export function nextPath(asked: string | undefined): string {
  const url = asked?.startsWith('/') ? URL.parse(asked, base) : null
  if (url === null || url.origin !== base || url.pathname.startsWith('//')) return '/'
  return url.pathname === '/sign-in' ? '/' : url.pathname + url.search + url.hash
}
