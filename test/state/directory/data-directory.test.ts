import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DataDirectory } from '../../../src/state/directory/data-directory.ts'
import { tempDir } from '../../support/temp.ts'

test('the folders are made for their owner only, wherever they stand', () => {
  const root = join(tempDir(), 'deep', 'data')
  const directory = DataDirectory.open(root)
  for (const path of [root, ...['repos', 'index', 'blobs', 'tmp'].map((name) => join(root, name))]) {
    expect(statSync(path).isDirectory()).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o700)
  }
  expect(directory).toMatchObject({ root, database: join(root, 'ganglion.db'), lock: join(root, 'lock') })
  expect(directory.repository('0199')).toBe(join(root, 'repos', '0199.git'))
  expect(directory.index('0199')).toBe(join(root, 'index', '0199'))
})

test('a folder that is there stays as it is', () => {
  const root = tempDir()
  chmodSync(root, 0o750)
  DataDirectory.open(root)
  DataDirectory.open(root)
  expect(statSync(root).mode & 0o777).toBe(0o750)
})

test.skipIf(process.getuid?.() !== 0)('root leaves nothing in the data directory of another user', () => {
  const root = tempDir()
  chownSync(root, 12345, 12345)
  expect(() => DataDirectory.open(root)).toThrow(
    /belongs to the user 12345.*runuser -u "\$\(id -nu 12345\)" -- ganglion/,
  )
  expect(readdirSync(root)).toEqual([])
})
