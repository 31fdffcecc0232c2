import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GitError } from '../../../src/git/git-error.ts'
import { isAncestor, mergeBase } from '../../../src/git/history/history.ts'
import { Repository } from '../../../src/git/repository.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

const missing = '1'.repeat(40)

/** Two commits on a third, and one that has no history in common with them. */
async function fork() {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  const dir = repository.gitDir
  const tree = nativeGit(dir, ['mktree'], '')
  const commit = (message: string, ...parents: string[]) =>
    nativeGit(dir, ['commit-tree', tree, '-m', message, ...parents.flatMap((parent) => ['-p', parent])])
  const base = commit('base')
  return {
    repository,
    dir,
    base,
    ours: commit('ours', base),
    theirs: commit('theirs', base),
    stranger: commit('stranger'),
  }
}

test('of two commits, one is in the history of the other, or they have a base, or nothing in common', async () => {
  const { repository, base, ours, theirs, stranger } = await fork()
  expect(await isAncestor(repository, ours, ours)).toBe(true)
  expect(await isAncestor(repository, base, ours)).toBe(true)
  expect(await isAncestor(repository, ours, base)).toBe(false)
  expect(await isAncestor(repository, stranger, ours)).toBe(false)
  expect(await isAncestor(repository, missing, ours)).toBe(false)
  expect(await mergeBase(repository, ours, theirs)).toBe(base)
  expect(await mergeBase(repository, ours, stranger)).toBeUndefined()
})

test('a history that cannot be read is no answer', async () => {
  const { repository, dir, base, ours, theirs } = await fork()
  await expect(isAncestor(repository, ours, missing)).rejects.toThrow(GitError)
  await expect(mergeBase(repository, ours, missing)).rejects.toThrow(GitError)
  rmSync(join(dir, 'objects', base.slice(0, 2), base.slice(2)))
  await expect(mergeBase(repository, ours, theirs)).rejects.toThrow(GitError)
  await expect(isAncestor(repository, ours, theirs)).rejects.toThrow(GitError)
})

test('a history that was made to take minutes is given up', async () => {
  const { repository, dir, base } = await fork()
  const commands: string[] = []
  const commit = (ref: string, mark: number, parents: readonly string[]) => {
    const [from, ...merged] = parents
    const begin = from === undefined ? [`reset ${ref}`] : []
    const links = from === undefined ? [] : [`from ${from}`, ...merged.map((parent) => `merge ${parent}`)]
    const header = [`commit ${ref}`, `mark :${mark}`, `committer A <a@example.com> ${mark} +0000`, 'data 1', 'x']
    commands.push(...begin, ...header, ...links, '')
  }
  // Two branches that both have merged the same commits, none of which is in the history of another.
  const count = 3000
  for (let n = 1; n <= count; n++) commit('refs/heads/root', n, [])
  for (const [side, first] of [
    ['refs/heads/a', 10_000],
    ['refs/heads/b', 20_000],
  ] as const) {
    for (let n = 0; n < count; n += 15) {
      const roots = Array.from({ length: 15 }, (_, at) => `:${n + at + 1}`)
      commit(side, first + n, [n === 0 ? base : `:${first + n - 15}`, ...roots])
    }
  }
  nativeGit(dir, ['fast-import', '--quiet'], `${commands.join('\n')}\n`)
  const [a = '', b = ''] = nativeGit(dir, ['rev-parse', 'a', 'b']).split('\n')
  await expect(mergeBase(repository, a, b, { timeLimit: 20 })).rejects.toMatchObject({ code: 'too-slow' })
  const merged = nativeGit(dir, ['commit-tree', `${b}^{tree}`, '-p', b, '-p', a, '-m', 'Merge'])
  expect(await mergeBase(repository, a, merged)).toBe(a)
})
