import { expect, test } from 'vitest'
import { type CatalogPage, packPages, unpackPages } from '../../../src/search/index/store-tables.ts'
import { fc } from '../../support/properties.ts'

const anyPage: fc.Arbitrary<CatalogPage> = fc.record({
  id: fc.nat(2 ** 31),
  key: fc.string({ unit: 'grapheme', minLength: 1 }),
  class: fc.nat(255),
  isWhole: fc.boolean(),
  firstChunk: fc.nat(2 ** 31),
  lengths: fc.array(fc.nat(100_000)),
})
const pages = fc.array(anyPage).map((all) => {
  // Ids of pages ascend, and so do those of their chunks.
  const [ids, chunks] = [all.map(({ id }) => id).sort((a, b) => a - b), all.map((page) => page.firstChunk)]
  chunks.sort((a, b) => a - b)
  return all.map((page, index) => ({ ...page, id: ids[index] ?? 0, firstChunk: chunks[index] ?? 0 }))
})

test('pages are what they were packed from', () => {
  fc.assert(
    fc.property(pages, (all) => {
      expect([...unpackPages(packPages(all))]).toEqual(all)
    }),
  )
})

test('a block with any other byte is noticed', () => {
  const packed = packPages([{ id: 7, key: 'h_7', class: 1, isWhole: true, firstChunk: 9, lengths: [3, 4] }])
  for (let at = 0; at < packed.length; at++) {
    const damaged = packed.slice()
    damaged[at] = (damaged[at] ?? 0) ^ 4
    expect(() => [...unpackPages(damaged)]).toThrow('damaged')
  }
  expect(() => [...unpackPages(packed.subarray(0, 3))]).toThrow('damaged')
})
