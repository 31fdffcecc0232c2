import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'

const maxDepth = 20
const maxKeys = 1000
/** Keys that can change a prototype when an object is copied carelessly. */
const poisonous = new Set(['__proto__', 'constructor', 'prototype'])

/** Takes bodies of `application/json` in UTF-8, bounded in depth and keys, and empty bodies of any type. */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) =>
    body.length === 0 ? undefined : parseJson(body),
  )
  app.addContentTypeParser('*', async ({ headers, routeOptions }: FastifyRequest) => {
    if (headers['content-length'] === '0') return
    const wanted = routeOptions.schema?.consumes?.join(' or ') ?? 'application/json'
    throw new GanglionError('unsupported_media_type', `Send the body as ${wanted}.`)
  })
}

function parseJson(body: Buffer): unknown {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new GanglionError('malformed_request', 'The body is not JSON in UTF-8.')
  }
  checkShape(value)
  return value
}

/** Throws `malformed_request` if JSON is nested too deeply, has too many keys, or a forbidden one. */
function checkShape(value: unknown): void {
  let keys = 0
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((item) => typeof item === 'object' && item !== null)
    if (depth >= maxDepth && containers.length > 0) {
      throw new GanglionError('malformed_request', `The body is nested deeper than ${maxDepth} levels.`)
    }
    for (const container of containers) {
      if (Array.isArray(container)) continue
      const names = Object.keys(container)
      keys += names.length
      if (names.some((name) => poisonous.has(name))) {
        throw new GanglionError('malformed_request', 'The body has a key that is not allowed.')
      }
    }
    if (keys > maxKeys) throw new GanglionError('malformed_request', `The body has more than ${maxKeys} keys.`)
    level = containers.flatMap((container) => Object.values(container))
  }
}
