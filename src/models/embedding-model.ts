import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { Embeddings, EmbeddingsError } from './embeddings.ts'
import type { LanguageModel } from './language-model.ts'

/** Of texts, which nobody waits for, and of a question, for which somebody does: a second attempt is for a broken connection. */
const textLimits = { timeoutMs: 60_000, maxRetries: 2 }
const questionLimits = { timeoutMs: 1_000, maxRetries: 1 }
/** UTF-16 units of a question that are asked about: small models take some hundred words. */
const maxQuestion = 2_000

/** A model, and what is written before each text and each question, since some models were taught with it: `passage: `, `query: `. */
export type EmbeddingEndpoint = LanguageModel & { textPrefix?: string; questionPrefix?: string }

export type EmbeddingModelOptions = {
  /** Is told why the model fails: once, until it has answered again. */
  failed: (message: string) => void
  /** Milliseconds. */
  questionTimeoutMs?: number
  breakers?: { texts: CircuitBreaker; questions: CircuitBreaker }
}

export type EmbeddingCounts = { texts: number; questions: number; failures: number }

/** The model of embeddings of a server: asked for one batch of texts at a time, so that it has time for questions. */
export class EmbeddingModel {
  /** What the vectors of its texts are known by. */
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
    // A model that is too slow for a question can still work through the texts: each has a breaker of its own.
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

  /** The vector of a question; undefined where the model does not give it in time. */
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

  /** Counts and tells of a failure, but for requests that were not sent. */
  noteFailure(error: unknown): void {
    if (error instanceof EmbeddingsError && error.reason === 'paused') return
    this.#counts.failures++
    if (this.#isFailing) return
    this.#isFailing = true
    this.#failed(error instanceof Error ? error.message : String(error))
  }
}
