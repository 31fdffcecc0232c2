import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type HistoryEntry, isOnFirstParentLine, readCommits } from '../../../src/git/history/history.ts'
import { Repository } from '../../../src/git/repository.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

async function historyWithMerge(): Promise<Repository> {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  nativeGit(
    repository.gitDir,
    ['fast-import', '--quiet'],
    `blob\nmark :1\ndata 3\nabc
commit refs/heads/main\nmark :10\ncommitter A <a@b> 1700000000 +0000\ndata 3\none\nM 100644 :1 neurons/a.md\nM 100644 :1 "neurons/b\\n c.md"\n
commit refs/heads/main\nmark :11\ncommitter A <a@b> 1700000100 +0000\ndata 3\ntwo\nfrom :10\nD neurons/a.md\n
commit refs/heads/side\nmark :12\ncommitter A <a@b> 1700000200 +0000\ndata 4\nside\nfrom :10\nM 100644 :1 neurons/s.md\n
commit refs/heads/main\nmark :13\ncommitter A <a@b> 1700000300 +0000\ndata 5\nmerge\nfrom :11\nmerge :12\nM 100644 :1 neurons/s.md\n
commit refs/heads/main\ncommitter A <a@b> 1700000400 +0000\ndata 5\nempty\nfrom :13\n
`,
  )
  return repository
}

async function entries(history: AsyncIterable<HistoryEntry>): Promise<string[]> {
  const lines: string[] = []
  for await (const { at, changes } of history) {
    const files = changes.map(({ path, after }) => `${after === undefined ? '-' : '+'}${path}`)
    lines.push(`${at.getTime() / 1000} ${files.join(' ')}`)
  }
  return lines
}

test('a branch is read along its first parents: a merge counts as one commit with all that it brought', async () => {
  const repository = await historyWithMerge()
  const dir = repository.gitDir
  const head = nativeGit(dir, ['rev-parse', 'main'])
  expect(await entries(readCommits(repository, head, undefined))).toEqual([
    '1700000000 +neurons/a.md +neurons/b\n c.md',
    '1700000100 -neurons/a.md',
    '1700000300 +neurons/s.md',
    '1700000400 ',
  ])
})

test('history after a commit of the line is the rest of it', async () => {
  const repository = await historyWithMerge()
  const dir = repository.gitDir
  const [head, second] = [nativeGit(dir, ['rev-parse', 'main']), nativeGit(dir, ['rev-parse', 'main~2'])]
  expect(await entries(readCommits(repository, head, second))).toEqual(['1700000300 +neurons/s.md', '1700000400 '])
  expect(await isOnFirstParentLine(repository, head, second)).toBe(true)
  expect(await isOnFirstParentLine(repository, head, nativeGit(dir, ['rev-parse', 'side']))).toBe(false)
})

test('a history that cannot be read is an error, not an empty history', async () => {
  const repository = await historyWithMerge()
  await expect(entries(readCommits(repository, 'a'.repeat(40), undefined))).rejects.toMatchObject({
    code: 'git-failed',
  })
})
