import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readBundle, writeBundle } from '../../src/git/bundle.ts'
import { listRefs } from '../../src/git/refs/refs.ts'
import { Repository } from '../../src/git/repository.ts'
import { tempDir } from '../support/temp.ts'
import { nativeGit } from './support/native-git.ts'

/** A repository with branches, a merge, a tag, a link to another repository, versions of a large file, and a folder that comes back. */
async function sample(): Promise<Repository> {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  const noise = randomBytes(40_000).toString('hex')
  const lines: string[] = []
  for (let mark = 1; mark <= 30; mark++) {
    const text = `${noise.slice(0, mark * 2000)}${mark}`
    const parent = mark === 1 ? [] : [`from :${mark - 1}`, ...(mark === 20 ? ['merge :3'] : [])]
    lines.push('commit refs/heads/main', `mark :${mark}`, `committer A <a@example.com> ${mark} +0000`, 'data 1', 'x')
    lines.push(...parent, 'M 100644 inline a/large.md', `data ${text.length}`, text)
    lines.push(`M 100644 inline a/b/${mark % 7}.md`, 'data 2', `${mark % 10}.`, '')
  }
  // A folder that comes back to what it was: the other file that came with it is in no later difference.
  for (const text of ['first', 'other', 'first']) {
    lines.push('commit refs/heads/main', 'committer A <a@example.com> 50 +0000', 'data 1', 'z')
    lines.push('M 100644 inline back/1.md', 'data 5', text, 'M 100644 inline back/2.md', 'data 4', 'kept')
  }
  lines.push('commit refs/heads/other', 'committer A <a@example.com> 99 +0000', 'data 1', 'y')
  lines.push(`M 160000 ${'1'.repeat(40)} elsewhere`, '')
  nativeGit(repository.gitDir, ['fast-import', '--quiet'], `${lines.join('\n')}\n`)
  nativeGit(repository.gitDir, ['tag', '-a', '-m', 'A tag', 'v1', 'main~5'])
  nativeGit(repository.gitDir, ['hash-object', '-w', '--stdin'], 'nothing leads here')
  return repository
}

const sound = (gitDir: string) => expect(nativeGit(gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
const objects = (gitDir: string) =>
  nativeGit(gitDir, ['rev-list', '--objects', '--all', '--no-object-names']).split('\n').sort()

test.each([
  ['as it was written', []],
  ['with deltas of offsets', [['repack', '-adfq', '--depth=40']]],
  ['with deltas of ids', [['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']]],
  ['loose', [['unpack']]],
])('a bundle of a repository %s holds all of it, for git and for us', async (_name, commands) => {
  const repository = await sample()
  const { gitDir } = repository
  for (const [command = '', ...args] of commands) {
    if (command !== 'unpack') nativeGit(gitDir, [command, ...args])
    else unpack(gitDir)
  }
  const refs = await listRefs(gitDir)
  const file = join(tempDir(), 'kb.bundle')
  await writeBundle(repository, refs, file)
  expect(nativeGit(gitDir, ['bundle', 'verify', '--quiet', file])).toBe('')
  nativeGit(tempDir(), ['clone', '--quiet', '--mirror', file, join(tempDir(), 'clone.git')])
  const restored = await Repository.init(join(tempDir(), 'restored.git'))
  await readBundle(restored.gitDir, file)
  expect(await listRefs(restored.gitDir)).toEqual(refs)
  expect(objects(restored.gitDir)).toEqual(objects(gitDir))
  sound(restored.gitDir)
  if (commands.some((command) => command.includes('repack'))) {
    expect(statSync(file).size).toBeLessThan(packSize(gitDir) + 4000)
  }
})

function unpack(gitDir: string): void {
  const folder = join(gitDir, 'objects/pack')
  const other = join(tempDir(), 'other.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', other])
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.pack'))) {
    nativeGit(other, ['unpack-objects', '-q'], readFileSync(join(folder, name)))
  }
  writeFileSync(join(gitDir, 'objects/info/alternates'), `${join(other, 'objects')}\n`)
  nativeGit(gitDir, ['prune-packed', '-q'])
}

function packSize(gitDir: string): number {
  const folder = join(gitDir, 'objects/pack')
  const packs = readdirSync(folder).filter((file) => file.endsWith('.pack'))
  return packs.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

test('a bundle that git has written is read', async () => {
  const { gitDir } = await sample()
  const file = join(tempDir(), 'native.bundle')
  nativeGit(gitDir, ['bundle', 'create', '--quiet', file, '--all'])
  const restored = await Repository.init(join(tempDir(), 'restored.git'))
  await readBundle(restored.gitDir, file)
  expect(await listRefs(restored.gitDir)).toEqual(await listRefs(gitDir))
  sound(restored.gitDir)
})

test('a bundle that is damaged, or needs what it does not hold, is refused and leaves nothing', async () => {
  const repository = await sample()
  const file = join(tempDir(), 'kb.bundle')
  await writeBundle(repository, await listRefs(repository.gitDir), file)
  const whole = readFileSync(file)
  const partial = join(tempDir(), 'partial.bundle')
  nativeGit(repository.gitDir, ['bundle', 'create', '--quiet', partial, 'main~3..main'])
  const pack = whole.indexOf('PACK')
  const flipped = (at: number) => {
    const copy = Buffer.from(whole)
    copy[at] = (copy[at] ?? 0) ^ 1
    return copy
  }
  const damaged = [
    Buffer.alloc(0),
    Buffer.from('# v2 git bundle\n'),
    whole.subarray(0, pack),
    whole.subarray(0, pack + 20),
    whole.subarray(0, whole.length - 1),
    whole.subarray(0, whole.length - 1000),
    flipped(pack + 100),
    flipped(pack + 7),
    flipped(whole.length - 3),
    Buffer.concat([whole, Buffer.from('more')]),
    readFileSync(partial),
  ]
  for (const [at, bytes] of damaged.entries()) {
    writeFileSync(file, bytes)
    const restored = await Repository.init(join(tempDir(), 'restored.git'))
    await expect(readBundle(restored.gitDir, file), `${at}`).rejects.toMatchObject({ code: 'corrupt-object' })
    expect(readdirSync(join(restored.gitDir, 'objects/pack'))).toEqual([])
    expect(await listRefs(restored.gitDir)).toEqual(new Map())
  }
})

test('what a ref leads to must be there', async () => {
  const repository = await sample()
  const tree = nativeGit(repository.gitDir, ['mktree', '--missing'], `100644 blob ${'2'.repeat(40)}\tgone\n`)
  const commit = nativeGit(repository.gitDir, ['commit-tree', tree, '-m', 'Lacks a file'])
  const write = writeBundle(repository, new Map([['refs/heads/x', commit]]), join(tempDir(), 'kb.bundle'))
  await expect(write).rejects.toMatchObject({ code: 'missing-object' })
})
