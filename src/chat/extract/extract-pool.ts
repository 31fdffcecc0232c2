import { GanglionError } from '../../contract/errors.ts'
import { TaskFailed, TaskPool } from '../../system/task-pool.ts'
import type { Answer, Answerer, Question } from '../answerer.ts'
import { answerFrom, type Extract } from '../refused-answer.ts'

/** Path of the worker module: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./extract-passages${import.meta.url.slice(-3)}`, import.meta.url)

/** Answers with an extract, made in a thread, because reading the passages would block the event loop. */
export class ExtractPool implements Answerer {
  readonly #pool = new TaskPool<Question, Extract>({ worker, timeLimitMs: 15_000, maxTasks: 100 })

  /** Answers in the thread. @throws {GanglionError} `unavailable` if too many questions wait */
  async *answer(question: Question, signal: AbortSignal): AsyncGenerator<string, Answer> {
    signal.throwIfAborted()
    const found = await this.#pool.run(question).catch((error: unknown) => {
      throw error instanceof TaskFailed ? new GanglionError('unavailable') : error
    })
    signal.throwIfAborted()
    return yield* answerFrom(found, question)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
