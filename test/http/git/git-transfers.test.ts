import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { encodePacket, flushPacket } from '../../../src/git/serve/pkt-line.ts'
import { blob, expandingDelta, hostilePack } from '../../git/support/hostile-pack.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import {
  cloned,
  commitFile,
  type GitServer,
  gate,
  git,
  gitServer,
  loggedLines,
  processesIn,
  quarantinesIn,
  startGit,
  until,
} from '../support/git-server.ts'
import { lastAnswer, openConnection } from '../support/test-server.ts'

const head = (service: string, ...headers: string[]) =>
  [
    `POST /git/acme/handbook.git/${service} HTTP/1.1`,
    'Host: a',
    'Authorization: Bearer curator',
    `Content-Type: application/x-${service}-request`,
    ...headers,
    '',
    '',
  ].join('\r\n')

const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** The command of a push that makes `refs/heads/x`, and its pack. */
function pushOf(clone: string, commit: string): Buffer {
  const command = encodePacket(`${'0'.repeat(40)} ${commit} refs/heads/x\0report-status`)
  return Buffer.concat([command, flushPacket, packOf(clone, commit)])
}

function packOf(clone: string, commit: string): Buffer {
  const name = nativeGit(clone, ['pack-objects', '--quiet', '--revs', 'p'], `${commit}\n`)
  return readFileSync(join(clone, `p-${name}.pack`))
}

async function isQuiet(server: GitServer): Promise<void> {
  await until(() => processesIn(server.gitDir).length === 0 && quarantinesIn(server.gitDir).length === 0)
}

describe('a client that goes', () => {
  test('while it sends leaves nothing behind', async () => {
    const log = loggedLines()
    const server = await gitServer({ server: { log } })
    const clone = await cloned(server)
    const bytes = pushOf(clone, commitFile(clone, 'big.bin', randomBytes(2_000_000)))
    const socket = connect(server.port, '127.0.0.1')
    socket.write(head('git-receive-pack', `Content-Length: ${bytes.length}`))
    socket.write(bytes.subarray(0, 1_000_000))
    await until(() => quarantinesIn(server.gitDir).length === 1)
    expect(processesIn(server.gitDir).length).toBeGreaterThan(0)
    socket.resetAndDestroy()
    await isQuiet(server)
    await server.app.close()
    expect(server.judged).toEqual([])
    expect(log.errors()).toEqual([])
  })

  test.each([
    ['well', async () => ({ accepted: true, lines: [] })],
    ['in vain, since the objects are gone', () => Promise.reject(new Error('gone'))],
  ])('by being killed leaves nothing behind, where it is judged %s', async (_, judgement) => {
    const log = loggedLines()
    const judging = gate()
    const server = await gitServer({
      server: { log },
      judge: async () => {
        await judging.pass()
        return judgement()
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    const client = startGit(clone, 'push', 'origin', 'main')
    await judging.arrived
    client.kill()
    await isQuiet(server)
    judging.open()
    await client.ended
    await server.app.close()
    expect(server.received).toEqual([])
    expect(log.errors()).toEqual([])
  })

  /** Asks for a file that is larger than what sockets hold, and reads only the beginning of the answer. */
  async function stalledFetch(server: GitServer): Promise<Socket> {
    const clone = await cloned(server)
    const commit = commitFile(clone, 'big.bin', randomBytes(20_000_000))
    await git(clone, 'push', 'origin', 'main')
    const body = Buffer.concat([
      encodePacket('command=fetch'),
      Buffer.from('0001'),
      encodePacket(`want ${commit}\n`),
      encodePacket('done\n'),
      flushPacket,
    ])
    const socket = connect(server.port, '127.0.0.1')
    socket.write(head('git-upload-pack', 'Git-Protocol: version=2', `Content-Length: ${body.length}`))
    socket.write(body)
    await once(socket, 'readable')
    expect(processesIn(server.gitDir).length).toBeGreaterThan(0)
    return socket
  }

  test('while it is served leaves nothing behind', async () => {
    const server = await gitServer()
    const socket = await stalledFetch(server)
    socket.destroy()
    await isQuiet(server)
  })

  test('is not waited for: one that takes nothing of its answer for too long is cut off', async () => {
    const server = await gitServer({ server: { git: { stallTime: 1000 } } })
    const socket = await stalledFetch(server)
    await isQuiet(server)
    socket.on('error', () => {}).resume()
    await once(socket, 'close')
    expect(socket.bytesRead).toBeLessThan(20_000_000)
  })

  test('many times makes no trouble for those who stay', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    const bytes = pushOf(clone, commitFile(clone, 'big.bin', randomBytes(300_000)))
    for (let n = 0; n < 12; n++) {
      const socket = connect(server.port, '127.0.0.1')
      socket.write(head('git-receive-pack', `Content-Length: ${bytes.length}`))
      socket.write(bytes.subarray(0, Math.floor((bytes.length * n) / 12)))
      await delay(n * 5)
      socket.destroy()
      await once(socket, 'close')
    }
    expect(await git(clone, 'push', 'origin', 'main')).toMatchObject({ code: 0 })
    await isQuiet(server)
  })
})

describe('a push that is too large', () => {
  const tooLarge = /pack exceeds maximum allowed size/

  test.each([
    ['as it comes', 'http.postBuffer=65536'],
    ['of a length that is declared', 'http.postBuffer=100m'],
  ])('is told so, sent %s', async (_, config) => {
    const server = await gitServer({ server: { git: { maxPack: 100_000 } } })
    const clone = await cloned(server)
    commitFile(clone, 'big.bin', randomBytes(8_000_000))
    const { code, stderr } = await git(clone, '-c', config, 'push', 'origin', 'main')
    expect([code, stderr]).toEqual([1, expect.stringMatching(tooLarge)])
    expect(server.judged).toEqual([])
    await isQuiet(server)
  })

  /** Sends the beginning of such a push, in chunks, and waits for git's answer. The rest is to come. */
  async function begun() {
    const server = await gitServer({ server: { git: { maxPack: 100_000 } } })
    const clone = await cloned(server)
    const commit = commitFile(clone, 'big.bin', randomBytes(3_000_000))
    const command = encodePacket(`${'0'.repeat(40)} ${commit} refs/heads/x\0report-status side-band-64k`)
    const bytes = Buffer.concat([command, flushPacket, packOf(clone, commit)])
    const { socket, received } = openConnection(server.port)
    socket.write(head('git-receive-pack', 'Transfer-Encoding: chunked'))
    socket.write(chunk(bytes.subarray(0, 200_000)))
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
    return { server, socket, received, rest: bytes.subarray(200_000) }
  }

  test('is read on behind the answer, and its connection serves another request', async () => {
    const { socket, received, rest } = await begun()
    for (let at = 0; at < rest.length; at += 200_000) socket.write(chunk(rest.subarray(at, at + 200_000)))
    socket.write(`0\r\n\r\n${head('git-receive-pack', 'Content-Length: 4', 'Connection: close')}0000`)
    expect(await received).toMatch(new RegExp(`${tooLarge.source}.*HTTP/1\\.1 200 `, 's'))
  })

  test('is not read without end', async () => {
    const { server, socket, received } = await begun()
    const more = chunk(Buffer.alloc(1_000_000))
    const endless = setInterval(() => socket.writable && socket.writableLength === 0 && socket.write(more), 1)
    await received
    clearInterval(endless)
    expect(socket.bytesWritten).toBeGreaterThan(5_000_000)
    expect(socket.bytesWritten).toBeLessThan(50_000_000)
    await isQuiet(server)
  })

  test('is refused before it comes where it is declared to be far too large', async () => {
    const server = await gitServer({ server: { git: { maxPack: 100_000 } } })
    const { socket, received } = openConnection(server.port)
    socket.write(head('git-receive-pack', 'Content-Length: 100000000'))
    expect(lastAnswer(await received)).toEqual({
      status: 413,
      body: expect.objectContaining({ error: 'payload_too_large' }),
    })
  })
})

describe('a push that unpacks to too much', () => {
  const bounds = { maxObjects: 50, maxObjectBytes: 1_000_000, maxUnpackedBytes: 5_000_000 }
  const zeros = Buffer.alloc(4096)

  test('is rejected with the reason, as a user sees it', async () => {
    const server = await gitServer({ server: { git: bounds } })
    const clone = await cloned(server)
    commitFile(clone, 'zeros.bin', Buffer.alloc(30_000_000))
    for (const config of ['http.postBuffer=100m', 'http.postBuffer=4096']) {
      const { code, stderr } = await git(clone, '-c', config, 'push', 'origin', 'main')
      const reason = ' ! [remote rejected] main -> main (The pack has an object of 29 MB; 1 MB are allowed.)'
      expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
    }
    expect(server.judged).toEqual([])
    await isQuiet(server)
    await git(clone, 'reset', '--hard', 'HEAD^')
    commitFile(clone, 'small.bin', Buffer.alloc(900_000))
    expect(await git(clone, 'push', 'origin', 'main')).toMatchObject({ code: 0 })
  })

  test.each([
    ['an object that nothing leads to', [blob(Buffer.alloc(2_000_000))], 'has an object of 2 MB; 1 MB are allowed'],
    ['a delta', [blob(zeros), expandingDelta(zeros, 2_000_000)], 'has an object of 2 MB; 1 MB are allowed'],
    ['many objects', Array.from({ length: 9 }, (_, n) => blob(Buffer.alloc(900_000, n))), 'unpacks to more than 5 MB'],
    [
      'many deltas',
      [blob(zeros), ...Array.from({ length: 9 }, (_, n) => expandingDelta(zeros, 900_000 + n))],
      'to more',
    ],
    ['too many objects', Array.from({ length: 51 }, (_, n) => blob(String(n))), 'has 51 objects; 50 are allowed'],
    ['what is no object', [{ ...blob('x'), type: 5 }], 'The pack is corrupt.'],
  ])('as %s', async (_, objects, reason) => {
    const server = await gitServer({ server: { git: bounds } })
    const head = nativeGit(server.gitDir, ['rev-parse', 'main'])
    const command = encodePacket(`${'0'.repeat(40)} ${head} refs/heads/x\0report-status`)
    const response = await fetch(`http://127.0.0.1:${server.port}/git/acme/handbook.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: 'Bearer curator', 'content-type': 'application/x-git-receive-pack-request' },
      body: Buffer.concat([command, flushPacket, hostilePack(objects)]),
    })
    expect(await response.text()).toMatch(new RegExp(`unpack ok\n.*ng refs/heads/x .*${reason}`, 's'))
    expect(server.judged).toEqual([])
    await isQuiet(server)
    expect(nativeGit(server.gitDir, ['count-objects', '-v'])).toMatch(/^packs: 0$/m)
  })
})

describe('time', () => {
  test('an upload that comes too slowly is 408', async () => {
    const server = await gitServer({ server: { timeouts: { upload: 300 } } })
    const { socket, received } = openConnection(server.port)
    socket.write(head('git-receive-pack', 'Content-Length: 1000000'))
    socket.write('0064')
    const dripping = setInterval(() => socket.write('x'), 50)
    expect(lastAnswer(await received)).toEqual({
      status: 408,
      body: expect.objectContaining({ error: 'request_timeout' }),
    })
    clearInterval(dripping)
    await isQuiet(server)
  })

  test('an upload that keeps coming may take longer than any other request', async () => {
    const server = await gitServer({ server: { timeouts: { headers: 200, request: 200, upload: 2_000 } } })
    const clone = await cloned(server)
    const bytes = pushOf(clone, commitFile(clone, 'big.bin', randomBytes(400_000)))
    const { socket, received } = openConnection(server.port)
    socket.write(head('git-receive-pack', 'Transfer-Encoding: chunked', 'Connection: close'))
    for (let at = 0; at < bytes.length; at += 40_000) {
      socket.write(chunk(bytes.subarray(at, at + 40_000)))
      await delay(250)
    }
    socket.write('0\r\n\r\n')
    expect(await received).toContain('ok refs/heads/x')
  })

  test('is not counted while the server works', async () => {
    const server = await gitServer({
      server: { timeouts: { headers: 500, request: 500, upload: 500, keepAlive: 500 } },
      judge: async () => {
        await delay(1_500)
        return { accepted: true, lines: [] }
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    expect(await git(clone, 'push', 'origin', 'main')).toMatchObject({ code: 0 })
  })

  test('of a process is bounded', async () => {
    const judging = gate()
    const server = await gitServer({
      server: { git: { wallTime: 2_000 } },
      judge: async () => {
        await judging.pass()
        return { accepted: true, lines: [] }
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    const { code } = await git(clone, 'push', 'origin', 'main')
    expect(code).not.toBe(0)
    await isQuiet(server)
    judging.open()
    expect([server.judged.length, server.received]).toEqual([1, []])
  })

  test('of the processor is bounded, and so is memory', async () => {
    let limits: string[] = []
    const server = await gitServer({
      server: { git: { cpuSeconds: 7, maxMemory: 3 * 1024 ** 3 } },
      judge: async () => {
        limits = processesIn(server.gitDir).map((id) => readFileSync(`/proc/${id}/limits`, 'utf8'))
        return { accepted: true, lines: [] }
      },
    })
    await git(await cloned(server), 'push', 'origin', 'main:refs/heads/x')
    expect(limits.length).toBeGreaterThan(1)
    for (const text of limits) {
      expect(text).toMatch(/^Max cpu time +7 +7 +seconds/m)
      expect(text).toMatch(/^Max address space +3221225472 +3221225472 +bytes/m)
    }
  })
})

describe('many at once', () => {
  const waitingPush = async (server: GitServer) => {
    const clone = await cloned(server)
    commitFile(clone, 'b.md', randomBytes(8).toString('hex'))
    return clone
  }

  test('wait for each other, and all are served', async () => {
    let most = 0
    let now = 0
    const server = await gitServer({
      judge: async () => {
        most = Math.max(most, ++now)
        await delay(50)
        now--
        return { accepted: true, lines: [] }
      },
    })
    const clones = []
    for (let n = 0; n < 6; n++) clones.push(await waitingPush(server))
    const pushes = await Promise.all(clones.map((clone, n) => git(clone, 'push', 'origin', `main:refs/heads/b${n}`)))
    expect(pushes.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    expect(most).toBeLessThanOrEqual(2)
  })

  test('one hundred clones by one key all succeed', async () => {
    const server = await gitServer()
    const dir = tempDir()
    const clone = (n: number) => git(dir, 'clone', '--quiet', '--bare', server.url('reader'), `${n}`)
    const clones = await Promise.all(Array.from({ length: 100 }, (_, n) => clone(n)))
    expect(clones.filter(({ code }) => code !== 0)).toEqual([])
  }, 120_000)

  test('requests of one key leave slots to the other keys of its repository', async () => {
    const judging = gate()
    const server = await gitServer({
      judge: async () => {
        await judging.pass()
        return { accepted: true, lines: [] }
      },
    })
    const clones = [await waitingPush(server), await waitingPush(server)]
    const pushes = clones.map((clone, n) => git(clone, 'push', 'origin', `main:refs/heads/b${n}`))
    await until(() => server.judged.length === 2)
    expect((await git(tempDir(), 'ls-remote', server.url('reader'))).stdout).toContain('refs/heads/main')
    judging.open()
    for (const push of pushes) expect(await push).toMatchObject({ code: 0 })
  })

  test('are rejected when too many wait, and when one has waited for too long', async () => {
    const judging = gate()
    const server = await gitServer({
      server: { git: { perRepository: 2, patience: 2_000, waiting: 1 } },
      judge: async () => {
        await judging.pass()
        return { accepted: true, lines: [] }
      },
    })
    const [first, second] = [await waitingPush(server), await waitingPush(server)]
    const pushes = [
      git(first, 'push', 'origin', 'main:refs/heads/x'),
      git(second, 'push', 'origin', 'main:refs/heads/y'),
    ]
    await until(() => server.judged.length === 2)
    const info = `http://127.0.0.1:${server.port}/git/acme/handbook.git/info/refs?service=git-upload-pack`
    const ask = () => fetch(info, { headers: { authorization: 'Bearer reader' } })
    const [late, over] = await Promise.all([ask(), delay(100).then(ask)])
    expect([late.status, await late.json()]).toEqual([503, expect.objectContaining({ error: 'unavailable' })])
    expect([over.status, await over.json()]).toEqual([429, expect.objectContaining({ error: 'rate_limited' })])
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
    judging.open()
    for (const push of pushes) expect(await push).toMatchObject({ code: 0 })
    expect((await ask()).status).toBe(200)
  })
})

describe('a server that closes', () => {
  test('lets a push finish', async () => {
    const judging = gate()
    const server = await gitServer({
      judge: async () => {
        await judging.pass()
        return { accepted: true, lines: [] }
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    const push = git(clone, 'push', 'origin', 'main')
    await judging.arrived
    const closed = server.app.close()
    await delay(300)
    judging.open()
    expect(await push).toMatchObject({ code: 0 })
    await closed
    expect(processesIn(server.gitDir)).toEqual([])
  })

  test('rejects the requests that wait for their turn', async () => {
    const judging = gate()
    const server = await gitServer({
      server: { git: { perRepository: 1 } },
      judge: async () => {
        await judging.pass()
        return { accepted: true, lines: [] }
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    const push = git(clone, 'push', 'origin', 'main')
    await judging.arrived
    const waiting = git(tempDir(), 'ls-remote', server.url('reader'))
    await delay(300)
    const closed = server.app.close()
    expect((await waiting).stderr).toContain('The service is starting, draining or busy; try again.')
    judging.open()
    expect(await push).toMatchObject({ code: 0 })
    await closed
  })

  test('does not wait for ever', async () => {
    const server = await gitServer({ server: { git: { grace: 200 } } })
    const socket: Socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {}).resume()
    socket.write(head('git-receive-pack', 'Content-Length: 1000000'))
    await until(() => processesIn(server.gitDir).length > 0)
    await server.app.close()
    expect(processesIn(server.gitDir)).toEqual([])
  })
})
