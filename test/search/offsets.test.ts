import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packOffsets, unpackOffsets } from '../../src/search/index/offsets.ts'

test('offsets are what they were packed from, also where tokens overlap', () => {
  const token = fc.tuple(fc.nat(2_000_000), fc.nat(300))
  fc.assert(
    fc.property(fc.array(token), (tokens) => {
      const offsets = Uint32Array.from(tokens.flatMap(([start, length]) => [start, start + length]))
      expect(unpackOffsets(packOffsets(offsets))).toEqual(offsets)
    }),
  )
})
