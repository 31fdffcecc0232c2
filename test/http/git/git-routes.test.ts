import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { tempDir } from '../../support/temp.ts'
import { cloned, commitFile, git, gitServer, loggedLines } from '../support/git-server.ts'

const main = 'refs/heads/main'

describe('fetching', () => {
  test('what the server is able to do is said again as it was said first, until the configuration changes', async () => {
    const server = await gitServer()
    const ask = async () => {
      const url = `${server.url().replace(/any:curator@/, '')}/info/refs?service=git-upload-pack`
      const headers = { authorization: 'Bearer curator', 'git-protocol': 'version=2' }
      return (await fetch(url, { headers })).text()
    }
    const first = await ask()
    expect(first).toContain('ls-refs')
    expect(await ask()).toBe(first)
    nativeGit(server.gitDir, ['config', 'transfer.advertiseObjectInfo', 'true'])
    expect(await ask()).toContain('object-info')
  })

  test.each(['0', '1', '2'])('clones and fetches with version %s of the protocol', async (version) => {
    const server = await gitServer()
    const clone = await cloned(server, '-c', `protocol.version=${version}`)
    expect(readFileSync(join(clone, 'a.md'), 'utf8')).toBe('a\n')
    const other = await cloned(server)
    const commit = commitFile(other, 'b.md', 'b\n')
    expect((await git(other, 'push', 'origin', 'main')).code).toBe(0)
    expect((await git(clone, 'fetch', 'origin')).code).toBe(0)
    expect(nativeGit(clone, ['rev-parse', 'origin/main'])).toBe(commit)
  })

  test('clones a part of the history, and a part of the files', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    commitFile(clone, 'a.md', 'b\n')
    await git(clone, 'push', 'origin', 'main')
    const shallow = await cloned(server, '--depth', '1')
    expect(nativeGit(shallow, ['rev-list', '--count', 'HEAD'])).toBe('1')
    const partial = await cloned(server, '--filter=blob:none', '--no-checkout')
    expect(nativeGit(partial, ['rev-list', '--objects', '--missing=print', 'HEAD'])).toMatch(/^\?[0-9a-f]{40}$/m)
    expect((await git(partial, 'checkout')).code).toBe(0)
    expect(readFileSync(join(partial, 'a.md'), 'utf8')).toBe('b\n')
  })

  test('Git LFS is told in its own form, and in words, that there are no LFS objects', async () => {
    const server = await gitServer()
    const answer = await fetch(`${server.url().replace(/any:curator@/, '')}/info/lfs/objects/batch`, {
      method: 'POST',
      headers: { authorization: 'Bearer curator', 'content-type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify({ operation: 'upload', objects: [{ oid: '0'.repeat(64), size: 1 }] }),
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      501,
      'application/vnd.git-lfs+json; charset=utf-8',
    ])
    expect(await answer.json()).toEqual({ message: expect.stringContaining('no Git LFS objects') })
  })

  test.each(['blob:limit=1k', 'tree:0'])('filters a clone by %s', async (filter) => {
    const clone = await cloned(await gitServer(), `--filter=${filter}`)
    expect(readFileSync(join(clone, 'a.md'), 'utf8')).toBe('a\n')
  })

  test.each([
    ['tree:1', 'tree filter allows max depth 0, but got 1'],
    ['combine:tree:0+blob:none', "filter 'combine' not supported"],
    ['sparse:oid=main', "filter 'sparse:oid' not supported"],
    ['object:type=tree', "filter 'object:type' not supported"],
  ])('rejects the filter %s and says so', async (filter, reason) => {
    const log = loggedLines()
    const server = await gitServer({ server: { log } })
    const { code, stderr } = await git(tempDir(), 'clone', '--bare', `--filter=${filter}`, server.url(), 'clone')
    expect([code, stderr]).toEqual([128, expect.stringContaining(`fatal: remote error: ${reason}`)])
    expect(log.errors()).toEqual([])
  })

  test('prepares the refs that are asked for, and all of them for who cannot ask', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    server.prepared.length = 0
    await git(clone, '-c', 'protocol.version=2', 'fetch', 'origin', 'refs/candidates/1/head')
    expect(server.prepared).toEqual([expect.arrayContaining(['refs/candidates/1/head'])])
    await git(clone, '-c', 'protocol.version=2', 'ls-remote')
    expect(server.prepared.slice(1)).toEqual([[]])
    await git(clone, '-c', 'protocol.version=0', 'fetch', 'origin', 'refs/candidates/1/head')
    expect(server.prepared.slice(2)).toEqual([[]])
  })

  test('sends what was prepared', async () => {
    const server = await gitServer()
    const head = nativeGit(server.gitDir, ['rev-parse', main])
    const late = await gitServer({
      openDoor: async () => ({
        gitDir: server.gitDir,
        claim: { key: 'reader', repository: 'handbook', tenant: 'acme' },
        brokenRefs: [],
        receiver: { judge: () => Promise.reject(), receive: () => Promise.reject() },
        prepareFetch: async () => void nativeGit(server.gitDir, ['update-ref', 'refs/candidates/1/head', head]),
      }),
    })
    const clone = await cloned(server)
    await git(clone, 'remote', 'set-url', 'origin', late.url('reader'))
    expect(await git(clone, 'fetch', 'origin', 'refs/candidates/1/head')).toMatchObject({ code: 0 })
    expect(nativeGit(clone, ['rev-parse', 'FETCH_HEAD'])).toBe(head)
  })

  test('inflates what a client compresses', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    for (let n = 0; n < 80; n++) commitFile(clone, `local-${n}.md`, `${n}\n`)
    const other = await cloned(server)
    commitFile(other, 'b.md', 'b\n')
    await git(other, 'push', 'origin', 'main')
    const encodings: unknown[] = []
    server.app.server.on('request', ({ headers }) => encodings.push(headers['content-encoding']))
    expect((await git(clone, 'fetch', 'origin')).code).toBe(0)
    expect(encodings).toContain('gzip')
  })

  test('does not ask whose files the repository is', async () => {
    const server = await gitServer()
    const nobody = 65_534
    if (process.getuid?.() === 0) chownSync(server.gitDir, nobody, nobody)
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    expect(await git(clone, 'push', 'origin', 'main')).toMatchObject({ code: 0 })
  })

  test('is served to every role, whatever the form of the key', async () => {
    const server = await gitServer()
    const dir = tempDir()
    for (const role of ['reader', 'app', 'curator']) {
      expect((await git(dir, 'ls-remote', server.url(role))).stdout).toContain(main)
    }
    const address = `127.0.0.1:${server.port}/git/acme/handbook`
    expect((await git(dir, 'ls-remote', `http://reader:@${address}.git`)).stdout).toContain(main)
    const header = 'http.extraHeader=Authorization: Bearer reader'
    expect((await git(dir, '-c', header, 'ls-remote', `http://${address}`)).stdout).toContain(main)
    expect(await git(dir, 'ls-remote', `http://nobody:nothing@${address}.git`)).toMatchObject({
      code: 128,
      stderr: expect.stringContaining('Authentication failed'),
    })
  })
})

describe('pushing', () => {
  test('tells what was judged and taken, and moves what the receiver moves', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    const from = nativeGit(clone, ['rev-parse', 'HEAD'])
    const to = commitFile(clone, 'b.md', 'b\n')
    const { code, stderr } = await git(clone, 'push', 'origin', 'main')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/remote: Looks good\..*remote: Taken\./s)])
    expect(server.judged).toEqual([
      {
        updates: [{ ref: main, from, to }],
        quarantine: expect.stringContaining(join(server.gitDir, 'objects', 'tmp_objdir-')),
      },
    ])
    expect(server.received).toEqual([{ updates: [{ ref: main, from, to }], options: [] }])
    expect(nativeGit(server.gitDir, ['rev-parse', main])).toBe(to)
    expect(nativeGit(server.gitDir, ['fsck', '--strict'])).toBe('')
  })

  test('judges while the objects are in quarantine', async () => {
    let seen: unknown
    const server = await gitServer({
      judge: async ([update], quarantine = '') => {
        const environment = `GIT_OBJECT_DIRECTORY=${quarantine}`
        const { execFileSync } = await import('node:child_process')
        const inside = execFileSync('env', [environment, 'git', 'cat-file', '-t', update?.to ?? ''], {
          cwd: server.gitDir,
          encoding: 'utf8',
        })
        let outside = ''
        try {
          outside = nativeGit(server.gitDir, ['cat-file', '-t', update?.to ?? ''])
        } catch {}
        seen = { inside, outside }
        return { accepted: false, lines: [] }
      },
    })
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    await git(clone, 'push', 'origin', 'main')
    expect(seen).toEqual({ inside: 'commit\n', outside: '' })
  })

  test('that is refused leaves nothing, and says why', async () => {
    const server = await gitServer({
      judge: async () => ({ accepted: false, lines: ['a.md:3: no title', 'b.md:1: \u001b[31mred'] }),
    })
    const clone = await cloned(server)
    const from = nativeGit(clone, ['rev-parse', 'HEAD'])
    const to = commitFile(clone, 'b.md', 'b\n')
    const { code, stderr } = await git(clone, 'push', 'origin', 'main')
    expect(code).toBe(1)
    expect(stderr).toMatch(/remote: a\.md:3: no title\s*\nremote: b\.md:1: {2}\[31mred/)
    expect(stderr).toContain('pre-receive hook declined')
    expect(server.received).toEqual([])
    expect(nativeGit(server.gitDir, ['rev-parse', main])).toBe(from)
    expect(() => nativeGit(server.gitDir, ['cat-file', '-e', to])).toThrow()
  })

  test('is refused by ref', async () => {
    const server = await gitServer({
      receive: async (updates) => ({
        lines: ['One of two.'],
        outcomes: updates.map(({ ref }) => (ref === main ? { ref } : { ref, refused: 'not\nyours' })),
      }),
    })
    const clone = await cloned(server)
    const from = nativeGit(clone, ['rev-parse', 'HEAD'])
    commitFile(clone, 'b.md', 'b\n')
    const { code, stdout } = await git(clone, 'push', '--porcelain', 'origin', 'main', 'main:refs/heads/x')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ \trefs\/heads\/main:refs\/heads\/main\t/m)
    expect(stdout).toMatch(/^!\trefs\/heads\/main:refs\/heads\/x\t\[remote rejected\] \(not yours\)$/m)
    // git itself has moved nothing, not even what the receiver said was moved.
    expect(nativeGit(server.gitDir, ['for-each-ref', '--format=%(refname) %(objectname)'])).toBe(`${main} ${from}`)
  })

  test.each(['judge', 'receive'] as const)(
    'is refused where the receiver fails to %s, without its reasons',
    async (step) => {
      const fail = async () => {
        throw new Error('secret')
      }
      const server = await gitServer({ [step]: fail })
      const clone = await cloned(server)
      commitFile(clone, 'b.md', 'b\n')
      const { code, stderr } = await git(clone, 'push', 'origin', 'main')
      expect([code, stderr]).toEqual([1, expect.stringMatching(/remote: .*the server failed to/i)])
      expect(stderr).not.toContain('secret')
    },
  )

  test('makes and deletes refs', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    expect((await git(clone, 'push', 'origin', 'main:refs/candidates/1/head')).code).toBe(0)
    expect((await git(clone, 'push', 'origin', ':refs/candidates/1/head')).code).toBe(0)
    const head = nativeGit(clone, ['rev-parse', 'HEAD'])
    expect(server.judged).toEqual([
      { updates: [{ ref: 'refs/candidates/1/head', from: undefined, to: head }], quarantine: expect.anything() },
      { updates: [{ ref: 'refs/candidates/1/head', from: head, to: undefined }], quarantine: undefined },
    ])
    expect(nativeGit(server.gitDir, ['for-each-ref', 'refs/candidates'])).toBe('')
  })

  test('brings its options', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    await git(clone, 'push', '-o', 'topic=vip', '-o', 'more = é', 'origin', 'main:refs/for/main')
    expect(server.received.map(({ options }) => options)).toEqual([['topic=vip', 'more = é']])
  })

  test('moves 10 refs at most', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    const refs = (count: number) => Array.from({ length: count }, (_, n) => `main:refs/heads/b${n}`)
    const { code, stderr } = await git(clone, 'push', 'origin', ...refs(11))
    expect([code, stderr]).toEqual([1, expect.stringContaining('remote: A push may move 10 refs at most.')])
    expect(server.judged).toEqual([])
    expect((await git(clone, 'push', 'origin', ...refs(10))).code).toBe(0)
    expect(server.judged[0]?.updates).toHaveLength(10)
  })

  test('does not see what is hidden, nor touch it', async () => {
    const server = await gitServer()
    nativeGit(server.gitDir, ['update-ref', 'refs/ganglion/queue', main])
    const clone = await cloned(server)
    expect((await git(clone, 'fetch', 'origin', 'refs/ganglion/queue')).code).toBe(0)
    commitFile(clone, 'b.md', 'b\n')
    const { code, stderr } = await git(clone, 'push', '--force', 'origin', 'main:refs/ganglion/queue')
    expect([code, stderr]).toEqual([1, expect.stringContaining('deny updating a hidden ref')])
    expect(server.received).toEqual([])
  })

  test('atomically moves one ref, or none of several', async () => {
    const server = await gitServer()
    const clone = await cloned(server)
    const push = (...refs: string[]) => git(clone, 'push', '--atomic', 'origin', ...refs)
    const { code, stderr } = await push('main:refs/heads/x', 'main:refs/heads/y')
    const reason = 'An atomic push may move one ref: push the refs one by one.'
    const rejected = ['x', 'y'].map((ref) => ` ! [remote rejected] main -> ${ref} (${reason})`)
    expect([code, stderr]).toEqual([1, expect.stringContaining(rejected.join('\n'))])
    expect(server.judged).toEqual([])
    expect(await push('main:refs/heads/x')).toMatchObject({ code: 0 })
  })

  test('from a shallow clone goes on where the history is there, and is refused where it is not', async () => {
    const server = await gitServer()
    const first = await cloned(server)
    commitFile(first, 'b.md', 'b\n')
    await git(first, 'push', 'origin', 'main')
    const shallow = await cloned(server, '--depth', '1')
    commitFile(shallow, 'c.md', 'c\n')
    expect(await git(shallow, 'push', 'origin', 'main')).toMatchObject({ code: 0 })

    const foreign = join(tempDir(), 'foreign')
    mkdirSync(foreign)
    nativeGit(foreign, ['init', '--quiet', '--initial-branch=main', '.'])
    for (const name of ['x.md', 'y.md']) commitFile(foreign, name, name)
    const cut = join(tempDir(), 'cut')
    await git(tempDir(), 'clone', '--quiet', '--depth', '1', `file://${foreign}`, cut)
    const { code, stderr } = await git(cut, 'push', server.url(), 'main:refs/heads/cut')
    expect([code, stderr]).toEqual([1, expect.stringContaining('shallow update not allowed')])
    expect(existsSync(join(server.gitDir, 'shallow'))).toBe(false)
    expect(server.received).toHaveLength(2)
  })

  test('over the size of a pack is refused, and says so', async () => {
    const server = await gitServer({ server: { git: { maxPack: 100_000 } } })
    const clone = await cloned(server)
    commitFile(clone, 'big.bin', randomBytes(500_000))
    const { code, stderr } = await git(clone, 'push', 'origin', 'main')
    expect([code, stderr]).toEqual([1, expect.stringContaining('pack exceeds maximum allowed size')])
    expect(server.judged).toEqual([])
    expect(nativeGit(server.gitDir, ['count-objects', '-v'])).toMatch(/^packs: 0$/m)
  })

  test('runs no hook and no program of the repository', async () => {
    const server = await gitServer()
    const ran = join(tempDir(), 'ran')
    const names = ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction', 'proc-receive']
    for (const name of names) {
      const hook = join(server.gitDir, 'hooks', name)
      mkdirSync(join(server.gitDir, 'hooks'), { recursive: true })
      writeFileSync(hook, `#!/bin/sh\necho ${name} >>${ran}\n`)
      chmodSync(hook, 0o755)
    }
    const program = join(server.gitDir, 'hooks', 'update')
    for (const [key, value] of [
      ['core.hooksPath', join(server.gitDir, 'hooks')],
      ['core.alternateRefsCommand', program],
      ['uploadpack.packObjectsHook', program],
      ['gpg.program', program],
      ['core.fsmonitor', program],
    ] as const) {
      nativeGit(server.gitDir, ['config', key, value])
    }
    const alternate = join(tempDir(), 'alternate.git')
    nativeGit(tempDir(), ['clone', '--quiet', '--bare', server.gitDir, alternate])
    writeFileSync(join(server.gitDir, 'objects', 'info', 'alternates'), `${join(alternate, 'objects')}\n`)
    const clone = await cloned(server)
    commitFile(clone, 'b.md', 'b\n')
    expect(await git(clone, 'push', 'origin', 'main')).toMatchObject({ code: 0 })
    expect(existsSync(ran)).toBe(false)
  })
})
