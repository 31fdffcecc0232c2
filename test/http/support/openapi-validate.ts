import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'
import type { ZodFastify } from '../../../src/http/zod-compilers.ts'

/** An answer of the server, however it was asked. Names of headers in lower case. */
export type Answer = {
  method: string
  /** Path and query. */
  url: string
  status: number
  headers: Readonly<Record<string, string | undefined>>
  /** Body as received. */
  body: string
}

const DescribedResponse = z.object({
  headers: z.record(z.string(), z.object({ schema: z.looseObject({ type: z.string() }) })).default({}),
  content: z.record(z.string(), z.looseObject({})).default({}),
})
const Operation = z.looseObject({ responses: z.record(z.string(), DescribedResponse) })
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

/** Pages for people, and a protocol that describes itself: described by no schema. */
const undescribed = /^\/docs(?:\/|$)/
const protocol = /^\/mcp\/?$/

/**
 * Makes a check of answers against an OpenAPI 3.1 document. The check throws for a status, a content type, a body or a
 * header that the document does not describe; what is at no described path must be an error in the envelope.
 */
export function openapiValidator(description: unknown): (answer: Answer) => void {
  const { paths } = Document.parse(description)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(z.looseObject({}).parse(description), 'api')
  const compiled = new Map<string, ValidateFunction>()

  const validate = (pointer: string, value: unknown, { method, url, status }: Answer) => {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` })
    compiled.set(pointer, check)
    if (check(value)) return
    throw new Error(
      `${method} ${url} → ${status} breaks ${pointer}: ${ajv.errorsText(check.errors)}\n${JSON.stringify(value)}`,
    )
  }

  return (answer) => {
    const { method, url, status, headers, body } = answer
    const path = url.split('?', 1)[0] ?? url
    if (headers['x-request-id'] === undefined) throw new Error(`${method} ${url} → ${status} has no x-request-id`)
    if (protocol.test(path)) return
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const template = findTemplate(Object.keys(paths), path)
    const operation = template === undefined ? undefined : paths[template]?.[verb]
    if (template === undefined || operation === undefined) {
      if (undescribed.test(path) && status < 400) return
      if (status < 400) throw new Error(`${method} ${url} → ${status} is not described`)
      if (method !== 'HEAD') validate('/components/schemas/Error', JSON.parse(body), answer)
      return
    }
    const response = operation.responses[status]
    if (response === undefined && method === 'HEAD' && status === 405) return
    if (response === undefined) throw new Error(`${method} ${url} → ${status} is not described: ${body}`)
    const pointer = `/paths/${pointerPart(template)}/${verb}/responses/${status}`
    for (const [name, { schema }] of Object.entries(response.headers)) {
      const value = headers[name.toLowerCase()]
      validate(`${pointer}/headers/${name}/schema`, schema.type === 'integer' ? Number(value) : value, answer)
    }
    if (Object.keys(response.content).length === 0 && body === '') return
    const mediaType = headers['content-type']?.split(';', 1)[0] ?? ''
    if (response.content[mediaType] === undefined) throw new Error(`${method} ${url} → ${status} is ${mediaType}`)
    if (method === 'HEAD') return
    validate(
      `${pointer}/content/${pointerPart(mediaType)}/schema`,
      mediaType === 'application/json' ? JSON.parse(body) : body,
      answer,
    )
  }
}

const validators = new Map<string, (answer: Answer) => void>()

/**
 * Checks an answer of a server against the server's own description. The description is made once in a process, since all
 * servers have the same, but for the name of their cookie.
 */
export function validateAnswer(app: ZodFastify, answer: Answer): void {
  const { cookie } = app.sessions
  const validate = validators.get(cookie) ?? openapiValidator(app.swagger())
  validators.set(cookie, validate)
  validate(answer)
}

/** A `fetch` of paths of a running server that checks every answer against the server's own description. */
export async function validatingFetch(
  baseUrl: string,
): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const validate = openapiValidator(await (await fetch(`${baseUrl}/openapi.json`)).json())
  return async (url, init) => {
    const response = await fetch(`${baseUrl}${url}`, init)
    const { status, headers } = response
    const body = await response.clone().text()
    validate({ method: init?.method ?? 'GET', url, status, headers: Object.fromEntries(headers), body })
    return response
  }
}

/** The template that a path fits; one without parameters first, then the longest. */
function findTemplate(templates: readonly string[], path: string): string | undefined {
  const fits = (template: string) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path)
  return (
    templates.find((template) => template === path) ?? templates.filter(fits).sort((a, b) => b.length - a.length)[0]
  )
}

function pointerPart(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
}
