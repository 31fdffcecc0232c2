import { GanglionError } from '../contract/errors.ts'
import type { ZodFastify } from './zod-compilers.ts'

/**
 * Answers 405 with `Allow` (RFC 9110, section 15.5.6) for every method that a path of this scope lacks, after the scope's hooks. Call it
 * before the routes are added, and the returned function after them.
 */
export function refuseOtherMethods(app: ZodFastify): () => void {
  const methodsOf = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ method, url }) => {
    const path = url.slice(app.prefix.length)
    const known = methodsOf.get(path) ?? new Set()
    methodsOf.set(path, known)
    for (const name of [method].flat()) known.add(name)
  })
  return () => {
    for (const [url, known] of [...methodsOf]) {
      // The hook sees a path once, with or without its trailing slash.
      for (const name of app.supportedMethods) {
        if (app.hasRoute({ method: name, url: app.prefix + url })) known.add(name)
      }
      const allow = [...known].join(', ')
      const method = app.supportedMethods.filter((name) => !known.has(name))
      app.route({
        method,
        url,
        // Counts as a read, since nothing is written.
        config: { rate: 'read' },
        onRequest: async (_, reply) => {
          reply.header('allow', allow)
          throw new GanglionError('method_not_allowed')
        },
        handler: () => {},
      })
    }
  }
}
