import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchemaCompiler,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import type { z } from 'zod'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { parseSent } from '../contract/faults.ts'

/** Types of a route's request and answer, from its zod schemas. */
export interface ZodTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
  serializer: this['schema'] extends z.ZodType ? z.input<this['schema']> : unknown
}

export type ZodFastify = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

/**
 * Parses a part of the request without coercion. A path that does not match its schema is not found; any other part is a ValidationError. A
 * missing body and an empty one are the same as `{}`.
 */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    try {
      return { value: parseSent(schema, httpPart === 'body' ? (data ?? {}) : data) }
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error
      return { error: httpPart === 'params' ? new GanglionError('not_found') : error }
    }
  }

/** Serializes the fields of the answer's schema. Throws a ZodError for an answer that does not match. */
export const serializerCompiler: FastifySerializerCompiler<z.ZodType> =
  ({ schema }) =>
  (answer: unknown) =>
    JSON.stringify(schema.parse(answer))

/** Replaces Fastify's schema controller, which would load unused compilers of JSON Schema. Its types know no others. */
export const schemaController = {
  compilersFactory: {
    buildValidator: (() => validatorCompiler) as never,
    buildSerializer: (() => serializerCompiler) as never,
  },
}
