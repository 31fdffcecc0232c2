import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DataDirectory } from '../../../src/state/directory/data-directory.ts'
import { acquireLock, DataDirectoryInUse, isLocked } from '../../../src/state/directory/directory-lock.ts'
import { startNode } from '../../support/process.ts'
import { tempDir } from '../../support/temp.ts'

/** A process that holds the lock until it is told to end. */
async function holder(root: string) {
  const module = (name: string) => JSON.stringify(new URL(`../../../src/state/${name}`, import.meta.url).href)
  const child = startNode([
    '--input-type=module',
    '-e',
    `const { DataDirectory } = await import(${module('directory/data-directory.ts')})
     const { acquireLock } = await import(${module('directory/directory-lock.ts')})
     const release = await acquireLock(DataDirectory.open(process.argv[1]), { waitMs: 0 })
     process.stdin.once('data', () => { release(); process.exit() })
     console.log('held')`,
    root,
  ])
  if (child.stdout === null) throw new Error('no output')
  await once(child.stdout, 'data')
  return child
}

test('the lock is held until it is released', async () => {
  const directory = DataDirectory.open(tempDir())
  expect(isLocked(directory)).toBe(false)
  expect(existsSync(directory.lock)).toBe(false)
  const release = await acquireLock(directory, { waitMs: 0 })
  expect(isLocked(directory)).toBe(true)
  await expect(acquireLock(directory, { waitMs: 0 })).rejects.toThrow(DataDirectoryInUse)
  release()
  expect(isLocked(directory)).toBe(false)
  const again = await acquireLock(directory, { waitMs: 0 })
  again()
})

test('a second process is refused with a clear message', async () => {
  const directory = DataDirectory.open(tempDir())
  await holder(directory.root)
  expect(isLocked(directory)).toBe(true)
  await expect(acquireLock(directory, { waitMs: 50 })).rejects.toThrow(
    `The data directory ${directory.root} is in use by another Ganglion process.`,
  )
})

test('the lock of a killed process is free', async () => {
  const directory = DataDirectory.open(tempDir())
  const child = await holder(directory.root)
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  expect(isLocked(directory)).toBe(false)
  const release = await acquireLock(directory, { waitMs: 0 })
  release()
})

test('who waits gets the lock when its holder leaves', async () => {
  const directory = DataDirectory.open(tempDir())
  const child = await holder(directory.root)
  const waiting = acquireLock(directory, { waitMs: 10_000 })
  child.stdin?.write('leave')
  const release = await waiting
  expect(isLocked(directory)).toBe(true)
  release()
})
