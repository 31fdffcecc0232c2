import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ByteReader, ByteWriter } from '../../../src/search/bytes/byte-writer.ts'
import { saturation } from '../../../src/search/rank/scores.ts'
import { Segment } from '../../../src/search/segments/format/segment.ts'
import { DamagedSegment, FileSink, MemorySink, SegmentFile } from '../../../src/search/segments/format/segment-bytes.ts'
import { Frontier, highestScore } from '../../../src/search/segments/format/term-codec.ts'
import { invert, invertInto, merge } from '../../../src/search/segments/invert.ts'
import { fc, runs } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { factsOf, pagesOf, placesIn, placesOf, type TestPage } from './support.ts'

const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'ab', 'abc', 'b', 'ba', 'lead', 'leader', '¶', '東京', '😀', '\uffee') },
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }).filter((text) => !/\s/.test(text)),
)
const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '))
const somePages = fc.array(fc.array(text, { minLength: 1, maxLength: 4 }), { maxLength: 12 }).map(pagesOf)

/** Many postings of each term, in more than one block. */
function manyPages(count: number): TestPage[] {
  return pagesOf(
    Array.from({ length: count }, (_, n) => [
      `all ${n % 2 === 0 ? 'half half' : ''} n${n % 7} all`.replace(/ +/g, ' '),
      `all ${'often '.repeat(n % 40)}end`,
    ]),
  )
}

test('integers are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(2 ** 32 - 1)), fc.array(fc.nat(Number.MAX_SAFE_INTEGER)), (small, big) => {
      const writer = new ByteWriter()
      for (const value of small) writer.varint(value)
      for (const value of big) writer.long(value)
      const reader = new ByteReader(writer.written)
      expect(small.map(() => reader.varint())).toEqual(small)
      expect(big.map(() => reader.long())).toEqual(big)
      const skipping = new ByteReader(writer.written)
      skipping.skip(small.length + 2 * big.length)
      expect(skipping.at).toBe(writer.length)
    }),
  )
})

test('a segment tells of every term where it stands, in the order of UTF-8', () => {
  fc.assert(
    fc.property(somePages, (pages) => {
      const places = placesIn(invert(pages, factsOf(pages)))
      expect(places).toEqual(placesOf(pages))
      const terms = Object.keys(places).map((term) => Buffer.from(term))
      expect(Object.keys(placesIn(invert(pages, factsOf(pages)))).toSorted()).toEqual(Object.keys(places).toSorted())
      for (const term of terms) {
        const entry = invert(pages, factsOf(pages)).dictionary.find(term)
        expect(entry?.counts.reduce((sum, { chunks }) => sum + chunks, 0)).toBe(places[term.toString()]?.length)
      }
    }),
    { numRuns: runs(50, 12) },
  )
})

test('counts are those of each class of pages', () => {
  const pages = manyPages(300)
  const { dictionary } = invert(pages, factsOf(pages))
  expect(dictionary.find(Buffer.from('all'))?.counts).toEqual([
    { class: 1, chunks: 400, pages: 200 },
    { class: 2, chunks: 200, pages: 100 },
  ])
  expect(dictionary.find(Buffer.from('nothing'))).toBeUndefined()
})

test('merged segments are the segment of the pages that are kept', () => {
  fc.assert(
    fc.property(somePages, fc.array(fc.nat(2)), fc.array(fc.boolean()), (pages, parts, drops) => {
      const facts = factsOf(pages)
      const isKept = new Uint8Array(pages.length + 1)
      for (const { id } of pages) isKept[id] = drops[id] === true ? 0 : 1
      const segments = [0, 1, 2].map((part) =>
        invert(
          pages.filter(({ id }) => (parts[id] ?? 0) === part),
          facts,
        ),
      )
      const kept = pages.filter(({ id }) => isKept[id] === 1)
      const sink = new MemorySink()
      const shape = finished(
        merge(segments, { facts, isKept, chunkCountOfPage: (page) => pages[page - 1]?.chunks.length ?? 0 }, sink),
      )
      const merged = new Segment(sink.finish(), shape)
      expect(placesIn(merged)).toEqual(placesOf(kept))
      expect([...merged.pages]).toEqual(kept.map(({ id }) => id))
      expect(shape).toEqual(invert(kept, facts).shape)
    }),
    { numRuns: runs(50, 12) },
  )
})

function finished<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

test('no posting scores higher than the frontier that it was added to, whatever the average length', () => {
  const posting = fc.record({ frequency: fc.integer({ min: 1, max: 60 }), length: fc.integer({ min: 1, max: 400 }) })
  fc.assert(
    fc.property(fc.array(posting, { minLength: 1 }), fc.integer({ min: 1, max: 500 }), (postings, average) => {
      const frontier = new Frontier()
      for (const { frequency, length } of postings) frontier.add(frequency, length)
      const out = new ByteWriter()
      frontier.write(out)
      const score = (frequency: number, length: number) => saturation(frequency, length, average)
      const highest = highestScore(new ByteReader(out.written), score)
      const scores = postings.map(({ frequency, length }) => score(frequency, length))
      expect(highest).toBeGreaterThanOrEqual(Math.max(...scores))
    }),
  )
})

test('a file is read as it was written, and what is not as it was written is never read', () => {
  const file = join(tempDir(), 'one.segment')
  const pages = manyPages(3000)
  const sink = new FileSink(file)
  const shape = invertInto(sink, pages, factsOf(pages))
  const sums = sink.finish()
  const read = () => placesIn(new Segment(new SegmentFile(file, shape.size, sums), shape))
  expect(read()).toEqual(placesOf(pages))
  const whole = readFileSync(file)
  for (const at of [0, 20_000, whole.length - 1]) {
    const damaged = Uint8Array.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(file, damaged)
    expect(read).toThrow(DamagedSegment)
    // It was removed, and so is made again.
    expect(read).toThrow(DamagedSegment)
    writeFileSync(file, whole)
  }
  truncateSync(file, whole.length - 1)
  expect(read).toThrow(DamagedSegment)
})
