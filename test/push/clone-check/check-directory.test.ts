import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CheckError, checkDirectory } from '../../../src/push/clone-check/check-directory.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { put } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'

const settings = 'id: 0199a5c2-0000-7000-8000-000000000000\nslug: notes\nprefix: notes\ntitle: Notes\n'
const neuron = (number: number, content = 'Text.', more = '') =>
  `---\nseqId: notes_${String(number).padStart(8, '0')}\ntitle: Note ${number}\n${more}---\n\n${content}\n`

/** A folder with the files of a knowledge base. */
function folderOf(files: Record<string, string | Buffer>): string {
  const dir = tempDir()
  for (const [path, content] of Object.entries({ 'kb.yaml': settings, ...files })) put(dir, path, content)
  return dir
}

/** A checkout whose one commit has these files. */
function checkoutOf(files: Record<string, string | Buffer>): string {
  const dir = folderOf(files)
  nativeGit(dir, ['init', '--quiet', '--initial-branch=main'])
  commit(dir)
  return dir
}

function commit(dir: string): void {
  nativeGit(dir, ['add', '--all'])
  nativeGit(dir, ['commit', '--quiet', '--message', 'Change'])
}

async function rulesOf(dir: string, base?: string): Promise<string[]> {
  const { findings } = await checkDirectory(dir, { base })
  return findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`)
}

test('a sound folder has no findings, and every file is counted', async () => {
  const dir = folderOf({
    'neurons/a.md': neuron(1, 'See [[Note 2]], [[sub/b]], ![[map.png]] and [[kb:other/x]].'),
    'neurons/sub/b.md': neuron(2),
    'neurons/sub/map.png': 'png',
    'README.md': '[[not a Neuron]]',
  })
  expect(await checkDirectory(dir, {})).toEqual({ findings: [], files: 5 })
})

test('an audience that shows a page to nobody is warned of: misspelled, or of one page alone', async () => {
  const page = (number: number, audience: string) => neuron(number).replace('---\n', `---\naudience: [${audience}]\n`)
  const dir = folderOf({
    'neurons/a.md': page(1, 'pubic'),
    'neurons/b.md': page(2, 'Public, tool'),
    'neurons/c.md': page(3, 'nurses'),
    'neurons/d.md': page(4, 'team-a, curator'),
    'neurons/e.md': page(5, 'team-a, public, student'),
    'neurons/f.md': page(6, ''),
  })
  const { findings } = await checkDirectory(dir, {})
  expect(findings.map(({ path, severity, message }) => `${path} ${severity}: ${message}`)).toEqual([
    'neurons/a.md warning: The audience pubic shows the page to no reader and no key: write public if you mean that.',
    'neurons/b.md warning: The audience Public shows the page to no reader and no key: write public if you mean that.',
    'neurons/c.md warning: The audience nurses shows the page to no reader and no key: kb.yaml and other pages do not name it.',
  ])
})

test.each(['id: 0199a5c2-0000-7000-8000-000000000001', 'slug: other', 'prefix: other'])(
  'kb.yaml must stay that of its knowledge base, as the server asks: %s',
  async (line) => {
    const dir = checkoutOf({})
    const [key = ''] = line.split(':')
    put(dir, 'kb.yaml', settings.replace(new RegExp(`^${key}: .*`, 'm'), line))
    const errors = async (base?: string) => {
      const { findings } = await checkDirectory(dir, { base })
      return findings.flatMap(({ severity, message }) => (severity === 'error' ? [message.split(' must')[0]] : []))
    }
    expect(await errors()).toEqual([key])
    commit(dir)
    expect(await errors('HEAD~1')).toEqual([key])
    expect(await errors()).toEqual([])
  },
)

test('a link to a heading or block that its page does not have is found', async () => {
  const dir = folderOf({
    'neurons/a.md': neuron(1, '# One, *two*\n\n```\n# Code\n```\n\nThree\n====='),
    'neurons/b.md': neuron(
      2,
      '[[Note 1#One, two]] [[Note 1#three]] [[Note 1#One, two#Three]] [[Note 1#^id]]\n\n[[Note 1#Code]]',
    ),
  })
  expect(await rulesOf(dir)).toEqual(['neurons/b.md:6 broken-heading', 'neurons/b.md:8 broken-heading'])
})

test('schema, seqIds, links, edges and file names are checked, by file and line', async () => {
  const dir = folderOf({
    'kb.yaml': settings.replace('prefix: notes', 'prefix: notes\nprefixx: notes'),
    'neurons/CON.md': neuron(1),
    'neurons/a.md': neuron(2, 'One.\n\n[[Nowhere]] and [[Twin]]', 'edges: [{ type: cites, target: gone }]\n'),
    'neurons/b.md': neuron(2, 'x', 'aliases: [Twin]\n'),
    'neurons/c.md': `---\nseqId: other_00000001\ntags: {a: b}\n---\n\nx\n`,
    'neurons/d.md': neuron(4, 'x', 'aliases: [Twin]\n'),
    'neurons/e.md': '---\nnot closed\n',
  })
  expect(await rulesOf(dir)).toEqual([
    'kb.yaml:1 settings',
    'neurons/CON.md:1 path',
    'neurons/a.md:1 broken-edge',
    'neurons/a.md:9 ambiguous-link',
    'neurons/a.md:9 broken-link',
    'neurons/b.md:1 duplicate-seq-id',
    'neurons/c.md:1 missing-title',
    'neurons/c.md:1 seq-id-prefix',
    'neurons/c.md:3 invalid-front-matter',
    'neurons/d.md:1 same-name',
    'neurons/e.md:1 front-matter-unclosed',
    'neurons/e.md:1 missing-title',
  ])
  put(dir, 'neurons/d.md', neuron(4, '![[gone.png]]'))
  const told = (await checkDirectory(dir, {})).findings.map(({ message }) => message)
  expect(told).toContain('No Neuron or file answers to [[gone.png]].')
})

test('a page that came over the API yields its names, as on the server; the pages of a change yield none', async () => {
  const named = (number: number, more = '') => neuron(number, 'x', more).replace(`Note ${number}`, 'Policy')
  const dir = checkoutOf({
    'neurons/a.md': neuron(1, '[[Policy]]'),
    'neurons/b.md': named(2),
    'neurons/c.md': named(3, 'connector: api\n'),
  })
  expect(await rulesOf(dir)).toEqual(['neurons/c.md:1 same-name'])
  put(dir, 'neurons/d.md', named(4, 'connector: api\n'))
  const further = ['neurons/a.md:6 ambiguous-link', 'neurons/d.md:1 same-name', 'neurons/d.md:1 unknown-seq-id']
  expect(await rulesOf(dir)).toEqual(further)
  expect((await checkDirectory(dir, {})).findings[1]?.message).toBe(
    'The name "Policy" is also that of neurons/b.md, neurons/c.md.',
  )
})

test('with a base, findings that are new come first, then those of files that changed since, errors before warnings, rare rules before common ones', async () => {
  const dir = checkoutOf({
    'neurons/aa.md': neuron(1, '[[Nowhere]]'),
    'neurons/ab.md': neuron(9).replace('notes_', 'other_'),
    'neurons/x.md': neuron(2, '[[Gone]]'),
    'neurons/y.md': neuron(3),
  })
  const base = nativeGit(dir, ['rev-parse', 'HEAD'])
  put(dir, 'neurons/x.md', neuron(2, '\n[[Gone]]'))
  commit(dir)
  put(dir, 'neurons/y.md', neuron(3, '[[Staged]]'))
  nativeGit(dir, ['add', '--all'])
  put(dir, 'neurons/z.md', neuron(1, '[[New]]'))
  put(dir, 'neurons/zz.md', neuron(7, '', 'aliases: [Note 3]\n'))
  expect(await rulesOf(dir, base)).toEqual([
    'neurons/z.md:1 duplicate-seq-id',
    'neurons/zz.md:1 same-name',
    'neurons/zz.md:1 unknown-seq-id',
    'neurons/y.md:6 broken-link',
    'neurons/z.md:6 broken-link',
    'neurons/x.md:7 broken-link',
    'neurons/ab.md:1 seq-id-prefix',
    'neurons/aa.md:6 broken-link',
  ])
  expect((await rulesOf(dir)).slice(0, 2)).toEqual(['neurons/aa.md:6 broken-link', 'neurons/ab.md:1 seq-id-prefix'])
  // What a change breaks in files that it leaves alone, before what was wrong in those that it touches.
  const links = '[[Nowhere]] [[Note 2]]\n[[Nowhere]]\n'
  const other = checkoutOf({
    'neurons/a.md': neuron(1, links),
    'neurons/b.md': neuron(2),
    'neurons/c.md': neuron(3, links),
  })
  rmSync(join(other, 'neurons/b.md'))
  put(other, 'neurons/c.md', neuron(3, `A line.\n${links}`))
  expect(await rulesOf(other, 'HEAD')).toEqual([
    'neurons/c.md:7 broken-link',
    'neurons/a.md:6 broken-link',
    ...['neurons/c.md:7', 'neurons/c.md:8', 'neurons/a.md:6', 'neurons/a.md:7'].map((place) => `${place} broken-link`),
  ])
})

test('a folder without kb.yaml is no knowledge base', async () => {
  const dir = tempDir()
  await expect(checkDirectory(dir, {})).rejects.toThrow(`${dir} is not a knowledge base: it has no file kb.yaml.`)
  symlinkSync('/etc/hostname', join(dir, 'kb.yaml'))
  await expect(checkDirectory(dir, {})).rejects.toThrow(CheckError)
})

test('a broken kb.yaml is one finding, not one for every Neuron', async () => {
  const dir = folderOf({ 'kb.yaml': 'id: [\n', 'neurons/a.md': neuron(1) })
  const { findings } = await checkDirectory(dir, {})
  expect(new Set(findings.map(({ path }) => path))).toEqual(new Set(['kb.yaml']))
})

test('a page that is no text, or too large, is an error at its place', async () => {
  const dir = folderOf({
    'neurons/latin1.md': Buffer.concat([Buffer.from(neuron(1, 'One.\n')), Buffer.from([0xe9])]),
    'neurons/zero.md': neuron(2, 'a\0b'),
    'neurons/huge.md': neuron(3, 'x'.repeat(1024 * 1024)),
  })
  expect(await rulesOf(dir)).toEqual([
    'neurons/huge.md:1 file-size',
    'neurons/latin1.md:8 encoding',
    'neurons/zero.md:6 encoding',
  ])
})

test('text that the parser cannot take in bounded time is a warning', async () => {
  const dir = folderOf({ 'neurons/a.md': neuron(1, `[[x]] <b> ${'[a]('.repeat(60_000)}`) })
  const { findings } = await checkDirectory(dir, {})
  expect(findings).toMatchObject([
    { rule: 'broken-link', line: 6, message: 'No Neuron answers to [[x]].' },
    { rule: 'unparsed', severity: 'warning', line: 6 },
  ])
})

test('links beyond the first 20,000 of a page are a warning that says from where on', async () => {
  const dir = folderOf({ 'neurons/a.md': neuron(1, '[[Nowhere]]\n\n'.repeat(20_001)) })
  const { findings } = await checkDirectory(dir, {})
  expect(findings.filter(({ rule }) => rule === 'broken-link')).toHaveLength(20_000)
  expect(findings.filter(({ rule }) => rule === 'too-many-links')).toMatchObject([{ line: 40_006 }])
})

test('a link by a name that a link cannot hold is told the seqId', async () => {
  const dir = folderOf({
    'neurons/C# basics.md': neuron(2, ''),
    'neurons/a.md': neuron(1, '[[C# basics]] [[notes_00000002|C sharp]] [x](C%23%20basics.md)'),
  })
  expect((await checkDirectory(dir, {})).findings.map(({ message }) => message)).toEqual([
    'No Neuron answers to [[C]]. A page is called "C# basics": link to it by its seqId: [[notes_00000002]].',
  ])
})

test('links to places that a page does not have are warnings', async () => {
  const places = "## What's new & old {#news}\n\n<a id='top'></a>\n\nA block ^b-1\n\n## Part\n\n## Part"
  const good =
    '[[B#what s new & old]] [[B#news]] [[B#^B-1]] [[B#H#Part]] [x](b.md#whats-new--old) [x](b.md#part-1) [x](b.md#top) [x](b.md#L3)'
  const bad =
    '[[B#New]] [[B#^b-2]]\n[x](b.md#old) [[#Nothing]] [x](#nowhere) [[#^no]]\n`[x](#code)` [[#own]] [x](#own)\n\n## Own'
  const dir = folderOf({ 'neurons/b.md': neuron(2, places), 'neurons/a.md': neuron(1, `${good}\n${bad}`) })
  const { findings } = await checkDirectory(dir, {})
  expect(findings.map(({ line, message }) => `${line}: ${message}`)).toEqual([
    '7: The page of [[B#New]] has no such heading.',
    '7: The page of [[B#^b-2]] has no such block.',
    '8: The page of the link to b.md#old has no such heading.',
    '8: This page has no block #^no.',
    '8: This page has no heading #Nothing.',
    '8: This page has no heading #nowhere.',
  ])
})

test('modes are those of the index, or of the disk for what is not tracked; ignored files are left out', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1), 'run.sh': '', '.gitignore': 'ignored\n' })
  nativeGit(dir, ['update-index', '--chmod=+x', 'run.sh'])
  put(dir, 'ignored', 'x')
  put(dir, 'new.sh', 'x')
  chmodSync(join(dir, 'new.sh'), 0o755)
  symlinkSync('run.sh', join(dir, 'link'))
  rmSync(join(dir, 'neurons/a.md'))
  mkdirSync(join(dir, 'nested'))
  nativeGit(join(dir, 'nested'), ['init', '--quiet'])
  put(dir, 'nested/file', 'x')
  expect(await rulesOf(dir)).toEqual([
    'link:1 file-mode',
    'nested:1 file-mode',
    'new.sh:1 file-mode',
    'run.sh:1 file-mode',
  ])
})

test('a name that is not UTF-8 is refused by its path', async () => {
  const dir = checkoutOf({})
  writeFileSync(Buffer.concat([Buffer.from(join(dir, 'caf')), Buffer.from([0xe9])]), 'x')
  expect(await rulesOf(dir)).toEqual(['caf\ufffd:1 path'])
  commit(dir)
  expect(await rulesOf(dir)).toEqual(['caf\ufffd:1 path'])
})

test('a seqId that was changed, removed or copied since the last commit is an error', async () => {
  const dir = checkoutOf({
    'neurons/changed.md': neuron(1),
    'neurons/removed.md': neuron(2),
    'neurons/z-original.md': neuron(3),
    'neurons/moved.md': neuron(4),
    'neurons/edited.md': neuron(5),
  })
  expect(await rulesOf(dir)).toEqual([])
  put(dir, 'neurons/changed.md', neuron(9))
  put(dir, 'neurons/removed.md', '---\ntitle: x\n---\n\nText.\n')
  put(dir, 'neurons/a-copy.md', neuron(3))
  put(dir, 'neurons/edited.md', neuron(5, 'Edited.'))
  rmSync(join(dir, 'neurons/moved.md'))
  put(dir, 'neurons/elsewhere.md', neuron(4))
  const expected = [
    'neurons/a-copy.md:1 duplicate-seq-id',
    'neurons/changed.md:1 changed-seq-id',
    'neurons/removed.md:1 removed-seq-id',
  ]
  expect(await rulesOf(dir)).toEqual(expected)
  commit(dir)
  expect(await rulesOf(dir)).toEqual(['neurons/z-original.md:1 duplicate-seq-id'])
  expect((await rulesOf(dir, 'HEAD~1')).toSorted()).toEqual(expected.toSorted())
})

test('a seqId that no page of the last commit has is a warning, since only the server knows those of deleted pages', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1), 'neurons/b.md': neuron(2) })
  put(dir, 'neurons/moved.md', neuron(2))
  rmSync(join(dir, 'neurons/b.md'))
  put(dir, 'neurons/made-up.md', neuron(99))
  put(dir, 'neurons/new.md', '---\ntitle: New\n---\n\nText.\n')
  expect(await rulesOf(dir)).toEqual(['neurons/made-up.md:1 unknown-seq-id'])
  const { findings } = await checkDirectory(dir, {})
  expect(findings).toMatchObject([{ severity: 'warning', message: expect.stringContaining('notes_00000099') }])
})

test('a base must be a commit, and is never taken for an option', async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1) })
  for (const base of ['nowhere', 'HEAD:kb.yaml', '--all', '', 'HEAD\nHEAD']) {
    await expect(checkDirectory(dir, { base })).rejects.toThrow(/There is no commit/)
  }
  await expect(checkDirectory(folderOf({}), { base: 'HEAD' })).rejects.toThrow(/no git checkout/)
})

test('a repository without a commit, and a linked work tree, are checkouts too', async () => {
  const young = folderOf({ '.gitignore': 'ignored\n', ignored: 'x', 'neurons/a.md': neuron(1) })
  nativeGit(young, ['init', '--quiet'])
  expect(await checkDirectory(young, {})).toEqual({ findings: [], files: 3 })

  const main = checkoutOf({ 'neurons/a.md': neuron(1) })
  const linked = join(tempDir(), 'linked')
  nativeGit(main, ['worktree', 'add', '--quiet', linked])
  put(linked, 'neurons/a.md', neuron(2))
  expect(await rulesOf(linked)).toEqual(['neurons/a.md:1 changed-seq-id'])
  expect(await rulesOf(main)).toEqual([])
})

test("nothing of the repository's own set-up runs", async () => {
  const dir = checkoutOf({ 'neurons/a.md': neuron(1) })
  const trap = join(dir, '.git', 'trap')
  writeFileSync(trap, `#!/bin/sh\ntouch '${dir}/sprung'\n`, { mode: 0o755 })
  for (const key of ['core.fsmonitor', 'core.pager', 'core.sshCommand', 'core.askPass', 'diff.external']) {
    nativeGit(dir, ['config', key, trap])
  }
  nativeGit(dir, ['config', 'core.worktree', '/'])
  put(dir, 'neurons/a.md', neuron(2))
  expect(await rulesOf(dir)).toEqual(['neurons/a.md:1 changed-seq-id'])
})

test('answer tests are checked, and what else is in their folder is only told of', async () => {
  const dir = folderOf({
    'tests/answers.yaml': '- question: Who?\n  retrieves: [notes_00000001]\n- question: Why?\n  cites: [nobody]\n',
    'tests/ci.yaml': 'on: push\n',
    'tests/deep/other.yaml': '- question: Why?\n',
    'tests/readme.md': 'Text.\n',
  })
  const { findings } = await checkDirectory(dir, {})
  expect(findings.map(({ path, line, severity }) => `${path}:${line} ${severity}`)).toEqual([
    'tests/answers.yaml:4 error',
    'tests/ci.yaml:1 warning',
  ])
})
