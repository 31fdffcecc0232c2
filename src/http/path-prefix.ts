import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Headers that redirect a browser; the last two are for htmx and our own scripts. */
const addressHeaders = ['location', 'hx-location', 'hx-redirect'] as const
/** Matches a tag. Text contains no `<`, and attributes no quotation mark: the template and the sanitizer encode both. */
const tag = /<[a-z](?:[^">]|"[^"]*")*>/gi
/** Matches attributes whose URL is a path of this server. */
const ownAddress =
  / (api|href|src|action|formaction|hx-get|data-(?:complete-at|fill|graph|live-refresh|page|preview))="\/(?!\/)/g

/**
 * Lets clients reach the server below the path `prefix`, such as `/kb`: adds it to the URLs in redirects and pages. Routes and templates do
 * not know it.
 */
export function answerBelow(app: FastifyInstance, prefix: string): void {
  if (prefix === '') return
  app.addHook('onSend', (_, reply, payload, done) => {
    for (const name of addressHeaders) {
      const address = reply.getHeader(name)
      if (typeof address === 'string' && /^\/(?!\/)/.test(address)) reply.header(name, prefix + address)
    }
    const isPage = typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
    done(null, isPage ? withPrefix(payload, prefix) : payload)
  })
}

/** Adds a prefix to the URLs in HTML that are paths of this server. */
export function withPrefix(html: string, prefix: string): string {
  return prefix === ''
    ? html
    : html.replace(tag, (text) => text.replace(ownAddress, (_, name) => ` ${name}="${prefix}/`))
}

/** Returns the path of a request for the router. A proxy that has removed the prefix sends `X-Forwarded-Prefix`. */
export function routedPath({ url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>, prefix: string): string {
  return headers['x-forwarded-prefix'] === undefined ? withoutPrefix(url, prefix) : url
}

export function withoutPrefix(path: string, prefix: string): string {
  const rest = path.startsWith(prefix) ? path.slice(prefix.length) : ''
  if (rest.startsWith('/')) return rest
  return path === prefix || rest.startsWith('?') ? `/${rest}` : path
}
