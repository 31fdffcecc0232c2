import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ganglion } from '../../cli/support.ts'
import { tempDir } from '../../support/temp.ts'

const commands = [
  ['backup', 'copy'],
  ...[
    ['kb', 'list'],
    ['key', 'list'],
    ['tenant', 'list'],
    ['user', 'list'],
    ['webhook', 'list'],
    ['verify'],
    ['rebuild'],
    ['migrate'],
    ['lint'],
  ],
  ['erase', '--resume'],
  ['key', 'create', '--tenant', 'acme', '--role', 'app'],
]

test.each(commands)('%s %s refuses a path without a data directory, and creates nothing there', async (...args) => {
  const nowhere = join(tempDir(), 'nowhere')
  const missing = await ganglion([...args, '--data', nowhere])
  expect([missing.code, missing.stdout]).toEqual([1, ''])
  expect(missing.stderr).toMatch(/no data directory/)
  expect(existsSync(nowhere)).toBe(false)

  const empty = join(tempDir(), 'empty')
  mkdirSync(empty)
  const refused = await ganglion([...args, '--data', empty])
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/is no data directory: it has no ganglion\.db/),
  ])
  expect(readdirSync(empty)).toEqual([])
})

test.each([...commands, ['kb', 'create', 'handbook', '--tenant', 'acme'], ['serve', '--port', '0']])(
  '%s %s refuses a directory whose rows are in PostgreSQL, and says where',
  async (...args) => {
    const data = tempDir()
    writeFileSync(join(data, 'rows-in-postgresql'), 'postgres://ganglion@db.example/ganglion\n')
    const refused = await ganglion([...args, '--data', data])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /rows of .* are in the PostgreSQL database postgres:\/\/ganglion@db\.example\/ganglion.*GANGLION_DATABASE/,
      ),
    ])
    expect(existsSync(join(data, 'ganglion.db'))).toBe(false)
  },
)

test.each([...commands, ['serve', '--port', '0']])(
  '%s %s refuses PostgreSQL for a directory whose rows are in a file, and marks nothing',
  async (...args) => {
    const data = tempDir()
    writeFileSync(join(data, 'ganglion.db'), '')
    const database = 'postgres://ganglion@127.0.0.1:1/ganglion'
    const refused = await ganglion([...args, '--data', data], { GANGLION_DATABASE: database })
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^error: The rows of .* are in its ganglion\.db, but GANGLION_DATABASE is set/),
    ])
    expect(readdirSync(data)).not.toContain('rows-in-postgresql')
  },
)

test.each(commands)(
  '%s %s refuses a path without repositories although the rows are in PostgreSQL, and creates nothing there',
  async (...args) => {
    const nowhere = join(tempDir(), 'nowhere')
    const database = 'postgres://ganglion@127.0.0.1:1/ganglion'
    const missing = await ganglion([...args, '--data', nowhere], { GANGLION_DATABASE: database })
    expect([missing.code, missing.stdout]).toEqual([1, ''])
    expect(missing.stderr).toMatch(/no data directory/)
    expect(existsSync(nowhere)).toBe(false)
  },
)
