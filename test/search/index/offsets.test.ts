import { expect, test } from 'vitest'
import { OffsetWriter, unpackOffsets } from '../../../src/search/index/page-terms.ts'
import { fc } from '../../support/properties.ts'

test('offsets are what they were packed from, also where tokens overlap', () => {
  const token = fc.tuple(fc.nat(2_000_000), fc.nat(300))
  fc.assert(
    fc.property(fc.array(token), (tokens) => {
      const writer = new OffsetWriter()
      for (const [start, length] of tokens) writer.add(start, start + length)
      const offsets = Uint32Array.from(tokens.flatMap(([start, length]) => [start, start + length]))
      expect(unpackOffsets(writer.written)).toEqual(offsets)
    }),
  )
})
