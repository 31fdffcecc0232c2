import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { Context } from '../kb/context.ts'
import { serverLlmsText } from '../pages/llms-txt.ts'
import { errorAnswers } from './response/error-answer.ts'
import type { ZodFastify } from './zod-compilers.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

const description = `Knowledge bases in git. A knowledge base is addressed by its slug or its UUID.

Every response has a header \`x-request-id\`, which is also in the server's log. The body of an error is \`{error, message?}\`, where
\`error\` is a stable code; if the request does not match its schema, it is \`{error: {formErrors, fieldErrors}}\`. Unknown query
parameters and unknown body fields are ignored. A \`GET\` changes nothing. A failed request changes nothing unless its description
says otherwise.

Requests of a key are limited by the minute: \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds) say what is
left. If a response has an \`ETag\`, send it as \`If-None-Match\` with the next request: an unchanged response is 304 without a body.`

const sessionDescription = `A person who is signed in with a browser. A write must come from a page of this server, with the token of
the page in the header \`x-csrf-token\`. If a request has a header \`authorization\`, the cookie is ignored. A person has the role
\`reader\` or \`curator\`; an administrator has the role \`curator\`.`

const AnswerByType = z.object({
  description: z.string(),
  content: z.record(z.string(), z.object({ schema: z.instanceof(z.ZodType) })),
})

const RestParameters = z.looseObject({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).exactOptional(),
})

/** Headers that a response has because of its status. */
const headersByStatus: Readonly<Record<string, Record<string, object>>> = {
  401: { 'WWW-Authenticate': { type: 'string', enum: ['Bearer'] } },
  429: { 'Retry-After': { type: 'integer', minimum: 1, description: 'Seconds to wait before the next attempt.' } },
}

/** Headers of responses to a GET that supports `If-None-Match`. */
const tagHeaders = { ETag: { type: 'string', description: 'Identifies the body; changes when the body changes.' } }
const tagged: ReadonlySet<string> = new Set(['200', '206', '304'])

/** Describes the routes that are added after this call: generates OpenAPI 3.1 from their zod schemas. */
export async function describeRoutes(app: ZodFastify, prefix: string): Promise<void> {
  const components = new Map<string, JsonSchema>()
  const operationsWithOptionalBody = new Set<string | undefined>()

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Ganglion',
        version: 'v1',
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: prefix || '/' }],
      security: [{ bearer: [] }, { session: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          session: { type: 'apiKey', in: 'cookie', name: app.sessions.cookie, description: sessionDescription },
        },
      },
      tags: [
        {
          name: 'Queue',
          description: 'Candidates that a curator or the policy approves or dismisses.',
        },
        { name: 'Senders', description: 'What the caller sent, and what became of it.' },
        { name: 'Sources', description: 'Uploaded files, whose ingest proposes Neurons.' },
        { name: 'Neurons', description: 'Curated pages, their links and their attachments.' },
        { name: 'Search', description: 'Search by keywords, and passages for language models.' },
        { name: 'Chat', description: 'Answers to questions, and feedback on them.' },
        { name: 'Answer tests', description: 'Questions, and what must hold of their answers.' },
        { name: 'Events', description: 'A stream of changes.' },
        { name: 'Administration', description: 'Webhooks and API keys.' },
        { name: 'Agents', description: 'Interfaces for language models.' },
        { name: 'Operations', description: 'State and metrics of the server, and this description.' },
      ],
    },
    // Pages, scripts and endpoints of other protocols have no tag.
    hideUntagged: true,
    convertConstToEnum: false,
    transform: ({ schema, url }) => {
      // Fastify describes every body as required, but here a missing body is the same as `{}`.
      if (schema?.body instanceof z.ZodType && schema.body.safeParse({}).success) {
        operationsWithOptionalBody.add(schema.operationId)
      }
      return { schema: nameRest(toJsonSchemas(schema, components)), url: url.replace(/\/\*$/, '/:path') }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return {}
      const { openapiObject } = document
      for (const path of Object.values(openapiObject.paths ?? {})) {
        const { requestBody, operationId } = path?.post ?? {}
        if (requestBody !== undefined && 'content' in requestBody && operationsWithOptionalBody.has(operationId)) {
          requestBody.required = false
        }
      }
      return {
        ...openapiObject,
        components: { ...openapiObject.components, schemas: Object.fromEntries([...components].sort()) },
      }
    },
  })
}

/** Describes the rest of a path as one segment with encoded slashes, since OpenAPI has no parameter for it. */
function nameRest(schema: FastifySchema): FastifySchema {
  const { properties, required, ...params } = RestParameters.safeParse(schema.params).data ?? {}
  if (properties?.['*'] === undefined) return schema
  const { '*': path, ...others } = properties
  return {
    ...schema,
    params: {
      ...params,
      properties: { ...others, path },
      required: [...(required ?? []), 'path'].filter((name) => name !== '*'),
    },
  }
}

const Document = z
  .looseObject({ openapi: z.string().describe('Version of OpenAPI.') })
  .meta({ description: 'A document in the format of OpenAPI 3.1.', examples: [{ openapi: '3.1.0' }] })

/** Adds `/openapi.json`, for agents `/llms.txt`, and for people `/docs`. */
export async function descriptionRoutes(app: ZodFastify, { urls }: Pick<Context, 'urls'>): Promise<void> {
  const text = serverLlmsText(urls)
  app.get(
    '/llms.txt',
    {
      schema: {
        tags: ['Operations'],
        operationId: 'readServerLlmsText',
        summary: 'Read how language models use this server',
        description:
          'Returns how to connect, in the format of llmstxt.org. It names no knowledge base, so it needs no key.',
        security: [],
        produces: ['text/plain'],
        response: {
          200: z.string().meta({ description: 'The text as Markdown.', examples: [text.slice(0, 60)] }),
          ...errorAnswers(['unavailable']),
        },
      },
    },
    async (_, reply) => {
      reply.type('text/plain; charset=utf-8')
      return text
    },
  )
  app.get(
    '/openapi.json',
    {
      schema: {
        tags: ['Operations'],
        operationId: 'readDescription',
        summary: 'Read this description',
        description: 'Returns the description of the API. Fails with `unavailable` while the server starts or drains.',
        security: [],
        response: { 200: Document, ...errorAnswers(['unavailable']) },
      },
    },
    async () => ({ openapi: '3.1.0', ...app.swagger() }),
  )
  // The parameter's type is `Request`, but Swagger UI passes a plain object.
  const requestInterceptor = withFormToken as never
  // BaseLayout leaves out Swagger UI's bar, whose logo has an inline style that the content security policy blocks.
  const uiConfig = { layout: 'BaseLayout', requestInterceptor }
  await app.register(swaggerUi, { routePrefix: '/docs', theme: { title: 'Ganglion API' }, uiConfig })
}

/** Path that returns the form token of the session. */
export const formTokenPath = '/form-token'

type TriedRequest = { url: string; method?: string; headers: Record<string, string> }

/** Runs in the browser, so it uses nothing outside itself. Adds the form token of the session to a request. */
async function withFormToken(request: TriedRequest): Promise<TriedRequest> {
  const { url, method = 'GET', headers } = request
  if (/^(?:GET|HEAD|OPTIONS)$/i.test(method) || Object.keys(headers).some((name) => /^authorization$/i.test(name))) {
    return request
  }
  const answer = await fetch(url.replace(/\/api\/v1\/.*/, '/form-token'), { redirect: 'manual' })
  if (answer.ok) headers['x-csrf-token'] = await answer.text()
  return request
}

/** Converts the zod schemas of a route to JSON Schema. Adds named schemas to the components. */
function toJsonSchemas(schema: FastifySchema | undefined, components: Map<string, JsonSchema>): FastifySchema {
  if (schema === undefined) return {}
  const converted: Record<string, unknown> = { ...schema }
  for (const part of ['body', 'querystring', 'params', 'headers'] as const) {
    if (schema[part] instanceof z.ZodType) converted[part] = toJsonSchema(schema[part], part, components)
  }
  const response: object = schema.response ?? {}
  const isTagged = '304' in response
  converted.response = Object.fromEntries(
    Object.entries(response).map(([status, answer]) => {
      const headers = isTagged && tagged.has(status) ? tagHeaders : headersByStatus[status]
      return [status, { ...toAnswer(answer, components), ...(headers && { headers }) }]
    }),
  )
  return converted
}

/** Converts a response: a zod schema, or schemas by content type. */
function toAnswer(answer: unknown, components: Map<string, JsonSchema>): Record<string, unknown> {
  if (answer instanceof z.ZodType) {
    return { ...toJsonSchema(answer, 'response', components), description: z.globalRegistry.get(answer)?.description }
  }
  const { description, content } = AnswerByType.parse(answer)
  const schemas = Object.entries(content).map(([type, { schema }]) => {
    return [type, { schema: toJsonSchema(schema, 'response', components) }]
  })
  return { description, content: Object.fromEntries(schemas) }
}

function toJsonSchema(
  schema: z.ZodType,
  part: 'body' | 'querystring' | 'params' | 'headers' | 'response',
  components: Map<string, JsonSchema>,
): JsonSchema {
  // A named schema becomes a reference if it is a property, as it does inside other schemas.
  const { properties, $defs } = withReferences(
    z.toJSONSchema(z.object({ schema }), {
      io: part === 'response' ? 'output' : 'input',
      override: ({ jsonSchema }) => {
        // The patterns of dates, UUIDs and numbers only repeat their formats.
        if (jsonSchema.format !== undefined || jsonSchema.type === 'integer') delete jsonSchema.pattern
        // A switch is parsed from the text `true` or `false`, so its enum would mislead.
        if (jsonSchema.type === 'boolean') delete jsonSchema.enum
        if (part === 'body') describeDefaults(jsonSchema)
        const { contentSchema } = jsonSchema
        if (contentSchema instanceof z.ZodType) jsonSchema.contentSchema = toJsonSchema(contentSchema, part, components)
      },
    }),
  )
  for (const [name, definition] of Object.entries($defs ?? {})) components.set(name, definition)
  const converted = properties?.schema
  return typeof converted === 'object' ? converted : {}
}

/**
 * Moves defaults into descriptions. Client generators treat a property with a `default` as always present, and would require it in
 * a request.
 */
function describeDefaults({ properties }: JsonSchema): void {
  for (const property of Object.values(properties ?? {})) {
    if (typeof property !== 'object' || property.default === undefined) continue
    const { description, default: value } = property
    const words = `Default: \`${JSON.stringify(value)}\`.`
    property.description = description === undefined ? words : `${description} ${words}`
    delete property.default
  }
}

function withReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
}
