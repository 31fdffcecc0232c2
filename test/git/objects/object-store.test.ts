import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { deflateSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { loosePath } from '../../../src/git/objects/loose-object.ts'
import { hashObject, type Oid } from '../../../src/git/objects/object.ts'
import { ObjectStore } from '../../../src/git/objects/object-store.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

let gitDir: string

beforeEach(() => {
  gitDir = join(tempDir(), 'a.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', gitDir])
})

const write = (content: string | Buffer, into = gitDir) => nativeGit(into, ['hash-object', '-w', '--stdin'], content)

/** Versions of a text that differ by little, of growing lengths up to `kilobytes`. */
function versions(count: number, kilobytes: number): Buffer[] {
  const noise = randomBytes(kilobytes * 512).toString('hex')
  return Array.from({ length: count }, (_, version) => {
    const cut = Math.floor((noise.length * (version + 1)) / count)
    return Buffer.from(`${noise.slice(0, cut)}\nversion ${version}\n${noise.slice(cut / 2)}`)
  })
}

/** Bytes, and the same with a quarter of them made anew: a delta before whose first byte zlib puts more than 64 bytes of codes. */
function rewritten(): Buffer[] {
  const part = () => Buffer.from(randomBytes(80).map((byte) => (byte * byte) / 256))
  const parts = Array.from({ length: 200 }, part)
  const others = parts.map((kept, index) => (index % 4 > 0 ? kept : part()))
  return [Buffer.concat(parts), Buffer.concat(others)]
}

/** Everything that native git says is in a repository, read by the store. */
async function compareAll(): Promise<number> {
  const store = new ObjectStore(gitDir)
  const lines = nativeGit(gitDir, ['cat-file', '--batch-all-objects', '--batch-check']).split('\n')
  const told = lines.map((line): [Oid, { type: string; size: number }] => {
    const [oid = '', type = '', size] = line.split(' ')
    return [oid, { type, size: Number(size) }]
  })
  expect(await store.infos(told.map(([oid]) => oid))).toEqual(new Map(told))
  for (const [oid, { type, size }] of told) {
    const object = await store.read(oid)
    expect(object?.type).toBe(type)
    expect(hashObject(object?.type ?? 'blob', object?.data ?? Buffer.alloc(0))).toBe(oid)
    const last = Math.min(size - 1, 70_000)
    const range = await buffer(store.readRange(oid, { first: 1, last }))
    expect(range.equals(object?.data.subarray(1, last + 1) ?? Buffer.alloc(0))).toBe(true)
  }
  store.close()
  return told.length
}

describe('reads what native git has written', () => {
  const contents = [...versions(30, 20), ...versions(3, 300), ...rewritten(), Buffer.from('a'), randomBytes(70_000)]

  function commitAll(): void {
    const entries = contents.map((content, index) => `100644 blob ${write(content)}\tfile ${index}\n`)
    const tree = nativeGit(gitDir, ['mktree'], entries.join(''))
    const commit = nativeGit(gitDir, ['commit-tree', tree, '-m', 'All'])
    nativeGit(gitDir, ['update-ref', 'refs/heads/main', commit])
    nativeGit(gitDir, ['tag', '-a', '-m', 'A tag', 'v1', 'main'])
  }

  test('as loose objects', async () => {
    commitAll()
    expect(await compareAll()).toBe(contents.length + 3)
  })

  test.each([
    ['deltas of offsets', ['repack', '-adfq', '--depth=40', '--window=40']],
    ['deltas of ids', ['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq', '--depth=40']],
    ['no deltas, in many packs', ['-c', 'pack.packSizeLimit=1m', 'repack', '-adfq', '--window=0']],
    ['offsets of 8 bytes', ['-c', 'pack.indexVersion=2', 'repack', '-adfq']],
    ['indexes of version 1', ['-c', 'pack.indexVersion=1', 'repack', '-adfq']],
    ['stored, not compressed', ['-c', 'pack.compression=0', 'repack', '-adfqF', '--window=0']],
  ])('in packs: %s', async (_name, args) => {
    commitAll()
    nativeGit(gitDir, args)
    if (args.includes('pack.indexVersion=2')) indexWithLargeOffsets()
    expect(await compareAll()).toBe(contents.length + 3)
  })

  function indexWithLargeOffsets(): void {
    const [pack = ''] = readdirSync(join(gitDir, 'objects/pack')).filter((name) => name.endsWith('.pack'))
    const path = join(gitDir, 'objects/pack', pack)
    rmSync(path.replace(/pack$/, 'idx'))
    rmSync(path.replace(/pack$/, 'rev'), { force: true })
    nativeGit(gitDir, ['index-pack', '--index-version=2,0x100', path])
  }

  test('beside another repository whose objects count as its own', async () => {
    commitAll()
    const other = join(tempDir(), 'other.git')
    nativeGit(tempDir(), ['clone', '--quiet', '--bare', '--shared', gitDir, other])
    const own = write('own', other)
    gitDir = other
    expect(await compareAll()).toBe(contents.length + 4)
    expect(await new ObjectStore(gitDir).infos([own])).toHaveProperty('size', 1)
  })
})

test('objects that others write and pack meanwhile are found, and ids that are none are not', async () => {
  const store = new ObjectStore(gitDir)
  const first = write('first')
  expect(await store.read('1'.repeat(40))).toBeUndefined()
  expect((await store.read(first))?.data.toString()).toBe('first')
  const tree = nativeGit(gitDir, ['mktree'], `100644 blob ${first}\ta\n`)
  nativeGit(gitDir, ['update-ref', 'refs/heads/main', nativeGit(gitDir, ['commit-tree', tree, '-m', 'One'])])
  nativeGit(gitDir, ['repack', '-adq'])
  expect((await store.read(first))?.data.toString()).toBe('first')
  const second = write('second')
  const both = nativeGit(gitDir, ['mktree'], `100644 blob ${first}\ta\n100644 blob ${second}\tb\n`)
  nativeGit(gitDir, ['update-ref', 'refs/heads/main', nativeGit(gitDir, ['commit-tree', both, '-m', 'Two'])])
  // The pack that was read is gone, and its objects are in another.
  nativeGit(gitDir, ['repack', '-adq'])
  store.close()
  expect((await store.read(second))?.data.toString()).toBe('second')
  expect((await store.read(first))?.data.toString()).toBe('first')
  await expect(store.read('HEAD')).rejects.toMatchObject({ code: 'missing-object' })
  expect(await store.infos(['main', first])).toEqual(new Map([[first, { type: 'blob', size: 5 }]]))
})

test('a pack whose index is still copied is opened once it is complete', async () => {
  const pack = join(gitDir, 'objects', 'pack')
  const first = write('first')
  const name = nativeGit(gitDir, ['pack-objects', '-q', join(pack, 'pack')], `${first}\n`)
  rmSync(loosePath(join(gitDir, 'objects'), first))
  const file = join(pack, `pack-${name}.idx`)
  const index = readFileSync(file)
  chmodSync(file, 0o600)
  writeFileSync(file, index.subarray(0, 100))
  utimesSync(pack, new Date('2026-01-01'), new Date('2026-01-01'))
  const store = new ObjectStore(gitDir)
  expect(await store.read(first)).toBeUndefined()
  writeFileSync(file, index)
  expect((await store.read(first))?.data.toString()).toBe('first')
  store.close()
})

test('the empty tree is there although nobody has written it', async () => {
  const empty = hashObject('tree', Buffer.alloc(0))
  const store = new ObjectStore(gitDir)
  expect(await store.read(empty)).toEqual({ type: 'tree', data: Buffer.alloc(0) })
  expect(await store.infos([empty])).toEqual(new Map([[empty, { type: 'tree', size: 0 }]]))
})

test('objects of a quarantine are read beside those of the repository', async () => {
  const other = join(tempDir(), 'other.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', other])
  const [here, there] = [write('here'), write('there', other)]
  const store = new ObjectStore(gitDir, { quarantine: join(other, 'objects') })
  expect(await store.infos([here, there])).toHaveProperty('size', 2)
  expect(await new ObjectStore(gitDir).read(there)).toBeUndefined()
  // As by a `git prune` of somebody else: that is no answer.
  rmSync(other, { recursive: true })
  store.close()
  expect(await store.infos([here])).toHaveProperty('size', 1)
  await expect(store.infos([there])).rejects.toMatchObject({ code: 'git-failed' })
})

test('an object that is too large is not read, and those asked for around it are', async () => {
  const [small, large, exact] = [write('small'), write('x'.repeat(300_001)), write('y'.repeat(300_000))]
  const store = new ObjectStore(gitDir, { maxBytes: 300_000 })
  const sizeOf = async (oid: string) => (await store.read(oid))?.data.length
  const asked = [small, large, exact, large, '1'.repeat(40), small].map(sizeOf)
  const tooLarge = { status: 'rejected', reason: expect.objectContaining({ code: 'object-too-large' }) }
  const read = (value: number | undefined) => ({ status: 'fulfilled', value })
  expect(await Promise.allSettled(asked)).toEqual([
    read(5),
    tooLarge,
    read(300_000),
    tooLarge,
    read(undefined),
    read(5),
  ])
  await expect(sizeOf(large)).rejects.toMatchObject(tooLarge.reason)
  expect(await sizeOf(exact)).toBe(300_000)
  expect((await buffer(store.readRange(large, { first: 299_999, last: 300_000 }))).toString()).toBe('xx')
})

describe('damage', () => {
  const damaged = { code: 'corrupt-object' }

  function replaceLoose(oid: Oid, bytes: Buffer): void {
    const path = loosePath(join(gitDir, 'objects'), oid)
    chmodSync(path, 0o644)
    writeFileSync(path, bytes)
  }

  test.each([
    ['no zlib', Buffer.from('nothing of the kind')],
    ['an empty file', Buffer.alloc(0)],
    ['no head', deflateSync('no head at all')],
    ['a size that is too small', deflateSync('blob 3\0content')],
    ['a size that is too large', deflateSync('blob 30\0content')],
    ['a bomb', deflateSync(Buffer.concat([Buffer.from('blob 7\0'), Buffer.alloc(50_000_000)]))],
    ['an unknown type', deflateSync('blub 7\0content')],
  ])('a loose object of %s is refused', async (_name, bytes) => {
    const oid = write('content')
    replaceLoose(oid, bytes)
    await expect(new ObjectStore(gitDir).read(oid)).rejects.toMatchObject(damaged)
  })

  test('where one copy is damaged, another is read', async () => {
    const oid = write('content')
    const other = join(tempDir(), 'other.git')
    nativeGit(tempDir(), ['init', '--quiet', '--bare', other])
    write('content', other)
    appendFileSync(join(gitDir, 'objects/info/alternates'), `${join(other, 'objects')}\n`)
    replaceLoose(oid, Buffer.from('damage'))
    expect((await new ObjectStore(gitDir).read(oid))?.data.toString()).toBe('content')
  })

  test('a pack that any byte of was changed is refused or read as it was, and never hangs', async () => {
    const contents = versions(4, 1)
    const oids = contents.map((content) => write(content))
    const tree = nativeGit(gitDir, ['mktree'], oids.map((oid, index) => `100644 blob ${oid}\t${index}\n`).join(''))
    nativeGit(gitDir, ['update-ref', 'refs/heads/main', nativeGit(gitDir, ['commit-tree', tree, '-m', 'One'])])
    nativeGit(gitDir, ['repack', '-adfq'])
    const folder = join(gitDir, 'objects/pack')
    for (const extension of ['.pack', '.idx']) {
      const name = readdirSync(folder).find((file) => file.endsWith(extension)) ?? ''
      const path = join(folder, name)
      const whole = readFileSync(path)
      chmodSync(path, 0o644)
      for (let at = 0; at < whole.length; at += 1 + Math.floor(Math.random() * 20)) {
        const changed = Buffer.from(whole)
        changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
        writeFileSync(path, changed)
        const store = new ObjectStore(gitDir)
        for (const oid of oids) {
          const problem = await store.read(oid).then(
            () => undefined,
            (error: unknown) => error,
          )
          if (problem !== undefined) expect(problem).toMatchObject({ code: expect.stringMatching(/corrupt|too-large/) })
        }
        store.close()
      }
      writeFileSync(path, whole)
    }
  })

  test('a pack that was cut short, and an index without its pack', async () => {
    const oid = write(randomBytes(5000))
    const tree = nativeGit(gitDir, ['mktree'], `100644 blob ${oid}\ta\n`)
    nativeGit(gitDir, ['update-ref', 'refs/heads/main', nativeGit(gitDir, ['commit-tree', tree, '-m', 'One'])])
    nativeGit(gitDir, ['repack', '-adq'])
    const folder = join(gitDir, 'objects/pack')
    const name = readdirSync(folder).find((file) => file.endsWith('.pack')) ?? ''
    const whole = readFileSync(join(folder, name))
    rmSync(join(folder, name))
    writeFileSync(join(folder, name), whole.subarray(0, 2000))
    await expect(new ObjectStore(gitDir).read(oid)).rejects.toMatchObject(damaged)
    rmSync(join(folder, name))
    expect(await new ObjectStore(gitDir).read(oid)).toBeUndefined()
    mkdirSync(join(folder, name))
    await expect(new ObjectStore(gitDir).read(oid)).rejects.toThrow()
  })
})
