import type { FastifyContextConfig, FastifySchema } from 'fastify'

/** Returns a function that makes the options of routes listed under a tag, from their schemas. */
export function describing(tag: string, config: FastifyContextConfig = {}) {
  return <Schema extends FastifySchema>(schema: Schema) => ({ config, schema: { tags: [tag], ...schema } })
}
