import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { missingObjects } from '../../../src/git/history/reachable.ts'
import { encodePack } from '../../../src/git/objects/pack-writer.ts'
import { Repository } from '../../../src/git/repository.ts'
import { fetchPack, listRemoteRefs, pushToRemote, type RemoteUpdate } from '../../../src/git/transport/remote.ts'
import { ForgeGit } from '../../forge/support/forge-git.ts'
import { listening } from '../../support/listening.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

const password = 's3cret'

/** A repository that native `git http-backend` serves, and an empty one here. */
async function remoteAndOwn() {
  const git = new ForgeGit('acme/handbook.git')
  const seen: string[] = []
  const origin = await listening(
    createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      seen.push(`${request.method} ${request.url}`)
      const expected = `Basic ${Buffer.from(`bot:${password}`).toString('base64')}`
      if (request.headers.authorization !== expected) return void response.writeHead(401).end()
      await git.serve(request, response, Buffer.concat(chunks))
    }),
  )
  const repository = await Repository.init(join(tempDir(), 'own.git'))
  const access = { url: `${origin}/acme/handbook.git`, username: 'bot', password }
  const push = async (updates: RemoteUpdate[], haves: string[] = []) => {
    const wants = updates.flatMap(({ to }) => to ?? [])
    const pack =
      wants.length === 0 ? undefined : (await encodePack(await missingObjects(repository, wants, haves))).pack
    return pushToRemote(access, updates, pack)
  }
  /** Commits here as somebody with git. */
  const commit = (branch: string, files: Record<string, string | null>, parents?: string[]) => {
    const own = new ForgeGit('own.git', repository.gitDir)
    return parents === undefined ? own.commit(branch, files) : own.mergeOf(branch, parents)
  }
  return { git, repository, access, push, commit, seen, origin }
}

test('pushes new refs, moves and deletes them, in one request each', async () => {
  const { git, access, push, commit, seen } = await remoteAndOwn()
  const first = commit('main', { 'a/b.md': 'B', 'c.md': 'C' })
  expect(await push([{ ref: 'refs/heads/main', from: undefined, to: first }])).toEqual(new Map())
  const second = commit('main', { 'a/b.md': 'B2' })
  const other = commit('topic', { 'd.md': 'D' })
  seen.length = 0
  await push(
    [
      { ref: 'refs/heads/main', from: first, to: second },
      { ref: 'refs/heads/topic', from: undefined, to: other },
    ],
    [first],
  )
  expect(seen).toEqual(['POST /acme/handbook.git/git-receive-pack'])
  expect(nativeGit(git.dir, ['fsck', '--full', '--strict'])).toBe('')
  expect(await listRemoteRefs(access, ['refs/heads/'])).toEqual(
    new Map([
      ['refs/heads/main', second],
      ['refs/heads/topic', other],
    ]),
  )
  expect(await listRemoteRefs(access, ['refs/heads/to'])).toEqual(new Map([['refs/heads/topic', other]]))
  await push([{ ref: 'refs/heads/topic', from: other, to: undefined }])
  expect(git.branches()).toEqual(['main'])
})

test('sends no object that the remote has, and all that merged side branches need', async () => {
  const { git, repository, push, commit } = await remoteAndOwn()
  const first = commit('main', { 'a.md': 'A', 'b.md': 'B' })
  await push([{ ref: 'refs/heads/main', from: undefined, to: first }])
  const side = commit('side', { 'c/d.md': 'D' })
  const main = commit('main', { 'a.md': 'A2' })
  const merged = commit('main', {}, [main, side])
  const objects = await missingObjects(repository, [merged], [first])
  expect(objects.size).toBe(
    Number(nativeGit(repository.gitDir, ['rev-list', '--objects', '--count', merged, `^${first}`])),
  )
  await push([{ ref: 'refs/heads/main', from: first, to: merged }], [first, '1'.repeat(40)])
  expect(nativeGit(git.dir, ['fsck', '--full', '--strict'])).toBe('')
  expect(git.head('refs/heads/main')).toBe(merged)
  expect((await missingObjects(repository, [first], [merged])).size).toBe(0)
})

test('sends the objects of a tree that a later commit brought back', async () => {
  const { git, repository, push, commit } = await remoteAndOwn()
  const first = commit('main', { 'a/a.md': 'A' })
  await push([{ ref: 'refs/heads/main', from: undefined, to: first }])
  commit('main', { 'a/b.md': 'B' })
  commit('main', { 'a/c.md': 'C' })
  const back = commit('main', { 'a/c.md': null })
  const objects = await missingObjects(repository, [back], [first])
  expect(objects.size).toBe(
    Number(nativeGit(repository.gitDir, ['rev-list', '--objects', '--count', back, `^${first}`])),
  )
  await push([{ ref: 'refs/heads/main', from: first, to: back }], [first])
  expect(nativeGit(git.dir, ['fsck', '--full', '--strict'])).toBe('')
})

test('a ref that is elsewhere than it is said to be stays, and the others move', async () => {
  const { git, push, commit } = await remoteAndOwn()
  const first = commit('main', { 'a.md': 'A' })
  await push([{ ref: 'refs/heads/main', from: undefined, to: first }])
  const theirs = git.commit('main', { 'b.md': 'B' })
  const ours = commit('main', { 'c.md': 'C' })
  const refused = await push(
    [
      { ref: 'refs/heads/main', from: first, to: ours },
      { ref: 'refs/heads/new', from: undefined, to: ours },
    ],
    [first],
  )
  expect([...refused.keys()]).toEqual(['refs/heads/main'])
  expect(git.head('refs/heads/main')).toBe(theirs)
  expect(git.head('refs/heads/new')).toBe(ours)
})

test('fetches what is missing as a pack', async () => {
  const { git, repository, access, push, commit } = await remoteAndOwn()
  const first = commit('main', { 'a.md': 'A', 'b.md': 'B' })
  await push([{ ref: 'refs/heads/main', from: undefined, to: first }])
  const theirs = git.commit('main', { 'a.md': 'A2' })
  const chunks: Buffer[] = []
  for await (const chunk of fetchPack(access, { wants: [theirs], haves: [first, '2'.repeat(40)] })) chunks.push(chunk)
  const pack = Buffer.concat(chunks)
  expect(pack.readUInt32BE(8)).toBe(3)
  nativeGit(repository.gitDir, ['unpack-objects', '-q'], pack)
  expect(await repository.readText((await repository.blobAt(theirs, 'a.md')) ?? '')).toBe('A2')
})

test('tells apart a wrong password, no server and what is no git server', async () => {
  const { access, origin } = await remoteAndOwn()
  const wrong = await listRemoteRefs({ ...access, password: 'x' }, ['refs/']).catch((error) => error)
  expect(wrong).toMatchObject({ code: 'refused' })
  expect(String(wrong)).not.toContain('Basic')
  await expect(listRemoteRefs({ ...access, url: `${origin}/none.git` }, [''])).rejects.toMatchObject({
    code: 'refused',
  })
  await expect(listRemoteRefs({ ...access, url: 'http://127.0.0.1:9' }, [''])).rejects.toMatchObject({
    code: 'unreachable',
  })
  const chatty = await listening(createServer((_, response) => void response.end('hello, hello')))
  await expect(listRemoteRefs({ ...access, url: chatty }, [''])).rejects.toMatchObject({ code: 'protocol' })
})

test('a list of refs without its end is none, and how long a server wants to be left alone is told', async () => {
  const line = `003d${'1'.repeat(40)} refs/heads/main\n`
  const cut = await listening(createServer((_, response) => void response.end(line)))
  const remote = { url: cut, username: 'bot', password }
  await expect(listRemoteRefs(remote, ['refs/'])).rejects.toMatchObject({ code: 'unreachable' })
  const whole = await listening(createServer((_, response) => void response.end(`${line}0000`)))
  expect([...(await listRemoteRefs({ ...remote, url: whole }, ['refs/'])).keys()]).toEqual(['refs/heads/main'])
  const busy = await listening(
    createServer((_, response) => void response.writeHead(503, { 'retry-after': '60' }).end()),
  )
  await expect(listRemoteRefs({ ...remote, url: busy }, ['refs/'])).rejects.toMatchObject({ retryAfter: '60' })
})

test('what a hook says of a refused push is told', async () => {
  const { git, push, commit } = await remoteAndOwn()
  const hook = join(git.dir, 'hooks', 'pre-receive')
  writeFileSync(hook, '#!/bin/sh\necho "GH006: main is protected,"\necho "ask Ada." >&2\nexit 1\n')
  chmodSync(hook, 0o755)
  const refused = await push([{ ref: 'refs/heads/main', from: undefined, to: commit('main', { 'a.md': 'A' }) }])
  expect(refused.get('refs/heads/main')).toMatch(/^pre-receive hook declined: .*GH006: main is protected, ask Ada\.$/)
})

test('a transfer takes as long as bytes come and go, and no longer', async () => {
  const line = `003d${'1'.repeat(40)} refs/heads/main\n`
  const pause = () => delay(1_200)
  const slow = await listening(
    createServer(async (request, response) => {
      await pause()
      request.resume().once('end', async () => {
        await pause()
        response.write(line)
        await pause()
        response.end('0000')
      })
    }),
  )
  const remote = { url: slow, username: 'bot', password }
  const large = Buffer.alloc(32 * 1024 * 1024)
  const ref = { ref: 'refs/heads/main', from: undefined, to: '1'.repeat(40) }
  expect((await pushToRemote(remote, [ref], large, { timeoutMs: 3_000 })).size).toBe(1)
  const stalled = await listening(createServer((_, response) => void response.write(line)))
  const given = listRemoteRefs({ ...remote, url: stalled }, ['refs/'], { timeoutMs: 300 })
  await expect(given).rejects.toMatchObject({ code: 'unreachable' })
})
