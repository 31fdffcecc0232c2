import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { GroupCommit } from '../../src/git/group-commit.ts'
import { folderRefs } from '../../src/git/ref-store.ts'
import { Repository } from '../../src/git/repository.ts'
import type { Staging } from '../../src/git/staging.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { nativeGit } from './support/native-git.ts'
import { noFollower } from './support/no-follower.ts'

const main = 'refs/heads/main'
const queue = 'refs/ganglion/queue'
const author = { name: 'Ada', email: 'ada@example.com', at: new Date('2026-05-01T12:00:00Z') }

async function newWriter(follower = noFollower): Promise<{ repository: Repository; writer: GroupCommit }> {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  return { repository, writer: new GroupCommit(repository, folderRefs(repository, [queue, main]), follower) }
}

function put(staging: Staging, ref: string, path: string, text = 'x'): Promise<string> {
  return staging.commit(ref, { changes: new Map([[path, text]]), message: `Put ${path}`, author, committer: author })
}

test('work at once becomes one pack, and a commit each in the order it came', async () => {
  const { repository, writer } = await newWriter()
  const oids = await Promise.all(
    Array.from({ length: 50 }, (_, n) => writer.run((staging) => put(staging, main, `f${n}.md`))),
  )
  expect(nativeGit(repository.gitDir, ['rev-list', '--reverse', 'main']).split('\n')).toEqual(oids)
  expect(nativeGit(repository.gitDir, ['count-objects', '-v'])).toContain('packs: 1')
  expect(nativeGit(repository.gitDir, ['fsck', '--strict'])).toBe('')
  repository.close()
})

test('trees of one batch are stored as what changed, in chains no deeper than git makes, and read back by native git', async () => {
  const { repository, writer } = await newWriter()
  const name = (n: number) => `neurons/folder/a-rather-long-name-${n * 7919}.md`
  for (let batch = 0; batch < 3; batch++) {
    const numbers = Array.from({ length: 120 }, (_, n) => batch * 120 + n)
    await Promise.all(numbers.map((n) => writer.run((staging) => put(staging, main, name(n), `text ${n}`))))
  }
  await writer.run((staging) =>
    staging.commit(main, { changes: new Map([[name(7), null]]), message: 'Remove', author, committer: author }),
  )
  expect(nativeGit(repository.gitDir, ['fsck', '--full', '--strict'])).toBe('')
  expect(nativeGit(repository.gitDir, ['ls-tree', '-r', 'main']).split('\n')).toHaveLength(359)
  const packs = nativeGit(repository.gitDir, ['count-objects', '-v'])
  expect(packs).toMatch(/^packs: 4$/m)
  const [, sizePack = 'NaN'] = /^size-pack: (\d+)$/m.exec(packs) ?? []
  expect(Number(sizePack)).toBeLessThan(1_000) // whole trees would be some 4,000 KB
  const listing = nativeGit(repository.gitDir, [
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(objecttype) %(deltabase)',
  ])
  expect(listing.split('\n').filter((line) => /^tree (?!0{40})/.test(line)).length).toBeGreaterThan(600)
  repository.close()
})

test('work that fails takes nothing with it but its own commits', async () => {
  const { repository, writer } = await newWriter()
  const results = await Promise.allSettled([
    writer.run((staging) => put(staging, main, 'a.md')),
    writer.run(async (staging) => {
      await put(staging, main, 'lost.md')
      throw new Error('refused')
    }),
    writer.run((staging) => put(staging, main, 'b.md')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(nativeGit(repository.gitDir, ['ls-tree', '--name-only', 'main'])).toBe('a.md\nb.md')
  repository.close()
})

test('native commits in between are built upon, never overwritten', async () => {
  const { repository, writer } = await newWriter()
  await writer.run((staging) => put(staging, main, 'first.md'))
  const clone = join(tempDir(), 'clone')
  nativeGit(repository.gitDir, ['clone', '--quiet', repository.gitDir, clone])
  let pushed = 0
  const natives = (async () => {
    for (let n = 0; n < 12; n++) {
      nativeGit(clone, ['commit', '--quiet', '--allow-empty', '-m', `native ${n}`])
      for (;;) {
        try {
          nativeGit(clone, ['push', '--quiet', 'origin', 'HEAD:main'])
          break
        } catch {
          nativeGit(clone, ['pull', '--quiet', '--rebase', 'origin', 'main'])
          // The lock that stood in the way may be this process's own.
          await setImmediate()
        }
      }
      pushed++
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const ours: Promise<string>[] = []
  for (let n = 0; n < 60; n++) {
    ours.push(writer.run((staging) => put(staging, main, `ours-${n}.md`)))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const oids = await Promise.all(ours)
  await natives
  const history = nativeGit(repository.gitDir, ['rev-list', 'main']).split('\n')
  expect(oids.every((oid) => history.includes(oid))).toBe(true)
  const subjects = nativeGit(repository.gitDir, ['log', '--format=%s', 'main']).split('\n')
  expect(subjects.filter((subject) => subject.startsWith('native '))).toHaveLength(pushed)
  expect(new Set(history).size).toBe(60 + 12 + 1)
  repository.close()
})

test('when another writer wins one ref, work that only concerned the other is not done twice', async () => {
  const { repository, writer } = await newWriter()
  await writer.run((staging) => put(staging, main, 'first.md'))
  const runs = { queue: 0, main: 0 }
  const rival = async () => {
    const tree = nativeGit(repository.gitDir, ['rev-parse', 'main^{tree}'])
    const oid = nativeGit(repository.gitDir, ['commit-tree', '-m', 'rival', '-p', 'main', tree])
    nativeGit(repository.gitDir, ['update-ref', main, oid])
  }
  await Promise.all([
    writer.run(async (staging) => {
      runs.queue++
      return put(staging, queue, 'candidate.md')
    }),
    writer.run(async (staging) => {
      if (runs.main++ === 0) await rival()
      return put(staging, main, 'second.md')
    }),
  ])
  expect(runs).toEqual({ queue: 1, main: 2 })
  expect(nativeGit(repository.gitDir, ['log', '--format=%s', 'main']).split('\n')).toEqual([
    'Put second.md',
    'rival',
    'Put first.md',
  ])
  expect(nativeGit(repository.gitDir, ['rev-list', '--count', queue])).toBe('1')
  repository.close()
})

test('when nothing can be written every caller hears of it, and the writer goes on working afterwards', async () => {
  const { repository, writer } = await newWriter()
  const write = repository.writeObjects
  repository.writeObjects = () =>
    Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
  const failed = await Promise.allSettled([1, 2].map((n) => writer.run((staging) => put(staging, main, `${n}.md`))))
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  repository.writeObjects = write
  await writer.run((staging) => put(staging, main, 'after.md'))
  expect(nativeGit(repository.gitDir, ['ls-tree', '--name-only', 'main'])).toBe('after.md')
  repository.close()
})

test('what comes while the writer waits for its turn is in the same batch, and a follower does not wait', async () => {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  const store = folderRefs(repository, [queue, main])
  const turn = Promise.withResolvers<void>()
  let attempts = 0
  store.attempt = async (work) => {
    attempts++
    await turn.promise
    return work()
  }
  const writer = new GroupCommit(repository, store, noFollower)
  const first = writer.run((staging) => put(staging, main, 'first.md'))
  await eventually(() => expect(attempts).toBe(1))
  await writer.follow()
  const second = writer.run((staging) => put(staging, main, 'second.md'))
  turn.resolve()
  expect(nativeGit(repository.gitDir, ['rev-list', '--reverse', (await Promise.all([first, second]))[1]])).toBe(
    `${await first}\n${await second}`,
  )
  expect(attempts).toBe(1)
  repository.close()
})

test('where no turn is to be had, those who wait hear of it, and the writer goes on working afterwards', async () => {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  const store = folderRefs(repository, [queue, main])
  vi.spyOn(store, 'attempt').mockRejectedValueOnce(new Error('no turn'))
  const writer = new GroupCommit(repository, store, noFollower)
  await expect(writer.run((staging) => put(staging, main, 'lost.md'))).rejects.toThrow('no turn')
  await writer.run((staging) => put(staging, main, 'kept.md'))
  expect(nativeGit(repository.gitDir, ['ls-tree', '--name-only', 'main'])).toBe('kept.md')
  repository.close()
})

test('a file takes the place of a folder, or a folder that of a file, where the commit removes what was there, else nothing does', async () => {
  const { repository, writer } = await newWriter()
  const commit = (changes: Record<string, string | null>) =>
    writer.run((staging) =>
      staging.commit(main, { changes: new Map(Object.entries(changes)), message: 'Change', author, committer: author }),
    )
  const files = () => nativeGit(repository.gitDir, ['ls-tree', '-r', '--name-only', 'main']).split('\n')
  await commit({ 'a.md/x.md': 'x', 'a.md/y.md': 'y', 'b.md': 'b' })
  for (const changes of [{ 'a.md': 'a' }, { 'a.md': 'a', 'a.md/x.md': null }, { 'b.md/z.md': 'z' }, { 'a.md': null }]) {
    await expect(commit(changes)).rejects.toMatchObject({ code: 'path-taken' })
  }
  expect(files()).toEqual(['a.md/x.md', 'a.md/y.md', 'b.md'])
  await commit({ 'a.md': 'a', 'a.md/x.md': null, 'a.md/y.md': null, 'b.md/z.md': 'z', 'b.md': null })
  expect(files()).toEqual(['a.md', 'b.md/z.md'])
  expect(nativeGit(repository.gitDir, ['fsck', '--strict'])).toBe('')
  repository.close()
})
