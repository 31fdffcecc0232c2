import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { put } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson } from '../support.ts'

const settings = 'id: 0199a5c2-0000-7000-8000-000000000000\nslug: notes\nprefix: notes\ntitle: Notes\n'
const page = (text: string) => `---\nseqId: notes_00000001\ntitle: VIP policy\n---\n\n${text}\n`
const tests = `- question: Who is paged for a VIP ticket?
  retrieves: [notes_00000001]
  contains: [the lead]
- question: Which submarine crosses Antarctica?
  refuses: true
`
const git = (dir: string, ...args: string[]) => nativeGit(dir, args)

function commit(dir: string, files: Record<string, string>): string {
  for (const [path, content] of Object.entries(files)) put(dir, path, content)
  git(dir, 'add', '--all')
  git(dir, 'commit', '--quiet', '--message', 'Change')
  return git(dir, 'rev-parse', 'HEAD').trim()
}

function newClone(): { dir: string; first: string } {
  const dir = tempDir()
  git(dir, 'init', '--quiet', '--initial-branch=main')
  const first = commit(dir, {
    'kb.yaml': settings,
    'neurons/vip.md': page('When a VIP customer raises a ticket, page the lead.'),
    'tests/answers.yaml': tests,
  })
  return { dir, first }
}

test('a clone is tested without a server, at any commit', async () => {
  const { dir, first } = newClone()
  expect(await ganglion(['test', dir])).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: `2 of 2 answer tests pass at ${first.slice(0, 12)}.\n`,
  })
  expect(git(dir, 'status', '--porcelain')).toBe('')
  const second = commit(dir, { 'neurons/vip.md': page('When a VIP customer raises a ticket, page nobody.') })
  const failed = await ganglion(['test'], {}, { cwd: dir })
  expect(failed).toMatchObject({ code: 1, stderr: '' })
  expect(failed.stdout.split('\n')).toEqual([
    'FAILED tests/answers.yaml:1: Who is paged for a VIP ticket?',
    expect.stringContaining('The answer does not contain "the lead"; it says: '),
    `1 of 2 answer tests pass at ${second.slice(0, 12)}.`,
    '',
  ])
  const { code, json } = await ganglionJson(['test', dir, '--at', 'HEAD~1'])
  expect(code).toBe(0)
  expect(json).toMatchObject({ commit: first, passed: 2, failed: 0 })
  const junit = await ganglion(['test', dir, '--junit'])
  expect(junit.code).toBe(1)
  expect(junit.stdout).toContain('<testsuite name="answer tests" tests="2" failures="1">')
  expect(junit.stdout).toContain('file="tests/answers.yaml" line="1"><failure>The answer does not contain &quot;')
})

test('a page that was never pushed is found, and the clone stays as it is', async () => {
  const { dir } = newClone()
  const head = commit(dir, {
    'neurons/desk.md': '# Storm plan\n\nWhen the storm siren sounds, close the harbour gates.\n',
    'tests/desk.yaml': '- question: What is closed when the storm siren sounds?\n  contains: [harbour gates]\n',
  })
  expect((await ganglionJson(['test', dir])).json).toMatchObject({ commit: head, passed: 3, failed: 0 })
  expect((await ganglionJson(['test', dir])).json).toMatchObject({ commit: head, passed: 3, failed: 0 })
  expect(git(dir, 'rev-parse', 'main').trim()).toBe(head)
  expect(readdirSync(`${dir}/neurons`)).toEqual(['desk.md', 'vip.md'])
})

test('the head of a candidate is compared with what it is based on', async () => {
  const { dir, first } = newClone()
  const candidate = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'
  const head = commit(dir, { 'neurons/vip.md': page('When a VIP customer raises a ticket, page nobody.') })
  git(dir, 'update-ref', `refs/candidates/${candidate}/head`, head)
  git(dir, 'reset', '--quiet', '--hard', first)
  const { code, stdout } = await ganglion(['test', dir, '--candidate', candidate])
  expect(code).toBe(1)
  expect(stdout).toContain('\nbroken tests/answers.yaml:1: Who is paged for a VIP ticket?\n1 of 2 answer tests pass')
  expect(await ganglion(['test', dir, '--candidate', `refs/candidates/${candidate}/head`])).toMatchObject({
    code,
    stdout,
  })
  const unknown = await ganglion(['test', dir, '--candidate', candidate.replace('0', '1')])
  expect(unknown).toMatchObject({ code: 1, stdout: '' })
  expect(unknown.stderr).toMatch(/There is no commit refs\/candidates\/119b9c9a-.*\/head in /)
})

test('what is no clone of a knowledge base, and a wrong test, are errors', async () => {
  expect((await ganglion(['test', tempDir()])).stderr).toMatch(/is no clone of a knowledge base/)
  const { dir } = newClone()
  commit(dir, { 'tests/answers.yaml': '- question: Why?\n  retreives: [a]\n- question: Who?\n  cites: [nobody]\n' })
  const { code, stdout } = await ganglion(['test', dir])
  expect(code).toBe(1)
  expect(stdout).toBe(
    [
      'tests/answers.yaml:1: An answer test needs at least one of retrieves, cites, contains, notContains, refuses, search.',
      'tests/answers.yaml:2: retreives is no field of an answer test.',
      'tests/answers.yaml:4: cites.0 must look like handbook_00000042.',
      'There are no answer tests.\n',
    ].join('\n'),
  )
})

test('options that do not go together, or are wrong, are named as they are written', async () => {
  const said = async (...options: string[]) => (await ganglion(['test', ...options])).stderr
  const both = await ganglion(['test', '--json', '--junit'])
  expect(both).toMatchObject({
    code: 2,
    stdout: expect.stringContaining("'--junit' cannot be used with option '--json'"),
  })
  expect(await said('--at', 'main', '--candidate', 'x')).toMatch(/'--candidate <id>' cannot be used with/)
  expect(await said('--candidate', 'x')).toMatch(/^error: --candidate: must be the id of a candidate, or refs/)
})

test('nothing in a clone gives a terminal orders', async () => {
  const { dir } = newClone()
  const key = String.raw`"\e[2J\u202e"`
  commit(dir, {
    'tests/answers.yaml': `- question: Why\u202e?\n  refuses: false\n`,
    'tests/b.yaml': `- question: A\n  ${key}: b\n  ${key}: c\n`,
  })
  const { stdout } = await ganglion(['test', dir])
  expect(stdout).toContain('FAILED tests/answers.yaml:1: Why\ufffd?\n')
  expect(stdout).toContain('tests/b.yaml:3: The key')
  expect(stdout).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u)
})

test('the JSON Schema of the files is printed for editors', async () => {
  const { code, stdout } = await ganglion(['test', '--schema'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'array',
    items: { properties: { question: { type: 'string' }, refuses: { type: 'boolean' } }, required: ['question'] },
  })
})
