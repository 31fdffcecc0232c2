import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'

export function taggedAnswers<Schema extends z.ZodType>(schema: Schema): { 200: Schema; 304: z.ZodType<null> } {
  return { 200: schema, 304: z.null().describe('`If-None-Match` names the current response.') }
}

type Representation = { text: string; etag: string }

/** Serialized answers, by answer. A service returns the same object as long as the answer has not changed. */
const made = new WeakMap<object, Representation>()

/**
 * Answers with JSON and an `ETag` of its bytes, or with 304 if the client has them already (RFC 9110, section 13.1.2). A client may cache
 * the answer, but must revalidate it each time: what a key may see can change at any moment.
 * @param answer must not be modified afterwards
 * @param version prefix of the tag, which a write may name in `If-Match`
 * @throws {z.ZodError} for an answer that does not match its schema
 */
export function answerTagged<Schema extends z.ZodType<object>>(
  { method, headers, session }: FastifyRequest,
  reply: FastifyReply,
  schema: Schema,
  answer: z.input<Schema> & object,
  version?: string,
): FastifyReply {
  const { text, etag } = made.get(answer) ?? represent(schema, answer, version)
  reply.header('etag', etag)
  if (session === undefined) reply.header('cache-control', 'private, no-cache')
  if (!isNamed(headers['if-none-match'], etag)) return reply.type('application/json; charset=utf-8').send(text)
  // HEAD gets only the length.
  return reply.code(304).send(method === 'HEAD' ? text : undefined)
}

function represent(schema: z.ZodType, answer: object, version: string | undefined): Representation {
  const text = JSON.stringify(schema.parse(answer))
  const representation = {
    text,
    etag: `"${version === undefined ? '' : `${version}.`}${hash('sha256', text, 'base64url')}"`,
  }
  made.set(answer, representation)
  return representation
}

/** True if `If-None-Match` lists an entity tag, weak or not. */
export function isNamed(header: string | undefined, etag: string): boolean {
  if (header === undefined || header === etag) return header === etag
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
