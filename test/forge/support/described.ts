import { Ajv, type ValidateFunction } from 'ajv'
import { z } from 'zod'

const Content = z.object({ content: z.record(z.string(), z.object({ schema: z.looseObject({}) })).optional() })
const Reference = z.object({ $ref: z.string() })
const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  schema: z.looseObject({ enum: z.array(z.unknown()).optional() }),
})
const Operation = z.object({
  parameters: z.array(z.unknown()).optional(),
  requestBody: Content.optional(),
  responses: z.record(z.string(), z.union([Reference, Content])),
})
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** `answer` is left out where somebody else makes it: nothing is said of it then. */
export type Exchange = {
  method: string
  path: string
  query?: URLSearchParams
  sent: unknown
  status: number
  answer?: unknown
}
type Schema = Record<string, unknown>

/** A forge's published OpenAPI 3.0 description of its API, or a part of one. */
export class ForgeDescription {
  readonly #document: z.output<typeof Description>
  readonly #ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #examples = new Map<string, readonly unknown[]>()

  constructor(description: unknown) {
    this.#document = Description.parse(description)
    this.#ajv.addSchema(z.looseObject({}).parse(withNull(description)), 'api')
  }

  /** Returns the parts of a request, or of the status of its answer, that are not described, in words. */
  problemsOf({ method, path, query, sent, status, answer }: Exchange): string[] {
    const { paths } = this.#document
    const template = this.templateOf(path)
    const verb = method.toLowerCase()
    const found = template === undefined ? undefined : paths[template]?.[verb]
    if (template === undefined || found === undefined) return [`${method} ${path} is not described`]
    const { parameters = [], requestBody, responses } = Operation.parse(found)
    const pointer = `/paths/${encoded(template)}/${verb}`
    const schemaOf = (part: string) => `${pointer}/${part}/content/application~1json/schema`
    const wrong = hasJson(requestBody) ? this.#check(schemaOf('requestBody'), sent ?? {}) : []
    wrong.push(...this.#queryProblems(query, parameters))
    if (responses[status] === undefined) wrong.push(`the status ${status} is not described`)
    else if (answer !== undefined && hasJson(responses[status])) {
      wrong.push(...this.#check(schemaOf(`responses/${status}`), answer))
    }
    return wrong.map((text) => `${method} ${template}: ${text}`)
  }

  /** The path of the API that a path is one of: `/pulls/{number}` for `/pulls/7`. */
  templateOf(path: string): string | undefined {
    const templates = Object.keys(this.#document.paths).sort((a, b) => parametersIn(a) - parametersIn(b))
    return templates.find((known) => matches(known, path))
  }

  /**
   * Answers that a description allows: one with all that it names, and one with no more than it asks for and null wherever it may be.
   * Made once for all who ask.
   */
  examplesOf(method: string, template: string, status: number): readonly unknown[] {
    const key = `${method} ${template} ${status}`
    const examples = this.#examples.get(key) ?? this.#makeExamples(method, template, status)
    this.#examples.set(key, examples)
    return examples
  }

  #makeExamples(method: string, template: string, status: number): readonly unknown[] {
    const { responses } = Operation.parse(this.#document.paths[template]?.[method.toLowerCase()])
    const schema = Content.parse(responses[status]).content?.['application/json']?.schema ?? {}
    return [this.#example(schema, true), this.#example(schema, false)]
  }

  #queryProblems(query: URLSearchParams | undefined, parameters: readonly unknown[]): string[] {
    const known = parameters.map((parameter) => Parameter.parse(this.#resolved(parameter)))
    return [...(query ?? [])].flatMap(([name, value]) => {
      const found = known.find((parameter) => parameter.in === 'query' && parameter.name === name)
      const isAllowed = found !== undefined && (found.schema.enum?.includes(value) ?? true)
      return isAllowed ? [] : [`the query ${name}=${value} is not described`]
    })
  }

  #check(pointer: string, value: unknown): string[] {
    const validate = this.#compiled.get(pointer) ?? this.#ajv.compile({ $ref: `api#${pointer}` })
    this.#compiled.set(pointer, validate)
    return validate(value) ? [] : [this.#ajv.errorsText(validate.errors)]
  }

  /** @param above the schemas in which this one is: a repository may be the fork of a repository */
  #example(given: unknown, isFull: boolean, above: readonly unknown[] = []): unknown {
    const schema = this.#resolved(given)
    if (above.includes(schema)) return {}
    const within = [...above, schema]
    if (schema.nullable === true && !isFull) return null
    const [choice] = [schema.anyOf, schema.oneOf].filter(Array.isArray)
    if (choice !== undefined) return this.#example(isFull ? choice[0] : choice.at(-1), isFull, within)
    if (Array.isArray(schema.allOf)) {
      return Object.assign({}, ...schema.allOf.map((part: unknown) => this.#example(part, isFull, within)))
    }
    if (Array.isArray(schema.enum)) return schema.enum[0]
    if (schema.type === 'array') return isFull ? [this.#example(schema.items, isFull, within)] : []
    if (schema.properties !== undefined) {
      const required = Array.isArray(schema.required) ? schema.required : []
      const named = Object.entries(schema.properties as Schema).filter(([name]) => isFull || required.includes(name))
      return Object.fromEntries(named.map(([name, part]) => [name, this.#example(part, isFull, within)]))
    }
    return exampleOfType(schema)
  }

  #resolved(schema: unknown): Schema {
    const { $ref } = schema as Schema
    if (typeof $ref !== 'string') return schema as Schema
    const names = $ref.replace('#/', '').split('/')
    return this.#resolved(names.reduce<unknown>((part, name) => (part as Schema)[name], this.#document))
  }
}

function hasJson(part: unknown): boolean {
  return Content.safeParse(part).data?.content?.['application/json'] !== undefined
}

function exampleOfType({ type, format }: Schema): unknown {
  if (type === 'integer' || type === 'number') return 7
  if (type === 'boolean') return false
  if (format === 'date-time') return '2026-01-02T03:04:05Z'
  return type === 'string' ? 'https://forge.example.org/7' : {}
}

function parametersIn(template: string): number {
  return template.split('{').length
}

function matches(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith('{') || part === given[at])
}

/** A name in a JSON pointer that stands in a URI fragment. */
function encoded(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** OpenAPI 3.0 says `nullable`, also of what has no type of its own, and JSON Schema does not. */
function withNull(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withNull)
  if (typeof part !== 'object' || part === null) return part
  const { nullable, ...rest } = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withNull(value)]))
  return nullable === true ? { anyOf: [{ type: 'null' }, rest] } : rest
}
