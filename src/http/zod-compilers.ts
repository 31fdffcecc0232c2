import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchemaCompiler,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import { z } from 'zod'
import { GanglionError, ValidationError } from '../contract/errors.ts'

/** Types a route's request and answer by its zod schemas. */
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
 * Parses a part of the request without coercion. A path that fails its schema names nothing, so it is not found; every other
 * part is a ValidationError. No body and an empty one are the same as `{}`.
 */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const parsed = schema.safeParse(httpPart === 'body' ? (data ?? {}) : data)
    if (parsed.success) return { value: parsed.data }
    if (httpPart === 'params') return { error: new GanglionError('not_found') }
    return { error: faultsOf(parsed.error) }
  }

/** Parses a part of a body. @throws {ValidationError} */
export function parseBody<Schema extends z.ZodType>(schema: Schema, data: unknown): z.output<Schema> {
  const parsed = schema.safeParse(data)
  if (!parsed.success) throw faultsOf(parsed.error)
  return parsed.data
}

function faultsOf(error: z.ZodError): ValidationError {
  const { fieldErrors, formErrors } = z.flattenError(error)
  return new ValidationError({ ...fieldErrors }, formErrors)
}

/** Writes what the schema knows of the answer; an answer that breaks its schema throws a ZodError. */
export const serializerCompiler: FastifySerializerCompiler<z.ZodType> =
  ({ schema }) =>
  (answer: unknown) =>
    JSON.stringify(schema.parse(answer))

/**
 * Given to Fastify as it starts: else it loads the compilers of JSON Schema, which nothing here uses. Its types know no others.
 */
export const schemaController = {
  compilersFactory: {
    buildValidator: (() => validatorCompiler) as never,
    buildSerializer: (() => serializerCompiler) as never,
  },
}
