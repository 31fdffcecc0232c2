import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { put } from '../../kb/support/import-support.ts'
import { tempDir } from '../../support/temp.ts'
import { ganglion, ganglionJson } from '../support.ts'

const settings = 'id: 0199a5c2-0000-7000-8000-000000000000\nslug: notes\nprefix: notes\ntitle: Notes\n'
const neuron = '---\nseqId: notes_00000001\ntitle: A\n---\n\n[[Nowhere]]\n'

function folderOf(files: Record<string, string>): string {
  const dir = tempDir()
  for (const [path, content] of Object.entries(files)) put(dir, path, content)
  return dir
}

test('check prints findings and a summary, and is content with warnings', async () => {
  const dir = folderOf({ 'kb.yaml': settings, 'neurons/a.md': neuron })
  expect(await ganglion(['check', dir])).toMatchObject({
    ...{ code: 0, stderr: '' },
    stdout:
      'neurons/a.md:6: warning[broken-link]: No Neuron answers to [[Nowhere]].\n0 errors and 1 warning in 2 files.\n',
  })
})

test('check ends with 1 where there are errors, whatever the format, and says nothing else', async () => {
  const dir = folderOf({ 'kb.yaml': settings, 'neurons/a.md': neuron, 'neurons/b.md': neuron })
  const { code, json } = await ganglionJson(['check', dir])
  expect(code).toBe(1)
  expect(json).toMatchObject({ errors: 1, warnings: 2, findings: expect.any(Array) })
  expect(await ganglion(['check', dir, '--format', 'json'])).toMatchObject({
    code: 1,
    stdout: `${JSON.stringify(json)}\n`,
  })
  const github = await ganglion(['check', dir, '--format', 'github'])
  expect(github).toMatchObject({ code: 1, stderr: '' })
  expect(github.stdout).toContain('::error file=neurons/b.md,line=1,title=duplicate-seq-id::')
  const sarif = await ganglion(['check', dir, '--format', 'sarif'])
  expect(sarif).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(sarif.stdout)).toMatchObject({ version: '2.1.0', runs: [{ results: { length: 3 } }] })
})

test('check takes the current folder, and names files from where it runs', async () => {
  const dir = folderOf({ 'kb/kb.yaml': settings, 'kb/neurons/a.md': neuron })
  const inside = await ganglion(['check'], {}, { cwd: join(dir, 'kb') })
  expect(inside.stdout).toMatch(/^neurons\/a\.md:6:/)
  const above = await ganglion(['check', 'kb', '--format', 'github'], {}, { cwd: dir })
  expect(above.stdout).toContain('file=kb/neurons/a.md,')
})

test('check needs neither a data directory nor valid GANGLION_* variables', async () => {
  const dir = folderOf({ 'kb.yaml': settings })
  const env = { GANGLION_PORT: 'none', GANGLION_NONSENSE: '1', GANGLION_DATA: '/nonexistent' }
  expect(await ganglion(['check', dir], env)).toMatchObject({ code: 0, stderr: '' })
})

test('check --staged says nothing where nothing is wrong with what is staged', async () => {
  const dir = folderOf({ 'kb.yaml': settings, 'neurons/a.md': neuron })
  nativeGit(dir, ['init', '--quiet'])
  nativeGit(dir, ['add', '--all'])
  expect(await ganglion(['check', '--staged', dir])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await ganglionJson(['check', '--staged', dir])).toEqual({
    code: 0,
    json: { errors: 0, warnings: 0, findings: [] },
  })
  put(dir, 'neurons/b.md', neuron)
  expect(await ganglion(['check', '--staged', dir])).toMatchObject({ code: 0, stdout: '' })
  nativeGit(dir, ['add', '--all'])
  expect(await ganglion(['check', '--staged', dir])).toMatchObject({
    ...{ code: 1, stderr: '' },
    stdout:
      'neurons/b.md:1: error[duplicate-seq-id]: The seqId notes_00000001 belongs to neurons/a.md already: a copy of that page leaves out its lines seqId, id and candidate.\n1 error and 0 warnings in 3 files.\n',
  })
})

test('check --summary writes what changes since the base, beside the findings', async () => {
  const dir = folderOf({ 'kb.yaml': settings, 'neurons/a.md': neuron })
  nativeGit(dir, ['init', '--quiet'])
  nativeGit(dir, ['add', '--all'])
  nativeGit(dir, ['commit', '--quiet', '--message', 'Begin'])
  put(dir, 'neurons/a.md', neuron.replace('[[Nowhere]]', 'Nothing.'))
  const summary = join(tempDir(), 'summary.md')
  const done = await ganglion(['check', dir, '--base', 'HEAD', '--summary', summary, '--format', 'codeclimate'])
  expect(done).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' })
  expect(readFileSync(summary, 'utf8')).toContain('- Links lost: `[[Nowhere]]`')
})

test('check --summary - prints the summary, and the findings as errors', async () => {
  const dir = folderOf({ 'kb.yaml': settings, 'neurons/a.md': neuron })
  nativeGit(dir, ['init', '--quiet'])
  nativeGit(dir, ['add', '--all'])
  nativeGit(dir, ['commit', '--quiet', '--message', 'Begin'])
  put(dir, 'neurons/a.md', neuron.replace('[[Nowhere]]', '[[Elsewhere]]'))
  const { code, stdout, stderr } = await ganglion(['check', '--summary', '-'], {}, { cwd: dir })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^## What this change does.*- Links lost: `\[\[Nowhere\]\]`/s)
  expect(stdout).not.toContain('warning[')
  expect(stderr).toMatch(/^neurons\/a\.md:6: warning\[broken-link\]: .*\n0 errors and 1 warning in 2 files\.\n$/)
  expect(existsSync(join(dir, '-'))).toBe(false)
})

test('check in a folder of a knowledge base checks all of it', async () => {
  const dir = folderOf({ 'kb/kb.yaml': settings, 'kb/neurons/deep/a.md': neuron })
  nativeGit(dir, ['init', '--quiet'])
  const found = await ganglion(['check'], {}, { cwd: join(dir, 'kb', 'neurons', 'deep') })
  expect(found.stdout).toMatch(/^neurons\/deep\/a\.md:6: .*\n0 errors and 1 warning in 2 files\.\n$/)

  const checkout = folderOf({ 'kb.yaml': settings, 'neurons/a.md': neuron, 'neurons/b.md': neuron })
  nativeGit(checkout, ['init', '--quiet'])
  nativeGit(checkout, ['add', '--all'])
  const staged = await ganglion(['check', '--staged'], {}, { cwd: join(checkout, 'neurons') })
  expect(staged.stdout).toContain('duplicate-seq-id')

  put(dir, 'other/x.md', 'x')
  const other = await ganglion(['check', 'other'], {}, { cwd: dir })
  expect(other).toMatchObject({ code: 1, stderr: `error: ${dir} is not a knowledge base: it has no file kb.yaml.\n` })
})

test('check says what it cannot check', async () => {
  const dir = tempDir()
  const error = `${dir} is not a knowledge base: it has no file kb.yaml.`
  expect(await ganglion(['check', dir])).toMatchObject({ code: 1, stdout: '', stderr: `error: ${error}\n` })
  expect(await ganglionJson(['check', dir])).toEqual({ code: 1, json: { error } })
  expect(await ganglion(['check', join(dir, 'gone')])).toMatchObject({ code: 1, stdout: '' })
})

test.each([
  [['--format', 'xml']],
  [['--base', '']],
  [['--base=--all']],
  [['one', 'two']],
  [['--unknown']],
  [['--staged', '--base', 'HEAD']],
  [['--staged', '--summary', 'x']],
  [['--summary', '']],
])('check %j is wrong usage', async (args) => {
  expect(await ganglion(['check', ...args])).toMatchObject({ code: 2, stdout: '' })
})
