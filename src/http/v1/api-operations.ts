import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaCompiler,
  HTTPMethods,
} from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { previewing } from '../../queue/preview/previewed-kb.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import { validatorCompiler, type ZodFastify } from '../zod-compilers.ts'

/** Response schemas by status: one for JSON, or one for each content type. */
type Answers = Readonly<Record<number, z.ZodType | { description: string; content: object }>>
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : object
type Answer<A extends Answers> = InputOf<A[keyof A]> | FastifyReply

/** Validated request of an operation. */
type Sent<Params, Query, Headers, Body> = {
  /** Context to read with. For a request with `preview`, the preview's context. */
  ctx: AppContext
  caller: Caller
  params: Params
  query: Query
  headers: Headers
  body: Body
  request: FastifyRequest
  reply: FastifyReply
}

type Operation<P, Q, H, B, A extends Answers> = {
  operationId: string
  summary: string
  description: string
  params?: P
  querystring?: Q
  headers?: H
  body?: B
  /** Responses of success; the first status is sent if `run` sets none. */
  answers: A
  /** Errors besides those that any operation of this method, with these roles, may answer with. */
  errors?: readonly ErrorCode[]
  /** True if the answer has an `ETag` of its bytes, or a function that returns the tag's prefix. Previews have no prefix. */
  tagged?: true | ((answer: InputOf<A[200]>) => string)
  /** True if the parameter `preview` names candidates to apply before reading. */
  previews?: true
  consumes?: string[]
  /** Parts of the request that `run` checks itself. */
  unchecked?: readonly ('body' | 'headers')[]
  /** Maximum bytes of the body, if it differs from the server's limit. */
  bodyLimit?: number
  /** False if a HEAD request must not be routed here. */
  exposeHeadRoute?: false
  run(
    sent: Sent<z.output<P>, z.output<Q>, z.output<H>, z.output<B>>,
  ): Answer<A> | Promise<Answer<A>> | (204 extends keyof A ? Promise<void> : never)
}

type Adder = <
  A extends Answers,
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  H extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
>(
  url: string,
  operation: Operation<P, Q, H, B, A>,
) => void

/** Parsed fields of a request that name candidates to preview, and their knowledge base. */
type Asked = { preview?: readonly string[]; kbId?: string; kb?: string }

/** Returns functions that add operations to the API, listed under a tag. `config` says who may call them. */
export function operationsOf(app: ZodFastify, ctx: AppContext, tag: string, config: FastifyContextConfig = {}) {
  const adding =
    (method: HTTPMethods): Adder =>
    (url, operation) => {
      const {
        answers,
        errors = [],
        tagged,
        previews,
        bodyLimit,
        unchecked,
        exposeHeadRoute,
        run,
        ...described
      } = operation
      const codes = [
        ...(config.roles === undefined ? [] : ['insufficient_role' as const]),
        ...errors,
        ...(previews ? ['not_pending' as const] : []),
      ]
      const refusals = method === 'GET' ? readErrors(...codes) : writeErrors(...codes)
      const schema = answers[200]
      const success = tagged && schema instanceof z.ZodType ? taggedAnswers(schema) : answers
      const status = Number(Object.keys(answers)[0])
      app.route({
        ...{ method, url, config },
        ...(bodyLimit !== undefined && { bodyLimit }),
        ...(unchecked && { validatorCompiler: checkingAllBut(unchecked) as never }),
        ...(exposeHeadRoute === false && { exposeHeadRoute }),
        schema: { tags: [tag], ...described, response: { ...success, ...refusals } } as FastifySchema,
        handler,
      })

      async function handler(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
        const { params, query, headers, body } = request
        const caller = callerOf(request)
        const asked: Asked | undefined = previews && { ...(body as Asked), ...(query as Asked), ...(params as Asked) }
        const shown = asked?.preview && (await previewing(ctx, caller, asked.preview, asked.kbId ?? asked.kb))
        if (status !== 200) reply.code(status)
        // The schemas of the route have parsed the request.
        const sent = { ctx: shown?.ctx ?? ctx, caller, params, query, headers, body, request, reply } as never
        const answer = await run(sent)
        if (status === 204) return reply.send(null)
        // Awaiting a reply yields nothing once it is sent or the client has disconnected.
        if (answer === undefined) return reply
        const whole = shown && answer instanceof Object ? shown.told(answer) : answer
        if (!(tagged && schema instanceof z.ZodType)) return reply.send(whole)
        const version = typeof tagged === 'function' && shown === undefined ? tagged(answer as never) : undefined
        return answerTagged(request, reply, schema as z.ZodType<object>, whole as object, version)
      }
    }
  return {
    get: adding('GET'),
    post: adding('POST'),
    put: adding('PUT'),
    patch: adding('PATCH'),
    delete: adding('DELETE'),
  }
}

function checkingAllBut(parts: readonly string[]): FastifySchemaCompiler<z.ZodType> {
  return (route) => (parts.includes(route.httpPart ?? '') ? (value: unknown) => ({ value }) : validatorCompiler(route))
}
