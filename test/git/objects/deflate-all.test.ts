import { randomBytes } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { deflateAll } from '../../../src/git/objects/deflate-all.ts'

const kinds = (size: number) => [randomBytes(size), Buffer.alloc(size, 'text that repeats. ')]

test.each([
  ['few small objects', [0, 1, 400, 401]],
  ['some megabytes', [0, 1, 400, 401, 4_000, 70_000, 1_000_000, 3_000_000, 10]],
  ['one large object', [9_000_000]],
])('zlib gives back what was compressed: %s', async (_, sizes) => {
  const plains = sizes.flatMap(kinds)
  const bodies = await deflateAll(plains)
  expect(bodies).toHaveLength(plains.length)
  for (const [at, plain] of plains.entries()) expect(inflateSync(bodies[at] ?? '').equals(plain)).toBe(true)
})
