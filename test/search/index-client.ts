import { randomUUID } from 'node:crypto'
import { IndexHost, type IndexRequests } from '../../src/search/index-host.ts'
import type { Engine, IndexedDocument } from '../../src/search/search-index.ts'
import { curator, tool } from './support.ts'

const questions = ['ticket', 'lead OR 東京', '"w3 lead"', 'cal*', 'ticket -lead', 'end page', 'later']

/** Asks one index of a host as the server does. */
export class IndexClient {
  readonly #host: IndexHost
  readonly #address: { directory: string; language: string; engine: Engine }
  #stamp = ''

  constructor(
    directory: string,
    { engine = 'minisearch', host = new IndexHost() }: { engine?: Engine; host?: IndexHost } = {},
  ) {
    this.#host = host
    this.#address = { directory, language: 'en', engine }
  }

  /** Brings the index to hold just these pages, a few at a time. */
  follow(pages: readonly IndexedDocument[]): void {
    const versions = this.versions()
    const put = pages.filter(({ key, version }) => versions.get(key) !== version)
    for (const { key } of pages) versions.delete(key)
    this.apply({ put: [], remove: [...versions.keys()] })
    for (let start = 0; start < put.length; start += 20) this.apply({ put: put.slice(start, start + 20), remove: [] })
  }

  versions(): Map<string, string> {
    const address = this.#address
    const answer = this.#host.handle({ address, method: 'versions', argument: { after: '' } })
    const { stamp, versions } = answer as IndexRequests['versions']['result']
    this.#stamp = stamp
    return new Map(versions)
  }

  apply(changes: { put: readonly IndexedDocument[]; remove: readonly string[] }): void {
    const newStamp = randomUUID()
    const argument = { ...changes, stamp: this.#stamp, newStamp }
    this.#host.handle({ address: this.#address, method: 'apply', argument })
    this.#stamp = newStamp
  }

  search(q: string): unknown {
    return this.#host.handle({
      address: this.#address,
      method: 'search',
      argument: { stamp: this.#stamp, q, scope: curator },
    })
  }

  /** Returns search and retrieve results of all kinds. */
  answers(): unknown[] {
    const [address, stamp] = [this.#address, this.#stamp]
    return questions.flatMap((q) =>
      [curator, tool].flatMap((scope) => [
        this.#host.handle({ address, method: 'search', argument: { stamp, q, scope } }),
        this.#host.handle({ address, method: 'retrieve', argument: { stamp, question: q, scope, reach: 'chunk' } }),
      ]),
    )
  }

  close(): void {
    this.#host.handle({ address: this.#address, method: 'close', argument: undefined })
  }
}
