import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { finished, startNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { ganglion, ganglionJson, ganglionProcess, main } from './support.ts'

test('--version tells the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(await ganglionProcess(['--version'])).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' })
})

test('--help lists the commands, with examples', async () => {
  const { code, stdout } = await ganglion(['--help'])
  expect(code).toBe(0)
  for (const text of ['serve', 'kb', 'key', 'Examples:', 'ganglion kb create handbook --tenant acme']) {
    expect(stdout).toContain(text)
  }
})

test('each command of the help has a help of its own, whatever of it is loaded', async () => {
  const { stdout } = await ganglion(['--help'])
  const [, listed = ''] = /\nCommands:\n([\s\S]*?)\n\n/.exec(stdout) ?? []
  const names = Array.from(listed.matchAll(/^ {2}([a-z]+) (?!\[command\])/gm), ([, name = '']) => name)
  expect(names).toEqual(expect.arrayContaining(['serve', 'key', 'check', 'verify', 'restore']))
  for (const name of names) {
    expect(await ganglion([name, '--help'])).toEqual({
      code: 0,
      stdout: expect.stringContaining(`Usage: ganglion ${name} `),
      stderr: '',
    })
  }
})

test('a reader that leaves early is no failure', async () => {
  const child = startNode([main, '--help'])
  child.stdout?.destroy()
  child.stdout = new PassThrough().end()
  expect(await finished(child)).toMatchObject({ code: 0, stderr: '' })
})

test('compiled code is kept in the cache of the user, and nowhere where there is none', async () => {
  const home = tempDir()
  const env = { HOME: home, XDG_CACHE_HOME: '', LOCALAPPDATA: '' }
  expect(await ganglionProcess(['--version'], env)).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(join(home, '.cache', 'ganglion'))).toHaveLength(1)
  expect(await ganglionProcess(['--version'], { ...env, HOME: '' })).toMatchObject({ code: 0, stderr: '' })
  expect(await ganglionProcess(['--version'], { ...env, HOME: '/dev/null' })).toMatchObject({ code: 0, stderr: '' })
})

test.each([[['kb', 'create']], [['key', 'create']], [['serve']]])('%j --help has an example', async (command) => {
  const { code, stdout } = await ganglion([...command, '--help'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/--data <dir>[\s\S]*--json[\s\S]*Example:\n {2}\S/)
})

test.each([
  ['an unknown command', ['frobnicate'], "unknown command 'frobnicate'"],
  ['a typo', ['key', 'lst'], 'Did you mean list?'],
  ['an unknown option', ['key', 'list', '--color'], "unknown option '--color'"],
  ['a missing option', ['kb', 'create', 'handbook'], "required option '--tenant <slug>'"],
  ['a missing argument', ['key', 'revoke'], "missing required argument 'id'"],
  ['one argument too many', ['key', 'list', 'all'], 'too many arguments'],
  ['a value that is none', ['key', 'create', '--tenant', 'acme', '--role', 'root'], 'role: '],
  ['a bad slug', ['kb', 'create', 'Hand Book', '--tenant', 'acme'], '<slug>: must be 1 to 100 of a-z'],
  ['a slug like a UUID', ['kb', 'create', '0199a5c2-0000-7000-8000-000000000001', '--tenant', 'acme'], 'a UUID'],
])('%s is wrong usage: exit code 2', async (_, args, message) => {
  const text = await ganglion(args)
  expect(text).toMatchObject({ code: 2, stdout: '' })
  expect(text.stderr).toContain(message)
  const { code, json } = await ganglionJson(args)
  expect(code).toBe(2)
  expect(json).toEqual({ error: expect.stringContaining(message) })
})

test('a bad environment is one clear message', async () => {
  const { code, stderr } = await ganglion(['key', 'list'], { GANGLION_PROT: '80', GANGLION_RATE_READS: 'many' })
  expect(code).toBe(1)
  expect(stderr).toBe(
    [
      'error: The environment is not valid:',
      '  GANGLION_RATE_READS must be a whole number from 1 to 1000000, not "many"',
      '  GANGLION_PROT is not a setting; did you mean GANGLION_PORT?',
      '',
    ].join('\n'),
  )
})
