import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import type { Order } from '../../../src/git/native/child-program.ts'
import { type StartProgram, startDirectly } from '../../../src/git/native/child-program.ts'
import { Spawner } from '../../../src/git/native/spawner.ts'
import { processesIn, until } from '../../http/support/git-server.ts'
import { tempDir } from '../../support/temp.ts'

const spawner = await Spawner.start()
afterAll(() => spawner.stop())
/** Name, function, and how many programs are started at once: a direct start is a `fork` of this large process. */
const ways: [string, StartProgram, number][] = [
  ['directly', startDirectly, 50],
  ['through a spawner', (order) => spawner.launch(order), 300],
]

function shell(script: string, order: Partial<Order> = {}): Order {
  return {
    command: 'sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: process.env.PATH },
    hasInput: false,
    channels: 0,
    ...order,
  }
}

describe.each(ways)('a program that is started %s', (_, start, many) => {
  const run = async (order: Order) => {
    const { stdout, ended } = await start(order)
    const [output, end] = await Promise.all([text(stdout), ended])
    return { output, ...end }
  }

  test('tells how it ended, and what it wrote', async () => {
    const order = shell('echo "out: $WORD in $PWD"; echo err >&2; exit 3', { cwd: '/usr', env: { WORD: "ä'\n" } })
    expect(await run(order)).toEqual({ output: "out: ä'\n in /usr\n", complaint: 'err\n', exitCode: 3, signal: null })
    expect(await run(shell('kill -TERM $$'))).toMatchObject({ exitCode: null, signal: 'SIGTERM' })
  })

  test('has the environment that is given, and no other', async () => {
    const { output } = await run({ ...shell(''), command: '/usr/bin/env', args: [], env: { ONE: '1', TWO: 'zwei' } })
    expect(output).toBe('ONE=1\nTWO=zwei\n')
  })

  test('reads nothing unless it has input', async () => {
    expect(await run(shell('cat; echo end'))).toMatchObject({ output: 'end\n' })
  })

  test.each([
    ['there is no such program', { command: '/no/such/program' }],
    ['there is no such folder', { cwd: '/no/such/folder' }],
    ['an argument cannot be one', { args: ['-c', 'a\0b'] }],
  ])('is not started where %s', async (_, order) => {
    await expect(start(shell('exit 0', order))).rejects.toMatchObject({ code: 'no-git' })
    expect(await run(shell('exit 0'))).toMatchObject({ exitCode: 0 })
  })

  test('passes large data through, byte for byte', async () => {
    const part = randomBytes(1024 * 1024)
    const parts = 100
    const { stdin, stdout, ended } = await start(shell('exec cat', { hasInput: true }))
    const [sent, received] = [createHash('sha256'), createHash('sha256')]
    const feed = function* () {
      for (let count = 0; count < parts; count++) {
        sent.update(part)
        yield part
      }
    }
    await Promise.all([pipeline(Readable.from(feed()), stdin), pipeline(stdout, received)])
    expect(received.digest('hex')).toBe(sent.digest('hex'))
    expect(await ended).toMatchObject({ exitCode: 0 })
  })

  test('is held up by a reader that does not read, and holds up a writer', async () => {
    const { stdin, stdout, kill, ended } = await start(shell('exec cat', { hasInput: true }))
    const part = Buffer.alloc(64 * 1024)
    let taken = 0
    for (; taken < 1000 && stdin.write(part); taken++) await delay(1)
    // What is neither taken nor read fits into buffers.
    expect(taken).toBeLessThan(100)
    stdin.end()
    let read = 0
    for await (const chunk of stdout) read += chunk.length
    expect(read).toBe((taken + 1) * part.length)
    kill('SIGKILL')
    await ended
  })

  test('may end before it has read everything', async () => {
    const { stdin, stdout, ended } = await start(shell('head -c 10; exit 0', { hasInput: true }))
    stdin.on('error', () => {})
    stdin.write('0123456789')
    stdin.write(Buffer.alloc(10_000_000))
    expect(await text(stdout)).toBe('0123456789')
    expect(await ended).toMatchObject({ exitCode: 0 })
    if (!stdin.closed) await once(stdin, 'close')
  })

  test('ends when nobody reads what it writes', async () => {
    const { stdout, ended } = await start(shell('exec yes'))
    await once(stdout, 'readable')
    stdout.destroy()
    expect((await ended).exitCode).not.toBe(0)
  })

  test('is killed with all that it has started', async () => {
    const cwd = tempDir()
    const { kill, ended } = await start(shell("trap '' TERM; sleep 100 & sleep 100", { cwd }))
    await until(() => processesIn(cwd).length === 3)
    kill('SIGKILL')
    expect(await ended).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    await until(() => processesIn(cwd).length === 0)
    kill('SIGKILL')
  })

  test('has not ended while what it has started may still complain', async () => {
    const { ended } = await start(shell('(sleep 0.1; echo late >&2) & exit 0'))
    expect(await ended).toMatchObject({ exitCode: 0, complaint: 'late\n' })
  })

  test('keeps only the beginning of its complaints', async () => {
    const { complaint } = await run(shell('head -c 3000000 /dev/zero >&2'))
    expect(complaint.length).toBe(256 * 1024)
  })

  test('talks on channels, which close when it ends', async () => {
    const order = shell('read -r a <&3; read -r b <&4; echo "$a$b" >&5; read -r c <&3; cat <&3 >&2 & exit 0', {
      channels: 3,
    })
    const { channels, ended } = await start(order)
    const [first, second, answer] = channels
    first?.write('con')
    await delay(20) // it waits for the rest of the line
    first?.write('ver\n')
    second?.write('sation\n')
    const [said] = (await once(answer?.setEncoding('utf8') as Readable, 'data')) as [string]
    expect(said).toBe('conversation\n')
    first?.write('bye\n')
    expect(await ended).toMatchObject({ exitCode: 0 })
    await Promise.all(channels.map((channel) => channel.closed || once(channel, 'close')))
  })

  test('has the priority that is asked for', async () => {
    expect(await run({ ...shell(''), command: 'sh', args: ['-c', 'sleep 0.05; nice'], priority: 7 })).toMatchObject({
      output: '7\n',
    })
  })

  test('is never mixed up with another', async () => {
    const outputs = await Promise.all(
      Array.from({ length: many }, async (_, index) => {
        const { stdin, stdout } = await start(shell('exec cat', { hasInput: true }))
        stdin.end(`${index}`)
        return Number(await text(stdout))
      }),
    )
    expect(outputs).toEqual(outputs.map((_, index) => index))
  })
})
