import { parentPort } from 'node:worker_threads'
import { giveMemoryBackWhenIdle } from '../system/idle-memory.ts'
import { IndexHost } from './index-host.ts'

/** A call from the main thread. */
export type SearchCall = { id: number; request: Parameters<IndexHost['handle']>[0] }
export type SearchReply = { id: number; result: unknown } | { id: number; error: PlainError }

/** An error between threads: the name of its class, its message, and the codes of SQLite and the file system. */
export type PlainError = Pick<Error, 'name' | 'message' | 'stack'> & { details: Record<string, unknown> }

const host = new IndexHost()
giveMemoryBackWhenIdle()

parentPort?.on('message', ({ id, request }: SearchCall) => {
  parentPort?.postMessage(reply(id, request))
})

function reply(id: number, request: SearchCall['request']): SearchReply {
  try {
    return { id, result: host.handle(request) }
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const { name } = error.constructor
    const { message, stack } = error
    return { id, error: { name, message, ...(stack === undefined ? {} : { stack }), details: { ...error } } }
  }
}
