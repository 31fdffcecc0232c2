import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { migrations } from '../../../src/state/database/migrations/migrations.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'
import { dataWithTenants, ganglion, ganglionJson, serve } from '../support.ts'

const main = fileURLToPath(new URL('../../../src/main.js', import.meta.url))
/** Each command is a process, which takes a while to start on a busy machine. */
const fast = { GANGLION_RATE_READS: '1000000', GANGLION_RATE_WRITES: '1000000' }

/** Submits and approves until it is stopped; gives the ids of all candidates whose approval was acknowledged so far. */
function keepApproving({ url, kb, appToken, curatorToken }: Record<string, string>) {
  const post = async (path: string, token: string | undefined, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1/queue/candidates${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as { candidateId: string }
  }
  const approved: string[] = []
  let isOver = false
  const approve = async () => {
    while (!isOver) {
      const candidate = { knowledgeBaseId: kb, kind: 'external-feed', title: 'Note', content: 'See [[Note]].' }
      const { candidateId } = await post('', appToken, candidate)
      await post(`/${candidateId}/approve`, curatorToken, {})
      approved.push(candidateId)
    }
  }
  const writers = Promise.all([approve(), approve(), approve()])
  const stop = async () => {
    isOver = true
    await writers
  }
  return { approved, stop }
}

test('beside a server that is written to: verify and backup, not rebuild; and what was acknowledged is restored', async () => {
  const [data, dir, restored] = [join(tempDir(), 'data'), join(tempDir(), 'backup'), join(tempDir(), 'restored')]
  const { child, line } = await serve(data, fast)
  const { approved, stop } = keepApproving(line)
  while (approved.length < 10) await delay(10)
  const acknowledged = [...approved]
  expect(await ganglionJson(['backup', dir, '--data', data])).toMatchObject({ code: 0, json: { dir, format: 2 } })
  expect(await ganglionJson(['verify', '--data', data])).toMatchObject({
    code: 0,
    json: { ok: true, kbs: [{ slug: 'demo', problems: [], notes: [] }] },
  })
  expect(await ganglion(['rebuild', '--data', data])).toMatchObject({
    code: 1,
    stderr: `error: The data directory ${data} is in use by another Ganglion process. Stop it, or choose another directory.\n`,
  })
  await stop()
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit

  expect(await ganglion(['restore', dir, '--data', restored])).toMatchObject({ code: 0, stderr: '' })
  expect(await ganglionJson(['verify', '--data', restored])).toMatchObject({ code: 0, json: { ok: true } })
  const { line: again } = await serve(restored, fast)
  for (const id of acknowledged) {
    const headers = { authorization: `Bearer ${line.curatorToken}` }
    const response = await fetch(`${again.url}/api/v1/queue/candidates/${id}`, { headers })
    expect(await response.json()).toMatchObject({ candidateId: id, status: 'approved' })
  }
})

test('verify says what is wrong, to a person and to a program, with the exit code 1', async () => {
  const data = join(tempDir(), 'data')
  const { json } = await ganglionJson(['kb', 'create', 'handbook', '--data', data, '--tenant', 'acme'])
  const { id, gitDir } = json as { id: string; gitDir: string }
  expect(await ganglion(['verify', '--data', data])).toMatchObject({ code: 0, stdout: `handbook (${id}): fine\n` })
  nativeGit(gitDir, ['pack-refs', '--all'])
  writeFileSync(join(gitDir, 'packed-refs'), '')
  const { code, stdout, stderr } = await ganglion(['verify', '--data', data, '--kb', 'handbook'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toMatch(/^handbook \(.*\): 1 problem\n {2}ref: refs\/heads\/main is gone; it was at [0-9a-f]{40}\n$/)
  expect(await ganglionJson(['verify', '--data', data, '--tenant', 'acme'])).toMatchObject({
    code: 1,
    json: {
      ok: false,
      kbs: [{ id, slug: 'handbook', problems: [{ kind: 'ref', message: expect.any(String) }], notes: [] }],
    },
  })
  expect(await ganglionJson(['verify', '--data', data, '--kb', 'atlas'])).toEqual({
    code: 1,
    json: { error: 'There is no knowledge base atlas. Known: handbook.' },
  })
})

test('a restore that is killed leaves no data directory behind, and the next one is not in its way', async () => {
  const [data, dir, target] = [join(tempDir(), 'data'), join(tempDir(), 'backup'), join(tempDir(), 'target')]
  const made = await openContext({ dataDir: data })
  for (const slug of ['a', 'b', 'c', 'd']) await createKnowledgeBase(made, { tenant: 'acme', slug })
  await backup(made, dir, { version: '1.2.3' })
  await made.close()
  const child = startNode([main, 'restore', dir, '--data', target])
  const exit = once(child, 'exit')
  while (!existsSync(join(`${target}.restoring`, 'ganglion.db'))) await delay(1)
  child.kill('SIGKILL')
  expect(await exit).toEqual([null, 'SIGKILL'])
  expect(existsSync(target)).toBe(false)

  expect(await ganglion(['restore', dir, '--data', target])).toMatchObject({ code: 0 })
  expect(existsSync(`${target}.restoring`)).toBe(false)
  expect(await ganglionJson(['rebuild', '--data', target, '--kb', 'b'])).toEqual({
    code: 0,
    json: { kbs: [{ id: expect.any(String), slug: 'b', neurons: 0, candidates: 0 }] },
  })
  expect(await ganglionJson(['verify', '--data', target])).toMatchObject({ code: 0, json: { ok: true } })
  expect(await ganglion(['restore', dir, '--data', target])).toMatchObject({
    code: 1,
    stderr: `error: ${target} is not empty. Stop the server that uses it, move it away (mv ${target} ${target}.old), and restore again.\n`,
  })
})

test('only serve and migrate bring an older database up to date, and the copy is the way back', async () => {
  const data = await dataWithTenants('acme')
  const file = join(data, 'ganglion.db')
  const latest = '9999-next'
  migrations[latest] = {
    up: async (db) => void (await sql`create table next as select * from forge_links`.execute(db)),
  }
  onTestFinished(() => void delete migrations[latest])
  const listed = () => ganglion(['key', 'list', '--data', data])
  const refusal = { code: 1, stderr: expect.stringMatching(new RegExp(`This data directory is older.*${latest}`)) }
  expect(await listed()).toMatchObject(refusal)
  const copy = `${file}.before-${latest}`
  const rename = (from: string, to: string) => new DatabaseSync(file).exec(`alter table ${from} rename to ${to}`)
  rename('forge_links', 'elsewhere')
  expect(await ganglion(['migrate', '--data', data])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(`${file} could not be migrated, and is unchanged: .*forge_links\n.* kept: ${copy}`),
  })
  rename('elsewhere', 'forge_links')
  expect(await listed()).toMatchObject(refusal)
  const { stdout } = await ganglion(['migrate', '--data', data])
  expect(stdout.split('\n')).toEqual([
    `${file} is of an older version. A copy of it is kept: ${copy}`,
    `${file}: migrating to ${latest}`,
    '',
  ])
  expect(await listed()).toMatchObject({ code: 0 })
  expect(statSync(copy).mode & 0o777).toBe(0o600)

  for (const ending of ['-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
  renameSync(copy, file)
  expect(await listed()).toMatchObject(refusal)
})

test('backup --check compares every file with its checksum, and needs no data directory', async () => {
  const data = await dataWithTenants('acme')
  await ganglion(['kb', 'create', 'handbook', '--tenant', 'acme', '--data', data])
  const dir = join(tempDir(), 'copy')
  expect(await ganglion(['backup', dir, '--data', data])).toMatchObject({ code: 0 })
  const check = () => ganglion(['backup', '--check', dir, '--data', join(tempDir(), 'nowhere')])
  expect(await check()).toMatchObject({ code: 0, stdout: '2 files: all as they were written\n' })
  const file = join(dir, 'ganglion.db')
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(file, bytes)
  expect(await check()).toMatchObject({ code: 1, stdout: 'ganglion.db is not what was written\n' })
})
