import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { longestStored, storeUncompressed } from '../../../src/git/objects/deflate-worker.ts'
import { fc } from '../../support/properties.ts'

test('zlib gives back what was stored', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
      expect(inflateSync(storeUncompressed(Buffer.from(bytes)))).toEqual(Buffer.from(bytes))
    }),
  )
  const long = Buffer.alloc(longestStored, 0xff)
  expect(inflateSync(storeUncompressed(long)).equals(long)).toBe(true)
})
