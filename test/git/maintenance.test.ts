import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GroupCommit } from '../../src/git/group-commit.ts'
import { consolidate, consolidateImport, isPruneDue, prune, repositoryLoad } from '../../src/git/maintenance.ts'
import { folderRefs } from '../../src/git/ref-store.ts'
import { Repository } from '../../src/git/repository.ts'
import { tempDir } from '../support/temp.ts'
import { nativeGit } from './support/native-git.ts'
import { noFollower } from './support/no-follower.ts'

const main = 'refs/heads/main'
const author = { name: 'Ada', email: 'ada@example.com', at: new Date('2026-05-01T12:00:00Z') }
async function newWriter() {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  const writer = new GroupCommit(repository, folderRefs(repository, [main]), noFollower)
  const put = (path: string, text = path) =>
    writer.run((staging) =>
      staging.commit(main, { changes: new Map([[path, text]]), message: path, author, committer: author }),
    )
  return { repository, put }
}

test('packs and loose objects become one pack while writers write and readers read', async () => {
  const { repository, put } = await newWriter()
  const oids: string[] = []
  for (let n = 0; n < 40; n++) oids.push(await put(`before-${n}.md`))
  const loose = nativeGit(repository.gitDir, ['hash-object', '-w', '--stdin'], 'loose and unreachable')
  expect((await repositoryLoad(repository.gitDir)).packs).toBe(40)

  const consolidating = consolidate(repository.gitDir, new AbortController().signal)
  const reader = new Repository(repository.gitDir)
  for (let n = 0; n < 30; n++) {
    oids.push(await put(`during-${n}.md`))
    expect(await reader.find(oids[n] ?? '')).toBeDefined()
  }
  await consolidating

  expect((await repositoryLoad(repository.gitDir)).packs).toBeLessThan(40)
  for (const oid of oids) expect(await reader.find(oid)).toBeDefined()
  expect(await repository.find(loose)).toBeDefined()
  expect(nativeGit(repository.gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect(nativeGit(repository.gitDir, ['rev-list', '--count', 'main'])).toBe('70')
  expect(existsSync(join(repository.gitDir, 'objects/info/commit-graphs/commit-graph-chain'))).toBe(true)
  expect(nativeGit(repository.gitDir, ['commit-graph', 'verify'])).toBe('')
  await put('after.md')
  repository.close()
  reader.close()
})

test('what an import wrote becomes one pack, in which versions of a folder are deltas and new pages are whole', async () => {
  const { repository, put } = await newWriter()
  const { gitDir } = repository
  for (let n = 0; n < 20; n++) await put(`neurons/a page of the import ${n}.md`, `${'word '.repeat(200)}${n}`)
  await consolidateImport(gitDir)
  expect((await repositoryLoad(gitDir)).packs).toBe(1)
  const objects = nativeGit(gitDir, [
    ...['cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(deltabase)'],
  ]).split('\n')
  const deltas = objects.filter((line) => !line.endsWith('0'.repeat(40)))
  expect(deltas.filter((line) => line.startsWith('tree')).length).toBeGreaterThan(10)
  expect(deltas.filter((line) => line.startsWith('blob'))).toEqual([])
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict'])).toBe('')
  await put('after.md')
  repository.close()
})

test('it ends when it is told to, and what it had not done is not lost', async () => {
  const { repository, put } = await newWriter()
  for (let n = 0; n < 30; n++) await put(`${n}.md`)
  const stop = new AbortController()
  const consolidating = consolidate(repository.gitDir, stop.signal)
  stop.abort()
  await expect(consolidating).rejects.toThrow()
  expect(nativeGit(repository.gitDir, ['fsck', '--full', '--strict'])).toBe('')
  await put('after.md')
  repository.close()
})

test.each(['packed-refs.lock', 'packed-refs.new'])(
  '%s that a killed maintenance left behind long ago does not stop the next',
  async (name) => {
    const { repository, put } = await newWriter()
    for (let n = 0; n < 5; n++) await put(`${n}.md`)
    const lock = join(repository.gitDir, name)
    writeFileSync(lock, '')
    await expect(consolidate(repository.gitDir, new AbortController().signal)).rejects.toThrow('packed-refs')
    utimesSync(lock, new Date(Date.now() - 2 * 3_600_000), new Date(Date.now() - 2 * 3_600_000))
    await consolidate(repository.gitDir, new AbortController().signal)
    expect(existsSync(join(repository.gitDir, main))).toBe(false) // packed
    repository.close()
  },
)

test('what nothing leads to goes after a day, and not before, while writers write', async () => {
  const { repository, put } = await newWriter()
  const { gitDir } = repository
  const lone = (text: string) => nativeGit(gitDir, ['hash-object', '-w', '--stdin'], text)
  const age = (days: number) => {
    const then = new Date(Date.now() - days * 24 * 60 * 60_000)
    const files = readdirSync(join(gitDir, 'objects'), { recursive: true, encoding: 'utf8' })
    for (const file of files) utimesSync(join(gitDir, 'objects', file), then, then)
  }
  for (let n = 0; n < 5; n++) await put(`old-${n}.md`)
  const old = lone('old')
  age(3)
  const young = lone('young')
  expect(await isPruneDue(gitDir)).toBe(true)

  const pruning = prune(gitDir, new AbortController().signal)
  for (let n = 0; n < 20; n++) await put(`during-${n}.md`)
  await pruning

  const reader = new Repository(gitDir)
  expect([await reader.find(old), (await reader.find(young))?.type]).toEqual([undefined, 'blob'])
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect(nativeGit(gitDir, ['rev-list', '--count', 'main'])).toBe('25')
  expect(await isPruneDue(gitDir)).toBe(false)
  expect(await isPruneDue(gitDir, Date.now() + 25 * 60 * 60_000)).toBe(true)
  await consolidate(gitDir, new AbortController().signal)
  expect((await reader.find(young))?.type).toBe('blob')
  repository.close()
  reader.close()
})

test('the commit graph names no head of a candidate, which may go', async () => {
  const { repository, put } = await newWriter()
  const { gitDir } = repository
  const background = new AbortController().signal
  for (let n = 0; n < 30; n++) await put(`${n}.md`)
  const tree = nativeGit(gitDir, ['rev-parse', 'main^{tree}'])
  const head = nativeGit(gitDir, ['commit-tree', tree, '-p', 'main', '-m', 'Proposed'])
  nativeGit(gitDir, ['update-ref', 'refs/candidates/1/head', head])
  await consolidate(gitDir, background)
  nativeGit(gitDir, ['gc', '--quiet'])

  nativeGit(gitDir, ['update-ref', '-d', 'refs/candidates/1/head'])
  nativeGit(gitDir, ['repack', '-a', '-d', '--quiet'])
  nativeGit(gitDir, ['prune', '--expire=now'])
  await consolidate(gitDir, background)
  await prune(gitDir, background)

  expect(nativeGit(gitDir, ['cat-file', '--batch-check'], head)).toContain('missing')
  expect(nativeGit(gitDir, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect(nativeGit(gitDir, ['commit-graph', 'verify'])).toBe('')
  repository.close()
})
