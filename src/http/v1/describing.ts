import type { FastifyContextConfig, FastifySchema } from 'fastify'

/** Makes the options of routes that the description lists under a tag, each from its schema. */
export function describing(tag: string, config: FastifyContextConfig = {}) {
  return <Schema extends FastifySchema>(schema: Schema) => ({ config, schema: { tags: [tag], ...schema } })
}
