import { IndexHost } from '../../src/search/index-host.ts'
import type { IndexedDocument } from '../../src/search/search-index.ts'
import { IndexClient } from './index-client.ts'
import { page } from './support.ts'

const words = ['ticket', 'lead', 'calendar', 'office', 'later', '東京', 'on-call', 'rotation']

/** One of many pages in one of its versions, which tells all of it. */
export function pageOf(version: string): IndexedDocument {
  const [key = '', round = ''] = version.split(' ')
  const seed = Number(key.slice(2)) * 31 + Number(round)
  const texts = Array.from({ length: 1 + (seed % 4) }, (_, n) =>
    Array.from({ length: 30 }, (_, m) => `${words[(seed + n * m) % words.length]} w${(seed * m + n) % 97}`).join(' '),
  )
  return page(key, texts, {
    version,
    title: `Page ${key} ${round}`,
    ...(seed % 5 === 0 ? { audience: ['board'] } : {}),
  })
}

// Run as a process of its own, it changes an index, saves and reopens it, until it is killed.
const [, , directory, engine] = process.argv
if (directory !== undefined && (engine === 'minisearch' || engine === 'sqlite')) {
  const client = new IndexClient(directory, { engine, host: new IndexHost() })
  client.versions()
  console.log('ready')
  for (let round = 0; ; round++) {
    const put = Array.from({ length: 1 + (round % 15) }, (_, n) =>
      pageOf(`h_${(round * 7 + n * 3) % 60} ${Date.now() + round}`),
    )
    client.apply({ put: [...new Map(put.map((one) => [one.key, one])).values()], remove: [`h_${(round * 11) % 60}`] })
    if (round % 5 === 0) {
      client.close()
      client.versions()
    }
  }
}
