import type { IndexedDocument } from '../../src/search/search-index.ts'
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
