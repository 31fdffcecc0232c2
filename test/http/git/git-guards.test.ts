import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { encodePacket, flushPacket } from '../../../src/git/serve/pkt-line.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import { cloned, commitFile, type GitServer, git, gitServer, loggedLines } from '../support/git-server.ts'
import { freeDisk, testServer } from '../support/test-server.ts'

const repository = '/git/acme/handbook.git'
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`

type Asked = { method?: string; as?: string; headers?: Record<string, string>; body?: Buffer | string }

/** Asks as no git client would. The path goes out as it is. */
function ask(port: number, path: string, { method, as = 'curator', headers, body }: Asked = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string; json(): unknown }>(
    (resolve, reject) => {
      const options = {
        port,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(as && { authorization: basic(`x:${as}`) }), ...headers },
      }
      const sent = httpRequest(options, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('latin1')
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json: () => JSON.parse(text) })
        })
      })
      sent.on('error', reject).end(body)
    },
  )
}

function post(server: GitServer, service: string, asked: Asked & { body: Buffer | string }) {
  const headers = { 'content-type': `application/x-${service}-request`, ...asked.headers }
  return ask(server.port, `${repository}/${service}`, { ...asked, headers })
}

const lsRefs = Buffer.concat([encodePacket('command=ls-refs\n'), flushPacket])

describe('who may', () => {
  test.each([undefined, 'Basic', 'Basic !', basic('nobody'), basic('any:nobody'), basic(':'), 'Bearer nobody'])(
    'not: %s',
    async (authorization) => {
      const { app, request } = await testServer()
      const urls = [
        `${repository}/info/refs?service=git-upload-pack`,
        `${repository}/config`,
        '/git',
        '/git/nothing',
        '/git/%ff/x',
      ]
      for (const url of urls) {
        const answer = await request('GET', url, { headers: authorization === undefined ? {} : { authorization } })
        expect([url, answer.status, answer.headers['www-authenticate'], answer.json]).toEqual([
          url,
          401,
          'Basic realm="Ganglion", charset="UTF-8"',
          expect.objectContaining({ error: 'invalid_token' }),
        ])
      }
      const elsewhere = await app.inject({ url: '/api/v1/queue/candidates' })
      expect(elsewhere.headers['www-authenticate']).toBe('Bearer')
    },
  )

  test('a password in base64 is no bearer token, and Basic is for git only', async () => {
    const { request } = await testServer()
    const headers = { authorization: basic('any:curator') }
    expect((await request('GET', '/api/v1/queue/candidates', { headers })).status).toBe(401)
  })

  test.each(['reader', 'app'] as const)('a %s does not push', async (as) => {
    const server = await gitServer()
    const advertised = await ask(server.port, `${repository}/info/refs?service=git-receive-pack`, { as })
    expect([advertised.status, advertised.json()]).toEqual([
      403,
      expect.objectContaining({ error: 'insufficient_role' }),
    ])
    expect((await post(server, 'git-receive-pack', { as, body: '0000' })).status).toBe(403)
    const clone = await cloned(server)
    const { code, stderr } = await git(clone, 'push', server.url(as), 'main:refs/heads/x')
    expect([code, stderr]).toEqual([128, expect.stringContaining('403')])
    expect(server.judged).toEqual([])
  })

  test('the key is in no line of the log', async () => {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    const server = await gitServer({
      server: { log: { level: 'trace', stream } },
      judge: async () => {
        throw new Error('judging failed')
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    await git(clone, 'push', 'origin', 'main')
    await post(server, 'git-upload-pack', { body: 'nonsense' })
    expect(lines.join('')).toContain('judging failed')
    expect(lines.join('')).toContain(`${repository}/git-receive-pack`)
    for (const secret of ['curator', basic('any:curator').slice(6), basic('x:curator').slice(6)]) {
      expect(lines.join('')).not.toContain(secret)
    }
  })
})

describe('git itself', () => {
  test('is told in plain text why it is refused, and shows it', async () => {
    const server = await gitServer({ server: { rateReads: 12 } })
    freeDisk(server.ctx, 0.01)
    const dir = tempDir()
    const shown = async (...args: string[]) => (await git(dir, ...args)).stderr
    expect(await shown('ls-remote', server.url('nobody'))).toContain('remote: The bearer token is missing or invalid.')
    const clone = await cloned(server)
    const push = (role: string) => git(clone, 'push', server.url(role), 'main:refs/heads/x')
    expect((await push('reader')).stderr).toContain('remote: The role of the API key or person does not allow this.')
    expect((await push('curator')).stderr).toContain('remote: The disk is nearly full')
    expect(await shown('ls-remote', server.url().replace('handbook', 'other'))).toContain('There is nothing here.')
    let refused = ''
    while (refused === '') refused = await shown('-c', 'protocol.version=0', 'ls-remote', server.url())
    expect(refused).toMatch(/remote: Too many requests; try again in \d+ s\./)
  })

  test('is told why a fetch or a push is rejected, where it shows no status but 200', async () => {
    const server = await gitServer({ server: { rateReads: 9, rateWrites: 1 } })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    expect((await git(clone, 'push', 'origin', 'main')).code).toBe(0)
    commitFile(clone, 'c.md', randomBytes(3_000_000))
    for (const config of ['http.postBuffer=100m', 'http.postBuffer=65536']) {
      const { code, stderr } = await git(clone, '-c', config, 'push', 'origin', 'main')
      const reason = /^ ! \[remote rejected\] main -> main \(Too many requests; try again in \d+ s\.\)$/m
      expect([code, stderr]).toEqual([1, expect.stringMatching(reason)])
    }
    for (const version of [2, 0]) {
      const { port, url } = await gitServer({ server: { rateReads: 1 } })
      const listed = await git(tempDir(), '-c', `protocol.version=${version}`, 'clone', url(), 'x')
      expect(listed).toMatchObject({
        code: 128,
        stderr: expect.stringMatching(/^fatal: remote error: Too many requests/m),
      })
      expect((await ask(port, `${repository}/git-upload-pack`, { body: '0000' })).status).toBe(429)
    }
  })

  test('is known by its name', async () => {
    const { port } = await gitServer()
    const answerTo = async (agent: string) => {
      const { status, headers, text } = await ask(port, `${repository}/config`, { headers: { 'user-agent': agent } })
      return [status, headers['content-type'], text]
    }
    const plain = [404, 'text/plain; charset=utf-8', 'There is nothing here.\n']
    for (const agent of ['git/2.39.5', 'git/2.51.0 (libgit2 1.9)', 'JGit/7.0', 'go-git/5.x']) {
      expect(await answerTo(agent)).toEqual(plain)
    }
    for (const agent of ['curl/8', 'digit/1', 'Mozilla/5.0 git/2']) {
      expect((await answerTo(agent))[1]).toBe('application/json; charset=utf-8')
    }
  })
})

describe('what is not there', () => {
  test.each([
    `${repository}/info/refs`,
    `${repository}/info/refs?service=`,
    `${repository}/info/refs?service=upload-pack`,
    `${repository}/info/refs?service=git-upload-archive`,
    `${repository}/info/refs?service=git-upload-pack&service=git-upload-pack`,
    `${repository}/info/refs?service=git-upload-pack&service=git-receive-pack`,
    `${repository}/HEAD`,
    `${repository}/config`,
    `${repository}/objects/info/packs`,
    `${repository}/objects/info/alternates`,
    `${repository}/info/refs/`,
    `${repository}/../handbook.git/config`,
    `${repository}/%2e%2e/config`,
    `${repository}`,
    '/git/other/handbook.git/info/refs?service=git-upload-pack',
    '/git/acme/other.git/info/refs?service=git-upload-pack',
    '/git/acme/handbook.git.git/info/refs?service=git-upload-pack',
    '/git/acme%2fhandbook.git/info/refs?service=git-upload-pack',
    '/git/acme/..%2fhandbook.git/info/refs?service=git-upload-pack',
    '/git/%ff/handbook.git/info/refs?service=git-upload-pack',
    '/git',
  ])('%s', async (path) => {
    const { port } = await gitServer()
    const { status, json } = await ask(port, path)
    expect([status, json()]).toEqual([404, { error: 'not_found', message: 'There is nothing here.' }])
  })

  test('other methods, and services that are none', async () => {
    const server = await gitServer()
    const info = `${repository}/info/refs?service=git-upload-pack`
    expect((await ask(server.port, info, { method: 'HEAD' })).status).toBe(404)
    expect((await ask(server.port, info, { body: '' })).status).toBe(404)
    expect((await ask(server.port, `${repository}/git-upload-pack`)).status).toBe(404)
    expect((await post(server, 'git-upload-archive', { body: '0000' })).status).toBe(404)
  })
})

describe('a request of another form', () => {
  test.each(['git-upload-pack', 'git-receive-pack'])('of another type to %s is 415', async (service) => {
    const server = await gitServer()
    const type = `application/x-${service}-request`
    const others = [
      'application/json',
      'application/x-git-upload-archive-request',
      `${type};charset=utf-8`,
      `${type}s`,
      '',
    ]
    for (const other of others) {
      const { status } = await post(server, service, { body: '0000', headers: { 'content-type': other } })
      expect([other, status]).toEqual([other, 415])
    }
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'zstd']) {
      const { status } = await post(server, service, { body: '0000', headers: { 'content-encoding': encoding } })
      expect([encoding, status]).toEqual([encoding, 415])
    }
  })

  test('is 400 where it is not compressed as it says', async () => {
    const server = await gitServer()
    const headers = { 'content-encoding': 'gzip', 'git-protocol': 'version=2' }
    for (const body of ['0000', gzipSync(lsRefs).subarray(0, 20)]) {
      const { status, json } = await post(server, 'git-upload-pack', { body, headers })
      expect([status, json()]).toEqual([400, expect.objectContaining({ error: 'malformed_request' })])
    }
    const { status, text } = await post(server, 'git-upload-pack', { body: gzipSync(lsRefs), headers })
    expect([status, text]).toEqual([200, expect.stringContaining('refs/heads/main')])
  })

  test('is 413 where it is larger than any fetch, also inflated', async () => {
    const server = await gitServer()
    const want = encodePacket(`want ${nativeGit(server.gitDir, ['rev-parse', 'main'])}\n`)
    const large = Buffer.concat([want, flushPacket, Buffer.alloc(17 << 20, encodePacket(`have ${'1'.repeat(40)}\n`))])
    const bodies = [
      { body: large, headers: {} },
      { body: large, headers: { 'transfer-encoding': 'chunked' } },
      { body: gzipSync(large), headers: { 'content-encoding': 'gzip' } },
    ]
    for (const { body, headers } of bodies) {
      const { status, json } = await post(server, 'git-upload-pack', { body, headers })
      expect([status, json()]).toEqual([413, expect.objectContaining({ error: 'payload_too_large' })])
    }
  })

  test('is 413 where it is a compressed push that inflates to more than any push', async () => {
    const server = await gitServer({ server: { git: { maxPack: 100_000 } } })
    const body = gzipSync(Buffer.alloc(2_000_000, '0000'))
    const { status } = await post(server, 'git-receive-pack', { body, headers: { 'content-encoding': 'gzip' } })
    expect(status).toBe(413)
  })

  test.each([
    ['git-upload-pack', 'zzzz', ''],
    ['git-upload-pack', '0009hello', ''],
    ['git-upload-pack', '0032want', ''],
    ['git-upload-pack', 'zzzz', 'version=2'],
    ['git-upload-pack', '0009hello', 'version=2'],
    ['git-upload-pack', '0015command=no-such\n0000', 'version=2'],
    ['git-upload-pack', '0014command=ls-refs\n0001000ano-such0000', 'version=2'],
    ['git-upload-pack', '0011command=fetch00010016deepen-not no-such0000', 'version=2'],
    ['git-upload-pack', '0011command=fetch0001000cdeepen x0000', 'version=2'],
    ['git-upload-pack', '0011command=fetch00010012deepen-since x0000', 'version=2'],
    ['git-upload-pack', '0011command=fetch0001000eshallow zz0000', 'version=2'],
    ['git-upload-pack', '0011command=fetch00010011filter blob:x0000', 'version=2'],
    ['git-receive-pack', 'zzzz', ''],
    ['git-receive-pack', '0009hello', ''],
    ['git-receive-pack', '0064', ''],
  ])('that %s does not understand is 400 without its words: %j %s', async (service, body, protocol) => {
    const log = loggedLines()
    const server = await gitServer({ server: { log } })
    const { status, json } = await post(server, service, { body, headers: { 'git-protocol': protocol } })
    expect([status, json()]).toEqual([
      400,
      { error: 'malformed_request', message: 'The request could not be understood.' },
    ])
    expect(log.errors()).toEqual([])
  })

  test('that wants what is not there breaks the answer off', async () => {
    const server = await gitServer()
    const want = Buffer.concat([encodePacket(`want ${'1'.repeat(40)}\n`), flushPacket, encodePacket('done\n')])
    await expect(post(server, 'git-upload-pack', { body: want })).rejects.toThrow('aborted')
  })

  test('to a repository that is broken is 500, and logged', async () => {
    const log = loggedLines()
    const server = await gitServer({ server: { log } })
    rmSync(join(server.gitDir, 'HEAD'))
    const { status, json } = await post(server, 'git-upload-pack', { body: '0000' })
    expect([status, json()]).toEqual([500, { error: 'internal', message: 'Something went wrong on our side.' }])
    expect(log.errors()).toEqual([expect.stringContaining('git-failed')])
  })

  test('asks for nothing of git but a version of the protocol', async () => {
    const server = await gitServer()
    const info = `${repository}/info/refs?service=git-upload-pack`
    const v2 = await ask(server.port, info, { headers: { 'git-protocol': 'version=2' } })
    expect(v2.text).toMatch(/^000eversion 2\n/)
    expect(v2.headers).toMatchObject({
      'content-type': 'application/x-git-upload-pack-advertisement',
      'cache-control': 'no-cache, no-store',
    })
    for (const value of ['version=2;x', `version=2:${'x'.repeat(100)}`]) {
      const { text } = await ask(server.port, info, { headers: { 'git-protocol': value } })
      expect(text).toMatch(/^001e# service=git-upload-pack\n0000/)
    }
  })

  const zero = '0'.repeat(40)

  test.each(['refs/heads/../../../x', 'refs/heads/x.lock', 'refs//x', 'refs/heads/a b', 'refs/heads/.x'])(
    'that pushes %s is refused, though git would ask for it',
    async (ref) => {
      const server = await gitServer()
      const head = nativeGit(server.gitDir, ['rev-parse', 'main'])
      const command = encodePacket(`${zero} ${head} ${ref}\0report-status`)
      const body = Buffer.concat([command, flushPacket, emptyPack])
      const { status, text } = await post(server, 'git-receive-pack', { body })
      expect([status, text]).toEqual([200, expect.stringContaining(`ng ${ref} pre-receive hook declined`)])
      expect([server.judged, server.received]).toEqual([[], []])
    },
  )

  test('that pushes a ref twice is refused', async () => {
    const server = await gitServer()
    const head = nativeGit(server.gitDir, ['rev-parse', 'main'])
    const twice = ['\0report-status', ''].map((end) => encodePacket(`${zero} ${head} refs/heads/x${end}`))
    const { text } = await post(server, 'git-receive-pack', { body: Buffer.concat([...twice, flushPacket, emptyPack]) })
    expect(text).toContain('ng refs/heads/x pre-receive hook declined')
    expect(server.judged).toEqual([])
  })
})

test('a signed push runs no program of the repository', async () => {
  const server = await gitServer()
  const ran = join(tempDir(), 'ran')
  const program = join(tempDir(), 'program')
  writeFileSync(program, `#!/bin/sh\necho ran >>${ran}\n`, { mode: 0o755 })
  nativeGit(server.gitDir, ['config', 'gpg.program', program])
  const head = nativeGit(server.gitDir, ['rev-parse', 'main'])
  const lines = [
    'push-cert\0report-status\n',
    'certificate version 0.1\n',
    'pusher x <x@example.com> 1 +0000\n',
    'nonce 1\n',
    '\n',
    `${'0'.repeat(40)} ${head} refs/heads/x\n`,
    '-----BEGIN PGP SIGNATURE-----\n',
    '-----END PGP SIGNATURE-----\n',
    'push-cert-end\n',
  ]
  const body = Buffer.concat([...lines.map(encodePacket), flushPacket, emptyPack])
  const { text } = await post(server, 'git-receive-pack', { body })
  expect(text).toContain('ok refs/heads/x')
  expect(existsSync(ran)).toBe(false)
})

/** `PACK`, version 2, no objects, and the checksum of that. */
const emptyPack = Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex')

describe('limits', () => {
  test('fetches count as reads and pushes as writes', async () => {
    const server = await gitServer({ server: { rateReads: 3, rateWrites: 1 } })
    const push = () => post(server, 'git-receive-pack', { body: '0000' })
    expect((await push()).status).toBe(200)
    const { status, headers, json } = await push()
    expect([status, json()]).toEqual([429, expect.objectContaining({ error: 'rate_limited' })])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    const fetches = []
    for (let n = 0; n < 4; n++) {
      fetches.push(
        (await post(server, 'git-upload-pack', { body: lsRefs, headers: { 'git-protocol': 'version=2' } })).status,
      )
    }
    expect(fetches).toEqual([200, 200, 200, 429])
  })

  test('a nearly full disk stops pushes, not fetches', async () => {
    const server = await gitServer()
    freeDisk(server.ctx, 0.01)
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    const { code, stderr } = await git(clone, 'push', 'origin', 'main')
    expect([code, stderr]).toEqual([128, expect.stringContaining('507')])
    expect((await post(server, 'git-receive-pack', { body: '0000' })).status).toBe(507)
  })
})
