import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { Embeddings, EmbeddingsError } from './embeddings.ts'
import type { LanguageModel } from './language-model.ts'

/** Timeouts and retries for texts, which no caller waits for, and for a question, which one does. A retry is for a broken connection. */
const textLimits = { timeoutMs: 60_000, maxRetries: 2 }
const questionLimits = { timeoutMs: 1_000, maxRetries: 1 }
/** Maximum UTF-16 units of a question: small models accept some hundred words. */
const maxQuestion = 2_000

/** A model, and the prefixes of texts and questions that some models were trained with: `passage: `, `query: `. */
export type EmbeddingEndpoint = LanguageModel & { textPrefix?: string; questionPrefix?: string }

export type EmbeddingModelOptions = {
  /** Receives the reason when the model fails: once, until it has answered again. */
  failed: (message: string) => void
  /** Timeout in milliseconds. */
  questionTimeoutMs?: number
  breakers?: { texts: CircuitBreaker; questions: CircuitBreaker }
}

export type EmbeddingCounts = { texts: number; questions: number; failures: number }

/** The embeddings model of a server. Sends one batch of texts at a time, so that it has time for questions. */
export class EmbeddingModel {
  /** Name that identifies its vectors. */
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

  /** See `Embeddings.embed`. @throws {EmbeddingsError} and the signal's reason once it aborts. */
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
