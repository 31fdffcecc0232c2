import type { OpenAI } from 'openai'
import { z } from 'zod'
import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import { CircuitBreaker, ModelPaused, ModelUnusable } from './circuit-breaker.ts'
import { boundedFetch, clientOf, type LanguageModel, withoutKey } from './language-model.ts'

/** Timeout of a request with all its attempts, and retries after 408, 409, 429, 5xx and broken connections. */
export type EmbeddingLimits = { timeoutMs: number; maxRetries: number }

/**
 * Thrown if vectors are missing. `paused`: requests are suspended after a failure. `refused`: the model rejects this request,
 * and would again. `failed`: a retry may help. The message is for operators and contains no key.
 */
export class EmbeddingsError extends Error {
  override readonly name = 'EmbeddingsError'
  readonly reason: 'paused' | 'refused' | 'failed'

  constructor(reason: EmbeddingsError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Maximum texts of one request, as many as small servers accept. */
export const maxBatch = 32
const maxDimensions = 8192
/** Maximum bytes of an answer: a batch of the longest vectors, each component with 20 digits. */
const maxAnswer = maxBatch * maxDimensions * 24
/** Statuses that concern the request and not the server. */
const ofRequests: ReadonlySet<unknown> = new Set([400, 413, 422])

/** Thrown if the response has no vector for any of the texts. */
class NoVectors extends Error {
  override readonly name = 'NoVectors'
}

/** Response of the endpoint; embeddings are validated one by one. */
const Answer = z.object({ data: z.array(z.object({ index: z.int().optional(), embedding: z.unknown() })) })

/** Client of a model that turns texts into vectors, by an endpoint compatible with OpenAI's `/v1/embeddings`. */
export class Embeddings {
  readonly #model: LanguageModel
  readonly #limits: EmbeddingLimits
  readonly #breaker: CircuitBreaker
  #client: Promise<OpenAI> | undefined

  constructor(model: LanguageModel, limits: EmbeddingLimits, breaker = new CircuitBreaker()) {
    this.#model = model
    this.#limits = limits
    this.#breaker = breaker
  }

  /**
   * Returns a vector for each of at most 32 texts, in order, all of one length. Undefined for a text whose vector is missing or
   * unusable: with infinite components, or all zeros.
   * @throws {EmbeddingsError} also if there is no vector at all; the signal's reason once it aborts
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | undefined)[]> {
    const { timeoutMs } = this.#limits
    const failed = (cause: unknown) => this.#error(cause)
    const send = async (ending: AbortSignal) => vectorsOf(await this.#ask(texts, ending), texts.length)
    return this.#breaker.request(send, { signal, timeoutMs, failed })
  }

  async #ask(texts: readonly string[], signal: AbortSignal): Promise<unknown> {
    this.#client ??= this.#load()
    const client = await this.#client
    // The client requests base64 by default, which not every server supports.
    const request = { model: this.#model.model, input: [...texts], encoding_format: 'float' as const }
    try {
      return await client.embeddings.create(request, { signal })
    } catch (cause) {
      throw cause instanceof SyntaxError ? new ModelUnusable('its answer is no JSON', { cause }) : cause
    }
  }

  #load(): Promise<OpenAI> {
    const { timeoutMs, maxRetries } = this.#limits
    const tooLong = () => new ModelUnusable('its answer is too long')
    const bounded = boundedFetch({ timeoutMs, maxBytes: maxAnswer, tooLong })
    return clientOf(this.#model, {
      ...{ use: 'embeddings', timeout: timeoutMs, maxRetries },
      // Texts and the key must not follow a redirect to another address.
      fetch: (input, init) => bounded(input, { ...init, redirect: 'error' }),
    })
  }

  #error(cause: unknown): EmbeddingsError {
    const isRefusal =
      cause instanceof NoVectors || (cause instanceof Error && 'status' in cause && ofRequests.has(cause.status))
    const reason = cause instanceof ModelPaused ? 'paused' : isRefusal ? 'refused' : 'failed'
    const message = cause instanceof Error ? cause.message : String(cause)
    return new EmbeddingsError(reason, withoutKey(this.#model, `The embeddings model failed: ${message}`), { cause })
  }
}

function vectorsOf(answer: unknown, count: number): (Float32Array | undefined)[] {
  const { data } = Answer.safeParse(answer)
  if (data === undefined) throw new ModelUnusable('its answer holds no embeddings')
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined)
  let dimensions: number | undefined
  for (const [position, { index = position, embedding }] of data.data.entries()) {
    const vector = vectorOf(embedding)
    if (vector === undefined || index < 0 || index >= count) continue
    dimensions ??= vector.length
    if (vector.length !== dimensions) throw new ModelUnusable('its vectors are of different lengths')
    vectors[index] = vector
  }
  if (dimensions === undefined) throw new NoVectors('its answer holds no vector that is of use')
  return vectors
}

function vectorOf(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > maxDimensions) return undefined
  if (!embedding.every((component) => typeof component === 'number')) return undefined
  const vector = Float32Array.from(embedding)
  return vector.every(Number.isFinite) && vector.some((component) => component !== 0) ? vector : undefined
}

/** Timeouts and retries for texts, which no caller waits for, and for a question, which one does. A retry is for a broken connection. */
const textLimits = { timeoutMs: 60_000, maxRetries: 2 }
const questionLimits = { timeoutMs: 1_000, maxRetries: 1 }
/** Maximum UTF-16 units of a question: small models accept some hundred words. */
const maxQuestion = 2_000

/** A model, and the prefixes of texts and questions that some models were trained with: `passage: `, `query: `. */
export type EmbeddingEndpoint = LanguageModel & { textPrefix?: string; questionPrefix?: string }

export type EmbeddingModelOptions = {
  /** Callback for the reason of a failure: called once, until the model has responded again. */
  failed: (message: string) => void
  /** Timeout in milliseconds. */
  questionTimeoutMs?: number
  breakers?: { texts: CircuitBreaker; questions: CircuitBreaker }
}

export type EmbeddingCounts = { texts: number; questions: number; failures: number }

/** The embeddings model of a server. Sends one batch of texts at a time, so that it has time for questions. */
export class EmbeddingModel {
  /** Name that identifies the vectors of this model. */
  readonly name: string
  readonly #prefixes: { text: string; question: string }
  readonly #ofTexts: Embeddings
  readonly #ofQuestions: Embeddings
  readonly #turns = new KeyedLock()
  readonly #failed: EmbeddingModelOptions['failed']
  #isFailing = false
  readonly #counts = { texts: 0, questions: 0, failures: 0 }

  constructor(model: EmbeddingEndpoint, { failed, questionTimeoutMs, breakers }: EmbeddingModelOptions) {
    const { textPrefix = '', questionPrefix = '' } = model
    this.name = textPrefix === '' ? model.model : `${model.model} ${JSON.stringify(textPrefix)}`
    this.#prefixes = { text: textPrefix, question: questionPrefix }
    // Separate circuit breakers: a model too slow for questions can still embed texts.
    this.#ofTexts = new Embeddings(model, textLimits, breakers?.texts)
    const timeoutMs = questionTimeoutMs ?? questionLimits.timeoutMs
    this.#ofQuestions = new Embeddings(model, { ...questionLimits, timeoutMs }, breakers?.questions)
    this.#failed = failed
  }

  get counts(): EmbeddingCounts {
    return { ...this.#counts }
  }

  /** Embeds texts, see `Embeddings.embed`. @throws {EmbeddingsError}; the signal's reason once it aborts */
  embed(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | undefined)[]> {
    return this.#turns.run('', async () => {
      this.#counts.texts += texts.length
      const asked = texts.map((text) => this.#prefixes.text + text)
      const vectors = await this.#ofTexts.embed(asked, signal)
      this.#isFailing = false
      return vectors
    })
  }

  /** Returns the vector of a question; undefined if the model does not answer in time. */
  async question(text: string): Promise<Float32Array | undefined> {
    this.#counts.questions++
    try {
      const [vector] = await this.#ofQuestions.embed(
        [this.#prefixes.question + text.slice(0, maxQuestion).toWellFormed()],
        new AbortController().signal,
      )
      return vector
    } catch (error) {
      this.noteFailure(error)
      return undefined
    }
  }

  /** Counts and reports a failure, unless the request was not sent. */
  noteFailure(error: unknown): void {
    if (error instanceof EmbeddingsError && error.reason === 'paused') return
    this.#counts.failures++
    if (this.#isFailing) return
    this.#isFailing = true
    this.#failed(error instanceof Error ? error.message : String(error))
  }
}
