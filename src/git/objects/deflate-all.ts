import { TaskFailed, TaskPool } from '../../system/task-pool.ts'
import { deflateObject, type Joined, join, split } from './deflate-worker.ts'

/** Maximum bytes to compress on the calling thread: some 10 ms. */
const soonBytes = 512 * 1024
/** Maximum bytes of a task, which bounds the bytes that are copied to and from the thread at once. */
const taskBytes = 4 * 1024 * 1024
/** URL of the worker, which has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./deflate-worker${import.meta.url.slice(-3)}`, import.meta.url)
/** Thread pool of the whole process. It does not keep the process alive. */
const pool = new TaskPool<Joined, Joined>({ worker, timeLimitMs: 60_000, maxTasks: 1000 })

/** Compresses objects for a pack, in the given order. Many are compressed by a thread, so that they do not block the event loop. */
export async function deflateAll(plains: readonly Buffer[]): Promise<Buffer[]> {
  const size = plains.reduce((sum, { length }) => sum + length, 0)
  if (size <= soonBytes) return plains.map(deflateObject)
  const bodies: Buffer[][] = []
  for (const task of tasksOf(plains)) bodies.push(await deflateTask(task))
  return bodies.flat()
}

function* tasksOf(plains: readonly Buffer[]): Generator<Buffer[]> {
  let task: Buffer[] = []
  let size = 0
  for (const plain of plains) {
    task.push(plain)
    size += plain.length
    if (size < taskBytes) continue
    yield task
    task = []
    size = 0
  }
  yield task
}

async function deflateTask(task: readonly Buffer[]): Promise<Buffer[]> {
  try {
    return split(await pool.run(join(task)))
  } catch (error) {
    if (!(error instanceof TaskFailed)) throw error
    return task.map(deflateObject)
  }
}
