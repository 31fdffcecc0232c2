import { GanglionError } from '../../contract/errors.ts'
import { TaskFailed, TaskPool } from '../../system/task-pool.ts'
import type { Answer, Answerer, Question } from '../answerer.ts'
import { answerFrom, type Extract } from './say-extract.ts'

/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./extract-worker${import.meta.url.slice(-3)}`, import.meta.url)

/** Answers as `extractAnswerer` does, in a thread, since reading twenty passages holds up whatever else happens. */
export class ExtractPool implements Answerer {
  readonly #pool = new TaskPool<Question, Extract>({ worker, timeLimitMs: 15_000, maxTasks: 100 })

  /** @throws {GanglionError} `unavailable` where too many questions wait. */
  async *answer(question: Question, signal: AbortSignal): AsyncGenerator<string, Answer> {
    signal.throwIfAborted()
    const extract = await this.#extract(question)
    signal.throwIfAborted()
    return yield* answerFrom(extract, question)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  async #extract(question: Question): Promise<Extract> {
    try {
      return await this.#pool.run(question)
    } catch (error) {
      throw error instanceof TaskFailed ? new GanglionError('unavailable') : error
    }
  }
}
