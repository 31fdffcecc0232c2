import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Order } from '../../../src/git/native/child-program.ts'
import { programStarter, Spawner } from '../../../src/git/native/spawner.ts'
import { processesIn, until } from '../../http/support/git-server.ts'
import { runNode, startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'

const fixture = fileURLToPath(new URL('../support/spawning-process.ts', import.meta.url))

function shell(script: string, cwd = '/'): Order {
  return { command: 'sh', args: ['-c', script], cwd, env: { PATH: process.env.PATH }, hasInput: false, channels: 0 }
}

const hanging = "trap '' TERM; sleep 100 & sleep 100"

/** The process whose parent is this one and which started a program. */
function parentOf(pid: string | undefined): number {
  const [, parent] = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(parent)
}

test('what runs when the spawner dies fails and ends, and the next program gets another spawner', async () => {
  const start = programStarter(0)
  const cwd = tempDir()
  const running = await start(shell(`exec 2>&-; ${hanging}`, cwd))
  await until(() => processesIn(cwd).length === 3)
  const parents = processesIn(cwd).map(parentOf)
  const spawnerPid = parents.find((pid) => parentOf(String(pid)) === process.pid)
  if (spawnerPid === undefined) throw new Error('no spawner')
  process.kill(spawnerPid, 'SIGKILL')
  await expect(running.ended).rejects.toMatchObject({ code: 'git-failed' })
  await until(() => processesIn(cwd).length === 0)
  const { stdout } = await start(shell('echo $PPID'))
  const next = Number(await text(stdout))
  onTestFinished(() => void process.kill(next, 'SIGKILL'))
  expect([process.pid, spawnerPid]).not.toContain(next)
})

test('what is asked of a spawner that has died cannot be started', async () => {
  const spawner = await Spawner.start()
  spawner.stop()
  const early = spawner.launch(shell('exit 0'))
  await expect(early).rejects.toMatchObject({ code: 'no-git' })
  await spawner.ended
  await expect(spawner.launch(shell('exit 0'))).rejects.toMatchObject({ code: 'no-git' })
})

test('a small process starts its programs itself', async () => {
  const { stdout } = await programStarter(Number.POSITIVE_INFINITY)(shell('echo $PPID'))
  expect(Number(await text(stdout))).toBe(process.pid)
})

test('it ends with the process that it is for, and its programs with it, and leaves no file', async () => {
  const [cwd, folder] = [tempDir(), tempDir()]
  const child = startNode([fixture, 'wait', cwd], { env: { TMPDIR: folder } })
  if (child.stdout === null) throw new Error('no output')
  await once(child.stdout, 'data')
  await until(() => processesIn(cwd).length === 3)
  expect(readdirSync(folder)).toHaveLength(1)
  child.kill('SIGKILL')
  await until(() => processesIn(cwd).length === 0 && readdirSync(folder).length === 0)
})

test('it does not keep a process that has nothing left to do', async () => {
  const folder = tempDir()
  expect(await runNode([fixture, 'one'], { env: { TMPDIR: folder } })).toMatchObject({ code: 0, stdout: '"done\\n"\n' })
  await until(() => readdirSync(folder).length === 0)
})

test('without file descriptors a program cannot be started, and with them again it can', async () => {
  const limited = (mode: string) => ['-c', `ulimit -n 60; exec "$0" "$@"`, process.execPath, fixture, mode]
  const results = await Promise.all(
    ['no descriptors', 'too many'].map(async (mode) => {
      const { stdout } = await programStarter(Number.POSITIVE_INFINITY)({ ...shell(''), args: limited(mode) })
      return JSON.parse(await text(stdout))
    }),
  )
  expect(results).toEqual([
    ['no-git', 'again\n'],
    [true, ['no-git'], 'again\n'],
  ])
})

/** Does something while temporary files go to a folder of its own. */
async function withTemporaryFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    return await work()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

test('a spawner whose socket was removed is replaced', async () => {
  const folder = tempDir()
  const start = programStarter(0)
  await withTemporaryFolder(folder, async () => {
    await start(shell('exit 0'))
    rmSync(join(folder, readdirSync(folder)[0] ?? ''), { recursive: true })
    await expect(start(shell('exit 0'))).rejects.toMatchObject({ code: 'no-git' })
    const { stdout, ended } = await start(shell('echo $PPID'))
    const pid = Number(await text(stdout))
    await ended
    expect(pid).not.toBe(process.pid)
    process.kill(pid, 'SIGKILL')
    await until(() => readdirSync(folder).length === 0)
  })
})

test('where a spawner cannot be started, programs are started without one', async () => {
  const tooLong = join(tempDir(), 'x'.repeat(120)) // for the path of a socket
  mkdirSync(tooLong)
  const start = programStarter(0)
  await withTemporaryFolder(tooLong, async () => {
    for (let time = 0; time < 2; time++) {
      const { stdout } = await start(shell('echo $PPID'))
      expect(Number(await text(stdout))).toBe(process.pid)
    }
  })
})

test('a connection that it did not ask for is of no use', async () => {
  const folder = tempDir()
  const spawner = await withTemporaryFolder(folder, () => Spawner.start())
  onTestFinished(() => spawner.stop())
  const [name = ''] = readdirSync(folder)
  const path = join(folder, name, 's')
  const stranger = connect(path)
  stranger.on('error', () => {}).resume()
  stranger.write(`${'x'.repeat(1000)}\n`)
  await once(stranger, 'close')
  const guessing = connect(path)
  guessing.write('00000000-0000-4000-8000-000000000000 1\n')
  const { stdout } = await spawner.launch(shell('echo mine'))
  expect(await text(stdout)).toBe('mine\n')
  guessing.destroy()
})
