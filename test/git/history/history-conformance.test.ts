import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { CommitWalk, commitsBetween, isAncestor, mergeBase, readCommits } from '../../../src/git/history/history.ts'
import { trailersOf } from '../../../src/git/history/trailers.ts'
import { listFiles, Repository } from '../../../src/git/repository.ts'
import { fc } from '../../support/properties.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit, nativeGitBytes } from '../support/native-git.ts'

/** Compares what we read of a history with what native git reads of it. */

const commits = 60
let repository: Repository
let oids: string[]
let random: (below: number) => number

/** Commits on commits before them, merges among them, by clocks that are not quite right; each changes some files. */
beforeEach(async () => {
  random = seeded(fc.sample(fc.integer(), 1)[0] ?? 0)
  repository = await Repository.init(join(tempDir(), 'kb.git'))
  const lines: string[] = []
  const names = ['a', 'folder', 'folder/a', 'folder/b', 'folder.md', 'folder-b', 'ü/ö', 'z/y/x/w']
  for (let mark = 1; mark <= commits; mark++) {
    const seconds = 1_700_000_000 + mark * 100 - random(mark % 10 === 0 ? 1000 : 50)
    const parents = [...new Set(Array.from({ length: 1 + random(3) }, () => mark - 1 - random(6)))].filter((n) => n > 0)
    const [first, ...merged] = random(15) === 0 ? [] : parents
    const ref = `refs/heads/b${mark}`
    lines.push(
      `commit ${ref}`,
      `mark :${mark}`,
      `committer A <a@example.com> ${seconds} +0000`,
      `data ${`c${mark}`.length}`,
    )
    lines.push(`c${mark}`, ...(first === undefined ? [] : [`from :${first}`]), ...merged.map((n) => `merge :${n}`))
    for (let change = random(4); change > 0; change--) {
      const name = names[random(names.length)] ?? ''
      const mode = ['100644', '100755', '120000'][random(3)]
      lines.push(...(random(4) === 0 ? [`D "${name}"`] : [`M ${mode} inline "${name}"`, 'data 1', `${random(3)}`]))
    }
    lines.push('')
  }
  nativeGit(repository.gitDir, ['fast-import', '--quiet'], `${lines.join('\n')}\n`)
  oids = nativeGit(repository.gitDir, ['rev-parse', ...Array.from({ length: commits }, (_, n) => `b${n + 1}`)]).split(
    '\n',
  )
})

function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const anyCommit = () => oids[random(commits)] ?? ''
const native = (...args: string[]) => nativeGit(repository.gitDir, args).split('\n').filter(Boolean)

function orNone(args: string[]): string[] {
  try {
    return native(...args)
  } catch {
    return []
  }
}

test('which commits are in the history of another, what they have in common, and what one adds', async () => {
  for (let pair = 0; pair < 40; pair++) {
    const [a, b] = [anyCommit(), anyCommit()]
    const bases = orNone(['merge-base', '--all', a, b])
    const base = await mergeBase(repository, a, b)
    expect(base === undefined ? bases.length === 0 : bases.includes(base), `${a} ${b}`).toBe(true)
    expect(await isAncestor(repository, a, b), `${a} ${b}`).toBe(bases.includes(a))
    const added = await commitsBetween(new CommitWalk(repository), a, b)
    expect(added.map(({ oid }) => oid).sort()).toEqual(native('rev-list', b, `^${a}`).sort())
    const seen = new Set<string>()
    for (const { oid, parents } of added) {
      const isKnown = (parent: string) => seen.has(parent) || !added.some((other) => other.oid === parent)
      expect(parents.every(isKnown)).toBe(true)
      seen.add(oid)
    }
  }
})

test('what each commit of a first-parent history changed', async () => {
  for (let round = 0; round < 5; round++) {
    const head = anyCommit()
    const log = ['log', '--first-parent', '--reverse', '--diff-merges=first-parent', '--raw', '-z', '--no-abbrev']
    const text = nativeGitBytes(repository.gitDir, [...log, '--no-renames', '--format=%x01%H', head]).toString()
    const expected = text
      .split('\u0001')
      .slice(1)
      .map((entry) => {
        const [commit = '', ...fields] = entry.split('\0').filter((field) => field.trim() !== '')
        const changes = Array.from({ length: fields.length / 2 }, (_, at) => {
          const [, mode, , after] = (fields[at * 2] ?? '').trim().split(' ')
          return `${fields[at * 2 + 1]} ${mode} ${after === '0'.repeat(40) ? undefined : after}`
        })
        return [commit, ...changes]
      })
    const read: string[][] = []
    for await (const { commit, changes } of readCommits(repository, head, undefined)) {
      read.push([commit, ...changes.map(({ path, mode, after }) => `${path} ${mode} ${after}`)])
    }
    expect(read).toEqual(expected)
    const files = native('-c', 'core.quotePath=false', 'ls-tree', '-r', '-l', '--full-tree', head).map((line) =>
      line.replace(/ +/g, ' '),
    )
    const listed = (await listFiles(repository, head)).map(
      ({ path, mode, oid, size }) => `${mode} blob ${oid} ${size}\t${path}`,
    )
    expect(listed).toEqual(files)
  }
})

const word = fc.constantFrom('a', 'Signed-off-by', 'Kind', 'x y', '#', 'ü', 'Co-Authored-By', '')
const line = fc.oneof(
  fc.tuple(word, fc.constantFrom(': ', ':', ' : ', ' '), word).map((parts) => parts.join('')),
  fc.constantFrom('', '', ' ', '  folded', '(cherry picked from commit 1234)', '# comment', 'words and words', '---'),
)

test('the trailers of any message', () => {
  const messages = fc.sample(fc.array(line, { maxLength: 12 }), 150).map((lines) => `Title\n${lines.join('\n')}`)
  const tree = nativeGit(repository.gitDir, ['mktree'], '')
  const lines = messages.flatMap((message, at) => [
    `commit refs/heads/messages`,
    `committer A <a@example.com> ${at} +0000`,
    `data ${Buffer.byteLength(message)}`,
    message,
    `M 040000 ${tree} `,
    '',
  ])
  nativeGit(repository.gitDir, ['fast-import', '--quiet'], `${lines.join('\n')}\n`)
  const format = '--format=%x01%(trailers:only,unfold,separator=%x02,key_value_separator=%x03)'
  const shown = nativeGit(repository.gitDir, ['log', '--reverse', format, 'refs/heads/messages'])
  const expected = shown
    .split('\u0001')
    .slice(1)
    .map((text) =>
      text
        .replace(/\n$/, '')
        .split('\u0002')
        .filter(Boolean)
        .map((pair) => pair.split('\u0003')),
    )
  expect(messages.map((message) => [message, trailersOf(message)])).toEqual(
    messages.map((message, at) => [message, expected[at]]),
  )
})

test('the history of a shallow clone ends where its commits do', async () => {
  const dir = join(tempDir(), 'clone')
  const head = oids.at(-1) ?? ''
  nativeGit(tempDir(), ['clone', '--quiet', '--depth=2', '--branch', `b${commits}`, `file://${repository.gitDir}`, dir])
  const shallow = new Repository(join(dir, '.git'))
  const read: string[] = []
  for await (const { commit } of readCommits(shallow, head, undefined)) read.push(commit)
  expect(read.reverse()).toEqual(nativeGit(dir, ['rev-list', '--first-parent', 'HEAD']).split('\n'))
})
