import { parentPort } from 'node:worker_threads'
import { IndexHost } from './index-host.ts'

/** One call from the main thread; `method` is one of the host's. */
export type SearchCall = { id: number; request: Parameters<IndexHost['handle']>[0] }
export type SearchReply = { id: number; result: unknown } | { id: number; error: { name: string; message: string } }

const host = new IndexHost()

parentPort?.on('message', ({ id, request }: SearchCall) => {
  parentPort?.postMessage(reply(id, request))
})

function reply(id: number, request: SearchCall['request']): SearchReply {
  try {
    return { id, result: host.handle(request) }
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    return { id, error: { name, message } }
  }
}
