import { GanglionError } from '../contract/errors.ts'
import type { ZodFastify } from './zod-compilers.ts'

/**
 * Answers 405 with `Allow` (RFC 9110, section 15.5.6) for every method that a path of this scope lacks, after the hooks of the scope.
 * Call it before the routes are added, and the function that it returns after them.
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
      // The hook is told of a path with and without its last slash once.
      for (const name of app.supportedMethods) {
        if (app.hasRoute({ method: name, url: app.prefix + url })) known.add(name)
      }
      const allow = [...known].join(', ')
      const method = app.supportedMethods.filter((name) => !known.has(name))
      app.route({
        method,
        url,
        // A reader's quota covers it: nothing is written.
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
