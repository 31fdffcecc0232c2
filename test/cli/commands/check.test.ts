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
  const codeclimate = await ganglion(['check', dir, '--format', 'codeclimate'])
  expect(codeclimate).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(codeclimate.stdout)).toHaveLength(3)
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

test('check in a folder of a knowledge base checks all of it', async () => {
  const dir = folderOf({ 'kb/kb.yaml': settings, 'kb/neurons/deep/a.md': neuron })
  nativeGit(dir, ['init', '--quiet'])
  const found = await ganglion(['check'], {}, { cwd: join(dir, 'kb', 'neurons', 'deep') })
  expect(found.stdout).toMatch(/^neurons\/deep\/a\.md:6: .*\n0 errors and 1 warning in 2 files\.\n$/)

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

test.each([[['--format', 'xml']], [['--base', '']], [['--base=--all']], [['one', 'two']], [['--unknown']]])(
  'check %j is wrong usage',
  async (args) => {
    expect(await ganglion(['check', ...args])).toMatchObject({ code: 2, stdout: '' })
  },
)
