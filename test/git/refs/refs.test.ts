import { spawn } from 'node:child_process'
import { existsSync, linkSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { clearAbandonedLocks, readRef, updateRef } from '../../../src/git/refs/refs.ts'
import { Repository } from '../../../src/git/repository.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

const main = 'refs/heads/main'

async function repositoryWithCommits(count: number): Promise<{ dir: string; oids: string[] }> {
  const repository = await Repository.init(join(tempDir(), 'kb.git'))
  repository.close()
  const dir = repository.gitDir
  const tree = nativeGit(dir, ['mktree'], '')
  const oids = Array.from({ length: count }, (_, n) => nativeGit(dir, ['commit-tree', '-m', `${n}`, tree]))
  return { dir, oids }
}

function leftovers(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => /lock/.test(name))
}

test('a ref moves only from what it was said to hold', async () => {
  const { dir, oids } = await repositoryWithCommits(3)
  const [a = '', b = '', c = ''] = oids
  expect(await updateRef(dir, main, undefined, a)).toBe(true)
  expect(await updateRef(dir, main, undefined, b)).toBe(false)
  expect(await updateRef(dir, main, b, c)).toBe(false)
  expect(await readRef(dir, main)).toBe(a)
  expect(await updateRef(dir, main, a, b)).toBe(true)
  expect(nativeGit(dir, ['rev-parse', main])).toBe(b)
  expect(leftovers(dir)).toEqual([])
})

test('a packed ref is read, compared and moved', async () => {
  const { dir, oids } = await repositoryWithCommits(3)
  const [a = '', b = '', c = ''] = oids
  await updateRef(dir, main, undefined, a)
  await updateRef(dir, 'refs/ganglion/queue', undefined, c)
  nativeGit(dir, ['pack-refs', '--all', '--prune'])
  expect(existsSync(join(dir, main))).toBe(false)
  expect(await readRef(dir, main)).toBe(a)
  expect(await readRef(dir, 'refs/ganglion/queue')).toBe(c)
  expect(await updateRef(dir, main, b, c)).toBe(false)
  expect(await updateRef(dir, main, a, b)).toBe(true)
  expect(nativeGit(dir, ['rev-parse', main])).toBe(b)
})

test('while we hold the lock native git cannot move the ref, and we wait while it holds it', async () => {
  const { dir, oids } = await repositoryWithCommits(3)
  const [a = '', b = '', c = ''] = oids
  await updateRef(dir, main, undefined, a)
  const native = spawn('git', ['update-ref', '--stdin'], { cwd: dir })
  native.stdin.write(`start\nupdate ${main} ${b} ${a}\nprepare\n`)
  await new Promise<void>((resolve) => {
    native.stdout.on('data', (data: Buffer) => data.includes('prepare: ok') && resolve())
  })
  const ours = updateRef(dir, main, a, c)
  setTimeout(() => native.stdin.end('commit\n'), 100)
  expect(await ours).toBe(false)
  expect(await readRef(dir, main)).toBe(b)
})

test('of many writers at once, native and ours, each success is one step of one history', async () => {
  const { dir, oids } = await repositoryWithCommits(40)
  const [first = '', ...rest] = oids
  await updateRef(dir, main, undefined, first)
  const results = await Promise.all(rest.map((oid) => updateRef(dir, main, first, oid)))
  expect(results.filter(Boolean)).toHaveLength(1)
  expect(await readRef(dir, main)).toBe(rest[results.indexOf(true)])
})

test('a lock whose writer has crashed is taken over at once when it was ours, and by age when it was not', async () => {
  const { dir, oids } = await repositoryWithCommits(3)
  const [a = '', b = '', c = ''] = oids
  await updateRef(dir, main, undefined, a)
  const lock = join(dir, `${main}.lock`)
  const dead = join(dir, 'ganglion-lock.4194999.abc')
  writeFileSync(dead, `${b}\n`)
  linkSync(dead, lock)
  const clock = vi.spyOn(Date, 'now').mockReturnValue(statSync(lock).mtimeMs) // it never gets old
  expect(await updateRef(dir, main, a, b)).toBe(true)
  clock.mockRestore()

  writeFileSync(lock, '')
  utimesSync(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000))
  expect(await updateRef(dir, main, b, c)).toBe(true)

  linkSync(dead, lock)
  await clearAbandonedLocks(dir, [main])
  expect(leftovers(dir)).toEqual([])
})

test('a live lock of another writer is respected', async () => {
  const { dir, oids } = await repositoryWithCommits(2)
  const [a = '', b = ''] = oids
  await updateRef(dir, main, undefined, a)
  writeFileSync(join(dir, `${main}.lock`), '')
  await clearAbandonedLocks(dir, [main])
  const update = updateRef(dir, main, a, b)
  const first = await Promise.race([update, new Promise((resolve) => setTimeout(resolve, 300, 'waiting'))])
  expect(first).toBe('waiting')
  nativeGit(dir, ['rev-parse', main])
  const { unlinkSync } = await import('node:fs')
  unlinkSync(join(dir, `${main}.lock`))
  expect(await update).toBe(true)
})
