import { LRUCache } from 'lru-cache'
import { type EmbeddingModel, EmbeddingsError, maxBatch } from '../../models/embeddings.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import type { IndexAddress } from '../index-host.ts'
import type { SearchPool } from '../search-pool.ts'
import type { EmbeddedText, EmbeddingWork, LackingText } from '../vectors/vector-index.ts'

/** Milliseconds until a failed attempt is retried, doubled with each further failure. */
const firstPauseMs = 30_000
const longestPauseMs = 10 * 60_000
/** Consecutive rejected texts that count as a failure of the model. */
const maxRefused = 64
/** Milliseconds between two sweeps, and until an unused vector is removed. */
const sweepEveryMs = 24 * 3_600_000
const keptMs = 7 * 24 * 3_600_000

const maxQuestions = 100

export type EmbedderOptions = {
  pool: SearchPool
  model: EmbeddingModel
  address: () => Promise<IndexAddress>
  now: () => Date
}

/** Embeds the chunks of one knowledge base in the background, batch by batch. Finished batches survive an interruption. */
export class KbEmbedder {
  readonly #options: EmbedderOptions
  readonly #closing = new AbortController()
  /** Numbers of chunks with and without a vector, as of the last batch. */
  progress: Pick<EmbeddingWork, 'embedded' | 'lacking'> = { embedded: 0, lacking: 0 }
  /** Vectors of recent questions: the next page of results must not cost another request. */
  readonly #questions = new LRUCache<string, Promise<Float32Array | undefined>>({ max: maxQuestions })
  #failures = 0
  #refused = 0
  /** Timer that is set while requests to the model are suspended. */
  #retry: NodeJS.Timeout | undefined
  #sweptAt: number | undefined

  constructor(options: EmbedderOptions) {
    this.#options = options
  }

  /** Returns the vector of a question; undefined if no chunk has one to compare, or the model does not answer in time. */
  async question(text: string): Promise<Float32Array | undefined> {
    if (this.progress.embedded === 0) return undefined
    const vector = this.#questions.get(text) ?? this.#options.model.question(text)
    this.#questions.set(text, vector)
    const found = await vector
    if (found === undefined && this.#questions.get(text) === vector) this.#questions.delete(text)
    return found
  }

  /** Loads the vectors, and works until every chunk has one that the model can give, or the model fails: then it pauses. */
  readonly run = coalesce(async () => {
    try {
      await this.#work()
    } catch (error) {
      if (this.#closing.signal.aborted) return
      this.#options.model.noteFailure(error)
      const pause = Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs)
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => {
        this.#retry = undefined
        this.run()
      }, pause).unref()
    }
  })

  /** Aborts the current request, and waits for the end of the work. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The knowledge base is closed.'))
    await this.run()
    clearTimeout(this.#retry)
  }

  async #work(): Promise<void> {
    const { pool, address } = this.#options
    for (;;) {
      this.#closing.signal.throwIfAborted()
      const { texts, isWhole, ...progress } = await pool.ask(await address(), 'nextTexts', { limit: maxBatch })
      this.progress = progress
      if (texts.length > 0 && this.#retry === undefined) await this.#embed(texts)
      else if (isWhole) break
    }
    await this.#sweep()
  }

  /** Embeds texts. Halves a rejected batch until the rejected text is found. */
  async #embed(texts: readonly LackingText[]): Promise<void> {
    try {
      const vectors = await this.#options.model.embed(
        texts.map(({ text }) => text),
        this.#closing.signal,
      )
      this.#refused = 0
      this.#failures = 0
      // Later batches retry a text that an otherwise successful response left out.
      await this.#add(texts.map(({ hash }, index) => ({ hash, vector: vectors[index] })).filter(({ vector }) => vector))
    } catch (error) {
      if (!(error instanceof EmbeddingsError) || error.reason !== 'refused') throw error
      if (texts.length > 1) {
        const half = Math.ceil(texts.length / 2)
        await this.#embed(texts.slice(0, half))
        await this.#embed(texts.slice(half))
        return
      }
      if (++this.#refused > maxRefused) throw error
      await this.#add(texts.map(({ hash }) => ({ hash, vector: undefined })))
    }
  }

  async #add(vectors: EmbeddedText[]): Promise<void> {
    await this.#options.pool.ask(await this.#options.address(), 'addVectors', { vectors })
  }

  async #sweep(): Promise<void> {
    const now = this.#options.now().getTime()
    if (this.#sweptAt !== undefined && now - this.#sweptAt < sweepEveryMs) return
    this.#sweptAt = now
    await this.#options.pool.ask(await this.#options.address(), 'sweepVectors', { now, before: now - keptMs })
  }
}
