import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { type JsonBounds, jsonExcess, prototypeKeys } from '../../contract/json.ts'

const bounds: JsonBounds = { depth: 20, keys: 1000, values: 10_000 }
const excessWords: Readonly<Record<keyof JsonBounds, (bound: number) => string>> = {
  depth: (bound) => `is nested deeper than ${bound} levels`,
  keys: (bound) => `has more than ${bound} keys`,
  values: (bound) => `has more than ${bound} values`,
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maximum keys of a JSON body; 1,000 by default. */
    jsonKeys?: number
  }
}

/**
 * Parses bodies of `application/json` in UTF-8, whose depth, keys and values are limited before they are parsed, and empty bodies of any
 * type.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async ({ routeOptions }: FastifyRequest, body: Buffer) =>
      body.length === 0 ? undefined : parseJsonBody(body, routeOptions.config.jsonKeys),
  )
  app.addContentTypeParser('*', async ({ headers, routeOptions }: FastifyRequest) => {
    if (headers['content-length'] === '0') return
    const wanted = routeOptions.schema?.consumes?.join(' or ') ?? 'application/json'
    throw new GanglionError('unsupported_media_type', `Send the body as ${wanted}.`)
  })
}

function parseJsonBody(body: Buffer, keys = bounds.keys): unknown {
  const allowed = { ...bounds, keys, values: Math.max(bounds.values, 2 * keys) }
  let value: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const excess = jsonExcess(text, allowed)
    if (excess !== undefined)
      throw new GanglionError('malformed_request', `The body ${excessWords[excess](allowed[excess])}.`)
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof GanglionError) throw error
    throw new GanglionError('malformed_request', 'The body is not JSON in UTF-8.')
  }
  if (hasPrototypeKey(value)) throw new GanglionError('malformed_request', 'The body has a key that is not allowed.')
  return value
}

/** True if a key can change a prototype. Recursive, since the depth of the value is limited. */
function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasPrototypeKey)
  return Object.entries(value).some(([key, item]) => prototypeKeys.has(key) || hasPrototypeKey(item))
}
