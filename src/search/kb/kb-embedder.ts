import type { EmbeddingModel } from '../../models/embedding-model.ts'
import { EmbeddingsError, maxBatch } from '../../models/embeddings.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import type { IndexAddress } from '../index-host.ts'
import type { SearchPool } from '../search-pool.ts'
import type { EmbeddedText, EmbeddingWork, LackingText } from '../vectors/vector-index.ts'

/** Milliseconds until a failed attempt is repeated; each failure that follows doubles them. */
const firstPauseMs = 30_000
const longestPauseMs = 10 * 60_000
/** Texts in a row that the model refuses before this counts as its own fault. */
const maxRefused = 64
/** Milliseconds between two sweeps, and until a vector is removed that no chunk has. */
const sweepEveryMs = 24 * 3_600_000
const keptMs = 7 * 24 * 3_600_000

export type EmbedderOptions = {
  pool: SearchPool
  model: EmbeddingModel
  address: () => Promise<IndexAddress>
  now: () => Date
}

/** Gives the chunks of one knowledge base their vectors, in the background and batch by batch: what was answered stays if it is interrupted. */
export class KbEmbedder {
  readonly #options: EmbedderOptions
  readonly #closing = new AbortController()
  #progress: Pick<EmbeddingWork, 'embedded' | 'lacking'> = { embedded: 0, lacking: 0 }
  #failures = 0
  #refused = 0
  /** Set while the model is not to be asked. */
  #retry: NodeJS.Timeout | undefined
  #sweptAt: number | undefined

  constructor(options: EmbedderOptions) {
    this.#options = options
  }

  /** Chunks with a vector and chunks that lack one, as of the last batch. */
  get progress(): Pick<EmbeddingWork, 'embedded' | 'lacking'> {
    return this.#progress
  }

  /**
   * Brings the vectors into memory, and works until no chunk lacks one that the model could give, or the model fails: then it is not
   * asked for a while.
   */
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

  /** Leaves the request that is under way, and waits for the end of the work. */
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
      this.#progress = progress
      if (texts.length > 0 && this.#retry === undefined) await this.#embed(texts)
      else if (isWhole) break
    }
    await this.#sweep()
  }

  /** What the model refuses is asked for in halves, until the text is found that it does not take. */
  async #embed(texts: readonly LackingText[]): Promise<void> {
    try {
      const vectors = await this.#options.model.embed(
        texts.map(({ text }) => text),
        this.#closing.signal,
      )
      this.#refused = 0
      this.#failures = 0
      // A text without a vector among others that have one is asked for again with the next.
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
