import type { OpenAI } from 'openai'
import { z } from 'zod'
import { parseJson } from '../../../contract/json.ts'
import { CircuitBreaker, ModelPaused, ModelSilent } from '../../../models/circuit-breaker.ts'
import { boundedFetch, clientOf, type LanguageModel } from '../../../models/language-model.ts'
import { CompilerModelError, type ModelGap } from './model-draft.ts'

export type CompilerModelOptions = LanguageModel & {
  /** Time limit of a request, from its first attempt to the end of the answer. */
  timeoutMs: number
  /** Retries after connection errors, 408, 409, 429 and 5xx. */
  maxRetries: number
  /** Circuit breaker shared by all requests to the model. */
  breaker?: CircuitBreaker
}

export type ModelRequest<Answer> = {
  system: string
  user: string
  /** Schema of the answer. */
  schema: z.ZodType<Answer>
  name: string
}

/** Maximum bytes of an answer. */
const maxAnswer = 1_000_000

const Completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
})

/** Additional parameters of a request, tried in order until the endpoint accepts them. */
const dialects = ['schema', 'temperature', 'plain'] as const
/** Statuses by which an endpoint refuses an unknown parameter. */
const unknownParameter: ReadonlySet<number | undefined> = new Set([400, 415, 422, 501])

type Loaded = { client: OpenAI; module: typeof import('openai') }

export class ModelClient {
  readonly #options: CompilerModelOptions
  readonly #breaker: CircuitBreaker
  #loading: Promise<Loaded> | undefined
  #dialect = 0

  constructor(options: CompilerModelOptions) {
    this.#options = options
    this.#breaker = options.breaker ?? new CircuitBreaker()
  }

  get model(): string {
    return this.#options.model
  }

  /** Requests an object from the model. @throws {CompilerModelError} and the signal's reason if it has aborted */
  async ask<Answer>(request: ModelRequest<Answer>, signal: AbortSignal): Promise<Answer> {
    this.#loading ??= load(this.#options)
    const loaded = await this.#loading
    const { data, error } = request.schema.safeParse(objectIn(await this.#complete(loaded, request, signal)))
    if (data !== undefined) return data
    throw new CompilerModelError('invalid', 'The language model did not answer in the form that was asked for.', {
      cause: error,
    })
  }

  #complete(loaded: Loaded, request: ModelRequest<unknown>, signal: AbortSignal): Promise<string> {
    const { timeoutMs } = this.#options
    const failed = (error: unknown) => modelError(error, loaded.module)
    return this.#breaker.request((ending) => this.#ask(loaded, request, ending), { signal, timeoutMs, failed })
  }

  async #ask(loaded: Loaded, request: ModelRequest<unknown>, signal: AbortSignal): Promise<string> {
    for (;;) {
      const dialect = this.#dialect
      const body = { model: this.#options.model, messages: messagesOf(request), ...parametersOf(dialect, request) }
      try {
        return textIn(await loaded.client.chat.completions.create(body, { signal }))
      } catch (error) {
        const isUnknown = error instanceof loaded.module.APIError && unknownParameter.has(error.status)
        const isLast = dialect + 1 === dialects.length
        if (isUnknown) this.#dialect = isLast ? 0 : dialect + 1
        if (!isUnknown || isLast) throw error
      }
    }
  }
}

/** Returns the messages, which repeat the schema in words: many servers accept the parameter for it and ignore it. */
function messagesOf({ system, user, schema }: ModelRequest<unknown>) {
  const form = `Answer with one JSON object and nothing else, by this JSON Schema:\n${JSON.stringify(z.toJSONSchema(schema))}`
  return [
    { role: 'system' as const, content: `${system}\n\n${form}` },
    { role: 'user' as const, content: user },
  ]
}

function parametersOf(dialect: number, { name, schema }: ModelRequest<unknown>) {
  if (dialects[dialect] === 'plain') return {}
  if (dialects[dialect] === 'temperature') return { temperature: 0 }
  const json_schema = { name, strict: true, schema: z.toJSONSchema(schema) }
  return { temperature: 0, response_format: { type: 'json_schema' as const, json_schema } }
}

async function load({ timeoutMs, maxRetries, ...model }: CompilerModelOptions): Promise<Loaded> {
  const tooLong = () => new CompilerModelError('invalid', 'The answer of the language model is too long.')
  const fetch = boundedFetch({ timeoutMs, maxBytes: maxAnswer, tooLong })
  const client = await clientOf(model, { use: 'compile', timeout: timeoutMs, maxRetries, fetch })
  return { client, module: await import('openai') }
}

function textIn(answer: unknown): string {
  const choice = Completion.safeParse(answer).data?.choices[0]
  if (choice === undefined) throw new CompilerModelError('invalid', 'What answered is no language model.')
  const { message, finish_reason: end } = choice
  if (message.refusal || end === 'content_filter')
    throw new CompilerModelError('refused', 'The language model refused to answer.')
  return message.content ?? ''
}

/** Returns the JSON object in a text, which may be in fenced code. */
function objectIn(text: string): unknown {
  const said = text.replace(/^\s*<think>[\s\S]*?<\/think>/, '')
  const [begin, end] = [said.indexOf('{'), said.lastIndexOf('}')]
  return parseJson(said.slice(Math.max(begin, 0), end + 1))
}

function modelError(error: unknown, { APIConnectionTimeoutError, APIConnectionError, APIError }: Loaded['module']) {
  if (error instanceof CompilerModelError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const isTimeout =
    error instanceof ModelSilent || (error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name))
  let gap: ModelGap = 'invalid'
  if (error instanceof ModelPaused) gap = 'paused'
  else if (error instanceof APIConnectionTimeoutError || isTimeout) gap = 'slow'
  else if (error instanceof APIConnectionError || error instanceof TypeError) gap = 'unreachable'
  else if (error instanceof APIError) gap = 'error'
  return new CompilerModelError(gap, `The language model failed: ${reason}`, { cause: error })
}
