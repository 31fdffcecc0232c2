import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { meterPack, type PackLimits } from '../../../src/git/serve/pack-meter.ts'
import { fc } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { blob, expandingDelta, hostilePack, type PackedObject } from '../support/hostile-pack.ts'
import { nativeGit } from '../support/native-git.ts'

const limits: PackLimits = { maxObjects: 1000, maxObjectBytes: 1_000_000, maxUnpackedBytes: 10_000_000 }

/** Sends a pack in chunks of these sizes, in turn. Gives what was passed on, and why the rest was not. */
async function metered(pack: Buffer, bounds = limits, sizes = [65_536]): Promise<{ passed: Buffer; refused?: string }> {
  const passed: Buffer[] = []
  try {
    for await (const chunk of meterPack(inChunks(pack, sizes), bounds)) passed.push(chunk)
    return { passed: Buffer.concat(passed) }
  } catch (error) {
    return {
      passed: Buffer.concat(passed),
      refused: error instanceof Error ? `${error.constructor.name}: ${error.message}` : '',
    }
  }
}

async function* inChunks(pack: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, n = 0; at < pack.length; n++) {
    const end = at + (sizes[n % sizes.length] ?? 1)
    yield pack.subarray(at, end)
    at = end
  }
}

/** A pack as git makes it, with whole objects and deltas of both kinds, and the bytes that it unpacks to. */
function packByGit(): { pack: Buffer; objects: number; unpacked: number } {
  const dir = tempDir()
  nativeGit(dir, ['init', '--quiet', '--initial-branch=main', '.'])
  const large = randomBytes(70_000)
  const texts = Array.from({ length: 30 }, (_, n) => `${'The quick brown fox. '.repeat(200)}${n}`)
  const files = [...texts, '', large, Buffer.concat([large, Buffer.from('more')])]
  const listed = files.map((content, n) => {
    const oid = nativeGit(dir, ['hash-object', '-w', '--stdin'], content)
    return `100644 blob ${oid}\t${n}.md`
  })
  const tree = nativeGit(dir, ['mktree'], `${listed.join('\n')}\n`)
  const commit = nativeGit(dir, ['commit-tree', tree, '-m', 'Begin'])
  const sizes = nativeGit(dir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectsize)']).split('\n')
  const unpacked = sizes.reduce((sum, size) => sum + Number(size), 0)
  const name = nativeGit(dir, ['pack-objects', '--quiet', '--revs', 'p'], `${commit}\n`)
  return { pack: readFileSync(join(dir, `p-${name}.pack`)), objects: sizes.length, unpacked }
}

describe('a pack', () => {
  test('is passed on as it is, however it comes', async () => {
    const { pack } = packByGit()
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 70_000 })), {
      minLength: 1,
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(sizes, async (chunks) => {
        fc.pre(chunks.reduce((sum, size) => sum + size, 0) / chunks.length > 20)
        const { passed, refused } = await metered(pack, limits, chunks)
        expect(refused).toBeUndefined()
        expect(passed.equals(pack)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  test('counts with all that it unpacks to, deltas and their results', async () => {
    const { pack, objects, unpacked } = packByGit()
    expect((await metered(pack, { ...limits, maxObjects: objects })).refused).toBeUndefined()
    expect((await metered(pack, { ...limits, maxObjects: objects - 1 })).refused).toBe(
      `PackRefused: The pack has ${objects} objects; ${objects - 1} are allowed.`,
    )
    expect((await metered(pack, { ...limits, maxUnpackedBytes: unpacked + 20_000 })).refused).toBeUndefined()
    expect((await metered(pack, { ...limits, maxUnpackedBytes: unpacked - 1 })).refused).toMatch(/unpacks to more than/)
    expect((await metered(pack, { ...limits, maxObjectBytes: 70_004 })).refused).toBeUndefined()
    expect((await metered(pack, { ...limits, maxObjectBytes: 70_003 })).refused).toMatch(/has an object of/)
  })

  test('that ends too early is passed on, for git to reject', async () => {
    const { pack } = packByGit()
    for (const length of [0, 5, 12, 13, 500, pack.length - 21, pack.length - 1]) {
      const { passed, refused } = await metered(pack.subarray(0, length))
      expect([length, passed.length, refused]).toEqual([length, length, undefined])
    }
  })
})

describe('before git sees it', () => {
  const before = blob('small')
  const base = Buffer.alloc(100_000)

  test.each<[string, PackedObject, string]>([
    ['an object', { ...blob('x'), size: 1_000_001 }, 'The pack has an object of 1 MB; 1 MB are allowed.'],
    ['an object of any size', { ...blob('x'), size: 2 ** 52 }, 'The pack has an object of 4294967296 MB'],
    ['a delta', { ...expandingDelta(base, 1000), size: 1_000_001 }, 'The pack has an object of 1 MB'],
    ['the result of a delta', expandingDelta(base, 2_000_000), 'The pack has an object of 2 MB'],
  ])('%s that is too large is rejected', async (_, object, reason) => {
    const pack = hostilePack([before, object])
    const { passed, refused } = await metered(pack, limits, [40, 1])
    expect(refused).toContain(reason)
    expect(passed.length).toBeLessThan(pack.length - 20)
  })

  test('many objects that are too large together are rejected', async () => {
    const many = Array.from({ length: 30 }, (_, n) => blob(Buffer.alloc(500_000, n)))
    expect((await metered(hostilePack(many))).refused).toContain('unpacks to more than 10 MB: send it in parts.')
    const deltas = Array.from({ length: 30 }, (_, n) => expandingDelta(base, 500_000 + n))
    expect((await metered(hostilePack([blob(base), ...deltas]))).refused).toContain('unpacks to more than 10 MB')
  })

  test.each<[string, Buffer]>([
    ['no pack', Buffer.from('GARBAGE, and more of it')],
    ['more than was announced', hostilePack([{ ...blob('small'), size: 3 }])],
    ['less than was announced', hostilePack([{ ...blob('small'), size: 7 }])],
    ['more than was announced, and much', hostilePack([{ ...blob(Buffer.alloc(900_000)), size: 20_000 }])],
    ['less than was announced, though much', hostilePack([{ ...blob(Buffer.alloc(20_000)), size: 900_000 }])],
    ['an unknown type', hostilePack([{ ...blob('small'), type: 5 }])],
    ['a size without end', Buffer.concat([hostilePack([], 1).subarray(0, 12), Buffer.alloc(30, 0xff)])],
    ['bytes that are not compressed', Buffer.concat([hostilePack([], 1).subarray(0, 12), Buffer.alloc(30, 0x35)])],
    [
      'a delta without sizes',
      hostilePack([{ type: 7, size: 2, data: Buffer.from([0xff, 0xff]), base: '1'.repeat(40) }]),
    ],
    ['an empty delta', hostilePack([{ type: 7, size: 0, data: Buffer.alloc(0), base: '1'.repeat(40) }])],
  ])('%s is rejected as corrupt', async (_, pack) => {
    for (const sizes of [[65_536], [1], [14, 1]]) {
      expect((await metered(pack, limits, sizes)).refused).toBe('PackRefused: The pack is corrupt.')
    }
  })
})
