import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PushTooLarge, pushedCommits, walkPushedTrees } from '../../src/git/pushed-objects.ts'
import { Repository } from '../../src/git/repository.ts'
import { tempDir } from '../support/temp.ts'
import { HostileCommits } from './support/hostile-commits.ts'
import { nativeGit } from './support/native-git.ts'

const file = '100644'
const folder = '40000'

type Pushed = { gitDir: string; repository: Repository; from: string; write: HostileCommits }

/** A repository with one commit, and another whose objects wait to be let into it. Its path has what divides lists of paths. */
async function newPush(): Promise<Pushed> {
  const gitDir = join(tempDir(), 'a:b "c".git')
  const repository = await Repository.init(gitDir)
  const inside = new HostileCommits(gitDir)
  const from = inside.commit(inside.with(inside.tree([]), 'old/a.md', { mode: file, oid: inside.blob('a') }))
  nativeGit(gitDir, ['update-ref', 'refs/heads/main', from])
  repository.close()
  const clone = join(tempDir(), 'clone')
  nativeGit(tempDir(), ['clone', '--quiet', '--shared', gitDir, clone])
  const quarantine = join(clone, '.git', 'objects')
  return {
    gitDir,
    repository: new Repository(gitDir, { quarantine }),
    from,
    write: new HostileCommits(clone),
  }
}

async function changesOf(repository: Repository, commits: readonly string[]): Promise<string[]> {
  const changes: string[] = []
  await walkPushedTrees(repository, commits, ({ commit, prefix, changed, added }) => {
    for (const { name } of changed) {
      changes.push(`${commits.indexOf(commit)} ${added.has(name) ? 'A' : 'M'} ${prefix}${name}`)
    }
    return changed.filter(({ mode }) => mode === folder)
  })
  return changes
}

test('a repository with a quarantine reads what waits there, and one without does not', async () => {
  const { gitDir, repository, from, write } = await newPush()
  const oid = write.blob('new')
  expect(await repository.readText(oid)).toBe('new')
  expect((await repository.read(from)).type).toBe('commit')
  const outside = new Repository(gitDir)
  expect(await outside.find(oid)).toBeUndefined()
  outside.close()
  repository.close()
})

test('the commits of a push come newest first, and its files with their sizes', async () => {
  const { repository, from, write } = await newPush()
  const large = write.blob('x'.repeat(1001))
  const withLarge = write.with(write.treeOf(from), 'large', { mode: file, oid: large })
  const first = write.commit(withLarge, from)
  const to = write.commit(write.treeOf(from), first)
  expect(await pushedCommits(repository, { from, to })).toEqual([to, first])
  expect(await pushedCommits(repository, { from, to: from })).toEqual([])
  const found: ReadonlyMap<string, number>[] = []
  await walkPushedTrees(repository, [first], ({ sizes }) => {
    found.push(sizes)
    return []
  })
  expect(found).toEqual([new Map([[large, 1001]])])
  repository.close()
})

test('each commit shows what none of its parents has, with what it adds', async () => {
  const { repository, from, write } = await newPush()
  const entry = (text: string) => ({ mode: file, oid: write.blob(text) })
  const base = write.treeOf(from)
  const left = write.commit(write.with(base, 'new/left.md', entry('left')), from)
  const right = write.commit(write.with(base, 'old/a.md', entry('edited')), from)
  const both = write.with(write.treeOf(left), 'old/a.md', entry('edited'))
  const merge = write.commit(write.with(both, 'new/own.md', entry('own')), left, right)
  expect(await changesOf(repository, [merge, right, left])).toEqual([
    '0 A new',
    '0 A new/own.md',
    '1 M old',
    '1 M old/a.md',
    '2 A new',
    '2 A new/left.md',
  ])
  const executable = write.with(base, 'old/a.md', { ...entry('a'), mode: '100755' })
  expect(await changesOf(repository, [write.commit(executable, from)])).toEqual(['0 M old', '0 M old/a.md'])
  repository.close()
})

test('a commit without parents brings all that it holds', async () => {
  const { repository, from, write } = await newPush()
  expect(await changesOf(repository, [write.commit(write.treeOf(from))])).toEqual(['0 A old', '0 A old/a.md'])
  repository.close()
})

test('what is no commit, or lacks an object, is an error', async () => {
  const { repository, from, write } = await newPush()
  const failed = { code: 'git-failed' }
  await expect(pushedCommits(repository, { from, to: '--all' })).rejects.toMatchObject(failed)
  await expect(pushedCommits(repository, { from: 'main', to: from })).rejects.toMatchObject(failed)
  await expect(pushedCommits(repository, { from, to: write.treeOf(from) })).rejects.toMatchObject(failed)
  const orphan = write.commit(write.treeOf(from), '1'.repeat(40))
  await expect(pushedCommits(repository, { from, to: orphan })).rejects.toMatchObject(failed)
  const lost = write.commit(write.tree([{ mode: folder, name: 'lost', oid: '1'.repeat(40) }]), from)
  await expect(changesOf(repository, [lost])).rejects.toMatchObject({ code: 'missing-object' })
  repository.close()
})

test('a commit message of more than 1 MB, and a folder of more than 4 MB, are refused', async () => {
  const { repository, from, write } = await newPush()
  const message = 'x'.repeat(1024 * 1024)
  const long = nativeGit(write.dir, ['commit-tree', write.treeOf(from), '-p', from], message)
  await expect(pushedCommits(repository, { from, to: long })).rejects.toThrow(PushTooLarge)
  const oid = write.blob('x')
  const wide = write.tree(
    Array.from({ length: 100_000 }, (_, index) => ({ mode: file, name: `file-${index + 1e9}`, oid })),
  )
  const commit = write.commit(wide, from)
  await expect(changesOf(repository, [commit])).rejects.toThrow('A folder of the push holds too many files.')
  repository.close()
})

test('more than 30,000 commits are refused', async () => {
  const { repository, from, write } = await newPush()
  const lines = Array.from(
    { length: 30_001 },
    (_, index) =>
      `commit refs/heads/many\ncommitter N <n@example.com> ${index} +0000\ndata 0\n${index === 0 ? `from ${from}\n` : ''}\n`,
  )
  nativeGit(write.dir, ['fast-import', '--quiet'], lines.join(''))
  const to = nativeGit(write.dir, ['rev-parse', 'refs/heads/many'])
  await expect(pushedCommits(repository, { from, to })).rejects.toThrow('The push has more than 30000 commits.')
  repository.close()
})

test('two large folders that take turns in many commits are refused, however few objects they are', async () => {
  const { repository, from, write } = await newPush()
  const oids = [write.blob('0'), write.blob('1')]
  const entries = Array.from({ length: 50_000 }, (_, index) => ({ mode: file, name: `f${index}`, oid: oids[0] ?? '' }))
  const trees = oids.map((oid) => write.tree(entries.with(0, { mode: file, name: 'f0', oid })))
  const lines = Array.from(
    { length: 110 },
    (_, index) =>
      `commit refs/heads/turns\ncommitter N <n@example.com> ${index} +0000\ndata 0\n${index === 0 ? `from ${from}\n` : ''}M 040000 ${trees[index % 2]} wide\n`,
  )
  nativeGit(write.dir, ['fast-import', '--quiet'], lines.join(''))
  const commits = nativeGit(write.dir, ['rev-list', 'refs/heads/turns', `^${from}`]).split('\n')
  expect((await changesOf(repository, commits.slice(0, 50))).length).toBe(100)
  await expect(changesOf(repository, commits)).rejects.toThrow('The push changes too large folders too often.')
  repository.close()
})

test('a commit that names a parent twice, or too many, is refused', async () => {
  const { repository, from, write } = await newPush()
  const commitOf = (parents: readonly string[]) => {
    const lines = [`tree ${write.treeOf(from)}`, ...parents.map((parent) => `parent ${parent}`)]
    const people = ['author', 'committer'].map((who) => `${who} A <a@example.com> 1 +0000`)
    return nativeGit(
      write.dir,
      ['hash-object', '-w', '-t', 'commit', '--literally', '--stdin'],
      `${[...lines, ...people].join('\n')}\n\nMany\n`,
    )
  }
  const others = Array.from({ length: 65 }, (_, n) =>
    nativeGit(write.dir, ['commit-tree', write.treeOf(from), '-p', from], `${n}`),
  )
  const twice = commitOf([from, ...others.slice(0, 2), from])
  await expect(changesOf(repository, [twice])).rejects.toThrow(
    new PushTooLarge(`Commit ${twice.slice(0, 7)} names a parent twice.`),
  )
  const many = commitOf(others)
  await expect(changesOf(repository, [many])).rejects.toThrow(
    new PushTooLarge(`Commit ${many.slice(0, 7)} has 65 parents; 64 are allowed.`),
  )
  expect(await changesOf(repository, [commitOf(others.slice(1))])).toEqual([])
  repository.close()
})
