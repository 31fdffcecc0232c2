import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { requireConnected } from '../../../src/git/history/reachable.ts'
import { Repository } from '../../../src/git/repository.ts'
import { PackRefused } from '../../../src/git/serve/pack-meter.ts'
import { withQuarantine } from '../../../src/git/transport/quarantine.ts'
import { tempDir } from '../../support/temp.ts'
import { blob, hostilePack, type PackedObject } from '../support/hostile-pack.ts'
import { nativeGit, nativeGitBytes } from '../support/native-git.ts'

const limits = { maxPack: 1_000_000, maxObjects: 1000, maxObjectBytes: 100_000, maxUnpackedBytes: 1_000_000 }

async function repositories() {
  const here = await Repository.init(join(tempDir(), 'here.git'))
  const there = join(tempDir(), 'there.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', there])
  const commit = (files: Record<string, string>, ...parents: string[]) => {
    const entries = Object.entries(files).map(([path, text]) => {
      return `100644 blob ${nativeGit(there, ['hash-object', '-w', '--stdin'], text)}\t${path}\n`
    })
    const tree = nativeGit(there, ['mktree'], entries.join(''))
    return nativeGit(there, ['commit-tree', tree, '-m', 'x', ...parents.flatMap((parent) => ['-p', parent])])
  }
  return { here, there, commit }
}

/** All that leads to a commit and not to others, as a remote sends it. */
const packOf = (dir: string, to: string, ...not: string[]) =>
  nativeGitBytes(dir, ['pack-objects', '--revs', '--stdout', '-q'], `${to}\n${not.map((oid) => `^${oid}\n`).join('')}`)

async function* chunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

const quarantines = (gitDir: string) => readdirSync(join(gitDir, 'objects')).filter((name) => name.startsWith('tmp_'))

test('what comes lies apart until it is admitted, and is gone where it is not', async () => {
  const { here, there, commit } = await repositories()
  const text = 'line\n'.repeat(1000)
  const first = commit({ a: text })
  const second = commit({ a: `${text}more`, b: 'b' }, first)
  const { gitDir } = here
  await withQuarantine(gitDir, chunks(packOf(there, second)), limits, async ({ folder }) => {
    const apart = new Repository(gitDir, { quarantine: folder })
    expect((await apart.read(second)).type).toBe('commit')
    expect(await here.find(second)).toBeUndefined()
    await requireConnected(apart, { from: first, to: second })
    apart.close()
  })
  expect(await here.find(second)).toBeUndefined()
  expect(quarantines(gitDir)).toEqual([])

  await withQuarantine(gitDir, chunks(packOf(there, second)), limits, async ({ admit }) => {
    const release = await admit()
    expect(readdirSync(join(gitDir, 'objects/pack')).some((name) => name.endsWith('.keep'))).toBe(true)
    await release()
  })
  nativeGit(gitDir, ['update-ref', 'refs/heads/main', second])
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict'])).toBe('')
  expect(readdirSync(join(gitDir, 'objects/pack')).filter((name) => name.endsWith('.keep'))).toEqual([])
  expect(quarantines(gitDir)).toEqual([])
})

test('a pack that lacks a file, a folder or a commit is told', async () => {
  const { here, there, commit } = await repositories()
  const first = commit({ a: 'a' })
  const second = commit({ a: 'a', b: 'new' }, first)
  const third = commit({ c: 'c' }, second)
  const sent = async (pack: Buffer, from: string, to: string) =>
    withQuarantine(here.gitDir, chunks(pack), limits, async ({ folder }) => {
      const apart = new Repository(here.gitDir, { quarantine: folder })
      return requireConnected(apart, { from, to }).finally(() => apart.close())
    })
  await withQuarantine(here.gitDir, chunks(packOf(there, first)), limits, async ({ admit }) => (await admit())())
  const without = (oid: string) => {
    const all = nativeGit(there, ['rev-list', '--objects', '--no-object-names', second, `^${first}`]).split('\n')
    return nativeGitBytes(there, ['pack-objects', '--stdout', '-q'], all.filter((each) => each !== oid).join('\n'))
  }
  await sent(packOf(there, second, first), first, second)
  const blob = nativeGit(there, ['rev-parse', `${second}:b`])
  const tree = nativeGit(there, ['rev-parse', `${second}^{tree}`])
  for (const oid of [blob, tree]) await expect(sent(without(oid), first, second)).rejects.toThrow(oid)
  await expect(sent(packOf(there, third, second), first, third)).rejects.toThrow(second)
})

test('a pack that is damaged, too large, of a bomb, or of objects that git would not make is refused', async () => {
  const { here, there, commit } = await repositories()
  const pack = packOf(there, commit({ a: 'a'.repeat(50_000) }))
  const flipped = Buffer.from(pack)
  flipped[pack.length - 30] = (flipped[pack.length - 30] ?? 0) ^ 1
  const tree = (...entries: [mode: string, name: string][]) =>
    Buffer.concat(entries.map(([mode, name]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.alloc(20, 7)])))
  const header = `tree ${'1'.repeat(40)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`
  const refused: [string, Buffer][] = [
    ['cut short', pack.subarray(0, pack.length - 5)],
    ['nothing', Buffer.alloc(0)],
    ['changed', flipped],
    ['too large an object', packWith(3, Buffer.alloc(200_000))],
    ['an order that git does not have', packWith(2, tree(['100644', 'b'], ['100644', 'a']))],
    ['a name twice', packWith(2, tree(['100644', 'a'], ['40000', 'a']))],
    ['a name with a slash', packWith(2, tree(['100644', 'a/b']))],
    ['no name', packWith(2, tree(['100644', '']))],
    ['an unknown mode', packWith(2, tree(['100000', 'a']))],
    ['a mode with a zero before it', packWith(2, tree(['040000', 'a']))],
    ['a tree that is cut short', packWith(2, tree(['100644', 'a']).subarray(0, 20))],
    ['a commit without a committer', packWith(1, Buffer.from(header.replace(/committer.*\n/, '')))],
    ['a commit of a wrong date', packWith(1, Buffer.from(header.replace('> 1', '> x')))],
    ['a tag of nothing', packWith(4, Buffer.from('tag v1\n'))],
  ]
  for (const [name, bytes] of refused) {
    const received = withQuarantine(here.gitDir, chunks(bytes), limits, async () => {})
    await expect(received, name).rejects.toThrow(PackRefused)
  }
  const small = { ...limits, maxPack: 100 }
  await expect(withQuarantine(here.gitDir, chunks(pack), small, async () => {})).rejects.toThrow('more than 100 bytes')
  await withQuarantine(here.gitDir, chunks(packWith(1, Buffer.from(header))), limits, async () => {})
  expect(quarantines(here.gitDir)).toEqual([])
})

/** A pack of one object. */
function packWith(type: number, data: Buffer): Buffer {
  const head = [(type << 4) | (data.length & 0x0f)]
  for (let rest = data.length >> 4; rest > 0; rest >>= 7) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80
    head.push(rest & 0x7f)
  }
  const body = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1'), Buffer.from(head), deflateSync(data)])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

test('each delta is made once, also of a long chain that stands in the pack from its end', async () => {
  const { here } = await repositories()
  const text = (n: number) => String(n).padStart(8, '0')
  const oid = (n: number) =>
    createHash('sha1')
      .update(`blob 8\0${text(n)}`)
      .digest('hex')
  const delta = (n: number): PackedObject => {
    // The sizes of the base and of the result, then eight bytes to insert.
    const data = Buffer.concat([Buffer.from([8, 8, 8]), Buffer.from(text(n))])
    return { type: 7, size: data.length, data, base: oid(n - 1) }
  }
  const length = 9_000
  const chain = Array.from({ length }, (_, n) => delta(length - n))
  const wide = { ...limits, maxObjects: length + 1 }
  await withQuarantine(here.gitDir, chunks(hostilePack([...chain, blob(text(0))])), wide, async ({ folder }) => {
    const apart = new Repository(here.gitDir, { quarantine: folder })
    expect((await apart.read(oid(length))).data.toString()).toBe(text(length))
    apart.close()
  })
  const lost = withQuarantine(here.gitDir, chunks(hostilePack(chain)), wide, async () => {})
  await expect(lost).rejects.toThrow('the base of a delta is not in its pack')
})
