import { join } from 'node:path'
import { expect, test } from 'vitest'
import { authorOfCommit, hashObject } from '../../src/git/objects/object.ts'
import { Repository, type TreeChange } from '../../src/git/repository.ts'
import { Staging } from '../../src/git/staging.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { nativeGit } from './support/native-git.ts'

const main = 'refs/heads/main'
const at = new Date('2026-05-01T12:00:00.789Z')
const author = { name: 'Ada', email: 'ada@example.com', at }

async function newRepository(): Promise<Repository> {
  return Repository.init(join(tempDir(), 'kb.git'))
}

/** Commits files to main as the group commit does: stage, write, move the ref. */
async function commit(
  repository: Repository,
  files: Record<string, string | null>,
  message = 'A change',
): Promise<string> {
  const head = await repository.readRef(main)
  const staging = new Staging(repository, new Map([[main, head]]))
  const changes = new Map(Object.entries(files))
  const oid = await staging.commit(main, { changes, message, author, committer: author })
  await repository.writeObjects(staging.objects)
  expect(await repository.updateRef(main, head, oid)).toBe(true)
  return oid
}

test('what is written is what native git reads, and passes its strictest check', async () => {
  const repository = await newRepository()
  await commit(repository, { 'neurons/2026/05/a.md': 'one\n', 'kb.yaml': 'id: x\n', 'neurons/Zoë – naïve.md': 'ü\n' })
  const oid = await commit(repository, { 'neurons/2026/05/a.md': 'two\n', 'neurons/b.md': 'three\n' }, 'Second')
  expect(nativeGit(repository.gitDir, ['fsck', '--full', '--strict'])).toBe('')
  expect(nativeGit(repository.gitDir, ['rev-parse', 'main'])).toBe(oid)
  expect(
    nativeGit(repository.gitDir, ['-c', 'core.quotePath=off', 'ls-tree', '-r', '--name-only', 'main']).split('\n'),
  ).toEqual(['kb.yaml', 'neurons/2026/05/a.md', 'neurons/Zoë – naïve.md', 'neurons/b.md'])
  expect(nativeGit(repository.gitDir, ['show', 'main:neurons/2026/05/a.md'])).toBe('two')
  expect(nativeGit(repository.gitDir, ['log', '-1', '--format=%an %ae %at %s', 'main'])).toBe(
    'Ada ada@example.com 1777636800 Second',
  )
  repository.close()
})

test('removing the last file of a folder removes the folder', async () => {
  const repository = await newRepository()
  await commit(repository, { 'a/b/c.md': 'x', 'kb.yaml': 'y' })
  await commit(repository, { 'a/b/c.md': null })
  expect(nativeGit(repository.gitDir, ['ls-tree', '-r', '-t', '--name-only', 'main'])).toBe('kb.yaml')
  await commit(repository, { 'kb.yaml': null })
  expect(nativeGit(repository.gitDir, ['ls-tree', 'main'])).toBe('')
  expect(nativeGit(repository.gitDir, ['fsck', '--strict'])).toBe('')
  repository.close()
})

test('a file may become a folder and a folder a file', async () => {
  const repository = await newRepository()
  await commit(repository, { a: 'file', b: 'x' })
  await commit(repository, { a: null, 'a/b': 'inside' })
  expect(nativeGit(repository.gitDir, ['ls-tree', '-r', '--name-only', 'main'])).toBe('a/b\nb')
  await commit(repository, { 'a/b': null, a: 'file again' })
  expect(nativeGit(repository.gitDir, ['ls-tree', '-r', '--name-only', 'main'])).toBe('a\nb')
  repository.close()
})

test('an edit keeps neighbours whose names are not UTF-8, byte for byte', async () => {
  const repository = await newRepository()
  const blob = nativeGit(repository.gitDir, ['hash-object', '-w', '--stdin'], 'x')
  const listing = Buffer.concat([
    Buffer.from(`100644 blob ${blob}\t`),
    Buffer.from([0x66, 0xff, 0xe9]),
    Buffer.from('\0'),
  ])
  const tree = nativeGit(repository.gitDir, ['mktree', '-z'], listing).trim()
  expect(tree).toMatch(/^[0-9a-f]{40}$/)
  const root = nativeGit(repository.gitDir, ['commit-tree', '-m', 'odd', tree])
  nativeGit(repository.gitDir, ['update-ref', main, root])
  const before = nativeGit(repository.gitDir, ['ls-tree', main])
  await commit(repository, { 'good.md': 'y' })
  const after = nativeGit(repository.gitDir, ['ls-tree', main]).split('\n')
  expect(after).toContain(before)
  expect(after).toHaveLength(2)
  repository.close()
})

test('reads see what native git packs, loosens and collects meanwhile', async () => {
  const repository = await newRepository()
  const oids: string[] = []
  for (let n = 0; n < 20; n++) {
    await commit(repository, { [`neurons/${n}.md`]: `text ${n}\n` })
    oids.push(hashObject('blob', Buffer.from(`text ${n}\n`)))
  }
  const fresh = new Repository(repository.gitDir)
  expect(await fresh.readText(oids[0] ?? '')).toBe('text 0\n')
  nativeGit(repository.gitDir, ['gc', '--prune=now', '--quiet'])
  const texts = await Promise.all(oids.map((oid) => fresh.readTextOnce(oid)))
  expect(texts).toEqual(oids.map((_, n) => `text ${n}\n`))
  const loose = nativeGit(repository.gitDir, ['hash-object', '-w', '--stdin'], 'new\n')
  expect(await fresh.readText(loose)).toBe('new\n')
  repository.close()
  fresh.close()
})

test('an object that is not there is undefined; what is no object id never reaches git', async () => {
  const repository = await newRepository()
  expect(await repository.find('a'.repeat(40))).toBeUndefined()
  await expect(repository.find('HEAD\n--batch-check')).rejects.toThrow('not an object id')
  await expect(repository.readText('b'.repeat(40))).rejects.toMatchObject({ code: 'missing-object' })
  repository.close()
})

test('a file is found by path at a commit', async () => {
  const repository = await newRepository()
  const first = await commit(repository, { 'neurons/é.md': 'one' })
  await commit(repository, { 'neurons/é.md': 'two' })
  const blob = await repository.blobAt(first, 'neurons/é.md')
  expect(await repository.readText(blob ?? '')).toBe('one')
  expect(await repository.blobAt(first, 'neurons')).toBeUndefined()
  expect(await repository.blobAt(first, 'neurons/é.md/x')).toBeUndefined()
  repository.close()
})

test('a tree diff names what changed, and agrees with native git', async () => {
  const repository = await newRepository()
  const files = (n: number) =>
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`d${i % 5}/f${i}.md`, `${i % n}`]))
  const a = await commit(repository, files(3))
  const b = await commit(repository, { ...files(7), 'd0/f0.md': null, 'd0/f5.md': null, 'new/x.md': 'x', d9: 'file' })
  const found: string[] = []
  for await (const change of repository.diffTrees(await repository.treeOf(a), await repository.treeOf(b))) {
    found.push(`${change.before ?? '0'.repeat(40)} ${change.after ?? '0'.repeat(40)} ${change.path}`)
  }
  const native = nativeGit(repository.gitDir, ['diff-tree', '-r', '--no-renames', a, b]).split('\n')
  const expected = native.map((line) => line.replace(/^:\d+ \d+ (\w+) (\w+) \w\t/, '$1 $2 '))
  expect(found.sort()).toEqual(expected.sort())
  repository.close()
})

test('an author cannot break out of a commit header', async () => {
  const repository = await newRepository()
  const staging = new Staging(repository, new Map([[main, undefined]]))
  const evil = { name: 'x <y>\nparent 123', email: 'a>b\0c', at }
  const oid = await staging.commit(main, {
    changes: new Map([['a', 'b']]),
    message: 'm',
    author: evil,
    committer: author,
  })
  await repository.writeObjects(staging.objects)
  await repository.updateRef(main, undefined, oid)
  expect(nativeGit(repository.gitDir, ['fsck', '--strict'])).toBe('')
  expect(nativeGit(repository.gitDir, ['rev-list', '--count', 'main'])).toBe('1')
  expect(authorOfCommit((await repository.read(oid)).data).name).toBe('x  y  parent 123')
  repository.close()
})

const Path = fc.constantFrom('a.md', 'a/b.md', 'a/c.md', 'b/ü/d.md', 'b/ü.md', 'b.md', 'a')
const Files = fc.dictionary(Path, fc.constantFrom('one', 'two', null), { minKeys: 1, maxKeys: 4 })

test('what a staged commit is said to change is what its trees differ in', async () => {
  const repository = await newRepository()
  const diff = async (changes: AsyncIterable<TreeChange>) => {
    const all: TreeChange[] = []
    for await (const change of changes) all.push(change)
    return all.sort((one, other) => (one.path < other.path ? -1 : 1))
  }
  await fc.assert(
    fc.asyncProperty(fc.array(Files, { minLength: 2, maxLength: 4 }), async (commits) => {
      const staging = new Staging(repository, new Map())
      const oids: string[] = []
      const present = new Set<string>()
      for (const files of commits) {
        const changes = sound(files, present)
        for (const [path, text] of changes) text === null ? present.delete(path) : present.add(path)
        oids.push(await staging.commit(main, { changes, message: 'A change', author, committer: author }))
      }
      await repository.writeObjects(staging.objects)
      for (const [index, oid] of oids.entries()) {
        const before = oids[index - 1]
        const known = staging.changes.get(oid)
        const differing = await diff(repository.diffCommits(before, oid))
        if (known !== undefined) expect(known).toEqual(differing)
        repository.noteChanges(oid, known ?? differing)
        expect(await diff(repository.diffCommits(before, oid))).toEqual(differing)
        const fromNothing = repository.diffTrees(undefined, await repository.treeOf(oid))
        expect(await diff(repository.diffCommits(undefined, oid))).toEqual(await diff(fromNothing))
      }
    }),
    { numRuns: runs(60, 15) },
  )
})

/** Returns a valid commit: it writes a file or what is below it, not both, removes what exists, and everything that its files replace. */
function sound(files: Record<string, string | null>, present: ReadonlySet<string>): Map<string, string | null> {
  const isBelow = (path: string, other: string) => path.startsWith(`${other}/`)
  const changes = Object.entries(files).filter(
    ([path, text]) =>
      (text === null ? present.has(path) : true) && !Object.keys(files).some((other) => isBelow(path, other)),
  )
  const written = changes.flatMap(([path, text]) => (text === null ? [] : [path]))
  const replaced = [...present].filter((path) => written.some((other) => isBelow(path, other) || isBelow(other, path)))
  return new Map([...replaced.map((path): [string, null] => [path, null]), ...changes])
}

test('with the objects of a push it reads its own packs, also those that are written or consolidated meanwhile', async () => {
  const repository = await newRepository()
  const first = await commit(repository, { 'a.md': 'one\n' })
  const other = await newRepository()
  const pushed = await commit(other, { 'b.md': 'pushed\n' })
  const both = repository.withQuarantine(join(other.gitDir, 'objects'))
  const reads = async (...oids: string[]) => (await Promise.all(oids.map((oid) => both.find(oid)))).map(Boolean)
  expect(await reads(first, pushed)).toEqual([true, true])
  expect(await repository.find(pushed)).toBeUndefined()
  const second = await commit(repository, { 'a.md': 'two\n' })
  expect(await reads(second)).toEqual([true])
  repository.close()
  nativeGit(repository.gitDir, ['repack', '-adq'])
  expect(await reads(first, second, pushed)).toEqual([true, true, true])
  both.close()
  expect((await repository.find(second))?.type).toBe('commit')
  expect(await repository.find(pushed)).toBeUndefined()
})
