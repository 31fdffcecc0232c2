import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { listening } from '../../support/listening.ts'

/** `losing`: what is asked is done, and the answer is lost. */
export type StoreMode = 'serving' | 'failing' | 'hanging' | 'losing'

/** Stands before an HTTP server and breaks it on request, for the running test. */
export class FaultyProxy {
  readonly url: string
  mode: StoreMode = 'serving'
  /** Requests that were sent on, by method. */
  readonly counts = new Map<string, number>()

  private constructor(url: string) {
    this.url = url
  }

  /** @param origin of the server */
  static async before(origin: string): Promise<FaultyProxy> {
    let proxy: FaultyProxy | undefined
    const server = createServer((incoming, answer) => proxy?.serve(origin, incoming, answer))
    proxy = new FaultyProxy(await listening(server))
    return proxy
  }

  serve(origin: string, incoming: IncomingMessage, answer: ServerResponse): void {
    const { mode } = this
    const { method = '', url, headers } = incoming
    if (mode === 'hanging') return void incoming.resume()
    if (mode === 'failing') {
      incoming.resume()
      answer.writeHead(500).end('<Error><Code>InternalError</Code></Error>')
      return
    }
    this.counts.set(method, (this.counts.get(method) ?? 0) + 1)
    const onward = request(new URL(url ?? '', origin), { method, headers }, (response) => {
      if (mode === 'losing') {
        response.resume().once('end', () => answer.destroy())
        return
      }
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
      response.once('error', () => answer.destroy())
    })
    onward.once('error', () => answer.destroy())
    incoming.pipe(onward)
  }
}
