import { hash } from 'node:crypto'
import { existsSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KbIndex } from '../../../src/search/kb-index.ts'
import type { ChunkHit, IndexedDocument, Scope } from '../../../src/search/search-index.ts'
import type { EmbeddedText } from '../../../src/search/vectors/vector-index.ts'
import { tempDir } from '../../support/temp.ts'
import { curator, page, tool } from '../support.ts'

/** A model that knows two things: what is of holidays, and what is of machines. All else has a direction of its own. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(32)
  const noise = hash('sha256', text, 'buffer')
  for (let index = 2; index < vector.length; index++) vector[index] = ((noise[index] ?? 0) - 128) / 1000
  if (/holiday|vacation|leave/.test(text)) vector[0] = 1
  if (/machine|pump|valve/.test(text)) vector[1] = 1
  return vector
}

const topics = ['coffee', 'parking', 'rota', 'desk', 'ticket', 'roof', 'garden', 'ladder', 'printer', 'badge']
const others = Array.from({ length: 40 }, (_, n) => page(`other_${n}`, `The ${topics[n % 10]} of house ${n}.`))
const pages = [
  ...others,
  page('leave', 'Annual leave is thirty days.'),
  page('pump', 'The pump has two valves.'),
  page('machine', 'Each machine is oiled.'),
]

type Opened = { index: KbIndex; asked: string[]; embed: (model?: (text: string) => Float32Array | undefined) => void }

describe.each([
  ['in memory', {}],
  ['from the file', { mostWhole: 100 }],
])('the search by meaning, %s', (_, bound) => {
  /** An index with vectors in a folder, and what a model was asked about. */
  function open(
    directory = tempDir(),
    { model = 'fake', put = pages }: { model?: string; put?: IndexedDocument[] } = {},
  ) {
    const file = join(directory, 'vectors', 'kb.db')
    const index = new KbIndex(join(directory, 'index'), {
      language: 'en',
      engine: 'minisearch',
      vectors: { file, model, ...bound },
    })
    onTestFinished(() => index.close())
    const missing = put.filter(({ key, version }) => index.version(key) !== version)
    if (missing.length > 0) index.apply({ put: missing, remove: [] })
    const asked: string[] = []
    const embed = (encode: (text: string) => Float32Array | undefined = vectorOf) => {
      for (;;) {
        const { texts, isWhole } = index.vectors?.next(16) ?? { texts: [], isWhole: true }
        if (texts.length === 0 && isWhole) return
        asked.push(...texts.map(({ text }) => text))
        index.vectors?.add(texts.map(({ hash, text }): EmbeddedText => ({ hash, vector: encode(text) })))
      }
    }
    return { index, asked, embed, directory, file } satisfies Opened & { directory: string; file: string }
  }

  const ask = ({ index }: Pick<Opened, 'index'>, question: string, scope: Scope = curator): ChunkHit[] =>
    index.retrieve(question, scope, { vector: vectorOf(question) })
  const keysOf = (hits: readonly ChunkHit[]) => hits.map(({ key }) => key)

  test('finds by meaning what no word of the question finds', () => {
    const opened = open()
    expect(keysOf(ask(opened, 'vacation'))).toEqual([])
    opened.embed()
    const hits = ask(opened, 'vacation')
    expect(keysOf(hits)).toEqual(['leave'])
    expect(hits).toMatchObject([{ byMeaning: true, rank: 1 }])
  })

  test('a question that means nothing of what is there finds nothing', () => {
    const opened = open()
    opened.embed()
    expect(ask(opened, 'zebra')).toEqual([])
  })

  test('asks about each text once: also if a page is renamed, comes again, or the index is built anew', () => {
    const first = open()
    first.embed()
    expect(new Set(first.asked).size).toBe(first.asked.length)
    expect(first.asked).toHaveLength(pages.length)
    expect(first.asked).toContain('Annual leave is thirty days.')
    first.index.apply({ put: [page('moved', 'Annual leave is thirty days.')], remove: ['leave'] })
    first.embed()
    first.index.apply({ put: [page('leave', 'Annual leave is thirty days.')], remove: ['moved', 'pump'] })
    first.embed()
    first.index.close()
    rmSync(join(first.directory, 'index'), { recursive: true })
    const again = open(first.directory)
    again.embed()
    expect(first.asked).toHaveLength(pages.length)
    expect(again.asked).toEqual([])
    expect(keysOf(ask(again, 'vacation'))).toEqual(['leave'])
  })

  test('title and headings are asked about with the text; of two equal texts one is', () => {
    const chunk = { headings: ['Time', 'Off'], content: '**Rest**', text: 'Rest' }
    const put = [
      page('a', [], { title: 'Rules', chunks: [chunk, chunk] }),
      page('b', [], { title: 'Empty', chunks: [] }),
    ]
    const opened = open(tempDir(), { put: [...put, page('c', '')] })
    opened.embed()
    expect(opened.asked.sort()).toEqual(['Empty', 'Rules\nTime > Off\nRest'])
  })

  test('a page that comes in parts, with others between, has all its vectors', () => {
    const opened = open()
    const texts = Array.from({ length: 6 }, (_, n) => `Part ${n} of the book.`)
    for (let start = 0; start < texts.length; start += 2) {
      const whole = page('book', texts)
      const part = {
        ...whole,
        fingerprint: 'f',
        start,
        total: texts.length,
        chunks: whole.chunks.slice(start, start + 2),
      }
      opened.index.grow(part)
      opened.index.apply({ put: [page(`between_${start}`, `Between ${start}.`)], remove: [] })
      opened.embed()
    }
    expect(opened.asked.filter((text) => text.startsWith('Part')).sort()).toEqual(texts)
    expect(opened.index.vectors?.next(1)).toMatchObject({ embedded: pages.length + 9, lacking: 0 })
  })

  test('another model is asked about everything', () => {
    const first = open()
    first.embed()
    first.index.close()
    const second = open(first.directory, { model: 'other' })
    second.embed()
    expect(second.asked).toHaveLength(pages.length)
  })

  test('vectors of another length are refused, and leave what was there', () => {
    const opened = open()
    opened.embed()
    opened.index.apply({ put: [page('new', 'New text.')], remove: [] })
    expect(() => opened.embed(() => Float32Array.of(1, 2))).toThrow(
      'The embeddings model answers with 2 dimensions, where it answered with 32 before.',
    )
    expect(opened.index.retrieve('vacation', curator, { vector: Float32Array.of(1, 2) })).toEqual([])
    opened.embed()
    expect(keysOf(ask(opened, 'vacation'))).toEqual(['leave'])
  })

  test('a text that the model has no vector for is left alone, and found by its words', () => {
    const opened = open()
    opened.embed((text) => (text.includes('pump') ? undefined : vectorOf(text)))
    opened.embed()
    expect(opened.asked.filter((text) => text.includes('pump'))).toHaveLength(1)
    expect(keysOf(ask(opened, 'pump'))[0]).toBe('pump')
  })

  test.each([
    ['gone', (file: string) => rmSync(file)],
    ['cut', (file: string) => truncateSync(file, 5000)],
    [
      'of another program',
      (file: string) => {
        rmSync(file)
        new DatabaseSync(file).exec('CREATE TABLE vectors (x)')
      },
    ],
  ])('a file of vectors that is %s is made anew', (_name, spoil) => {
    const first = open()
    first.embed()
    first.index.close()
    expect(existsSync(`${first.file}-wal`)).toBe(false)
    spoil(first.file)
    const second = open(first.directory)
    second.embed()
    expect(second.asked).toHaveLength(pages.length)
    expect(keysOf(ask(second, 'vacation'))).toEqual(['leave'])
  })

  test('vectors that no chunk has are removed after a while, and not before', () => {
    const opened = open()
    opened.embed()
    const count = () => {
      const db = new DatabaseSync(opened.file, { readOnly: true })
      const row = db.prepare('SELECT count(*) AS count FROM vectors').get()
      db.close()
      return row?.count
    }
    opened.index.apply({ put: [], remove: ['leave', 'pump'] })
    opened.index.vectors?.sweep({ now: 1000, before: 500 })
    expect(count()).toBe(pages.length)
    // One of them comes back before its time is over.
    opened.index.apply({ put: [page('pump', 'The pump has two valves.')], remove: [] })
    opened.embed()
    opened.index.vectors?.sweep({ now: 2000, before: 1500 })
    expect(count()).toBe(pages.length - 1)
    opened.index.vectors?.sweep({ now: 9000, before: 8000 })
    expect(count()).toBe(pages.length - 1)
    expect(opened.asked).toHaveLength(pages.length)
  })

  test('memory of pages that are gone is used again', () => {
    const opened = open()
    opened.embed()
    const before = opened.index.vectors?.size ?? 0
    for (let round = 0; round < 5; round++) {
      opened.index.apply({ put: others.map(({ key }) => page(key, `Round ${round} of ${key}.`)), remove: [] })
      opened.embed()
    }
    expect(opened.index.vectors?.size).toBeLessThan(2 * before)
    expect(keysOf(ask(opened, 'vacation'))).toEqual(['leave'])
  })

  test('what an audience may not see is in no answer and in no figure, however near it is', () => {
    const hidden = { audience: ['curator'] }
    const secrets = Array.from({ length: 60 }, (_, n) => page(`secret_${n}`, `Vacation secret ${n}.`, hidden))
    const [plain, twin] = [
      open(),
      open(tempDir(), { put: secrets.flatMap((one, n) => [one, ...pages.slice(n, n + 1)]) }),
    ]
    plain.embed()
    twin.embed()
    for (const question of ['vacation', 'vacation machine oil', 'the house of the pump', 'zebra']) {
      expect(ask(twin, question, tool)).toEqual(ask(plain, question, tool))
    }
    expect(keysOf(ask(twin, 'vacation', curator))[0]).toMatch(/^secret_/)
  })

  test('an index without vectors, or a question without one, knows words only', () => {
    const opened = open()
    opened.embed()
    expect(opened.index.retrieve('pump', curator)).toMatchObject([{ key: 'pump' }])
    expect(opened.index.retrieve('pump', curator)[0]).not.toHaveProperty('byMeaning')
  })
})

test('vectors that are in memory, partly or not at all, of a file that was filled before, are found the same', () => {
  const directory = tempDir()
  const question = vectorOf('vacation')
  const answers = [1e6, 200, 0].map((mostWhole) => {
    const index = new KbIndex(join(directory, 'index'), {
      language: 'en',
      engine: 'minisearch',
      vectors: { file: join(directory, 'vectors.db'), model: 'fake', mostWhole },
    })
    onTestFinished(() => index.close())
    if (index.version('leave') === undefined) index.apply({ put: pages, remove: [] })
    for (;;) {
      const { texts, isWhole } = index.vectors?.next(16) ?? { texts: [], isWhole: true }
      if (texts.length === 0 && isWhole) break
      index.vectors?.add(texts.map(({ hash, text }) => ({ hash, vector: vectorOf(text) })))
    }
    const found = index.retrieve('holiday pump machine', curator, { vector: question })
    return found.map(({ key, rank }) => [key, rank.toFixed(2)])
  })
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
})
