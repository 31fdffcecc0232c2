import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Projection } from '../../src/kb/projection/projection.ts'
import { tempDir } from '../support/temp.ts'

test('a snapshot stays as it was when it was first read, whatever is written meanwhile', async () => {
  const projection = new Projection(join(tempDir(), 'knowledge.db'))
  onTestFinished(() => projection.close())
  const setMain = async (oid: string) => {
    await projection.begin()
    projection.setHead('main', oid)
    projection.commit()
  }
  await setMain('a')
  await projection.withSnapshot(async (sql) => {
    expect(projection.heads(sql).main).toBe('a')
    await setMain('b')
    expect([projection.heads(sql).main, projection.heads(projection.read).main]).toEqual(['a', 'b'])
  })
  await projection.withSnapshot(async (sql) => expect(projection.heads(sql).main).toBe('b'))
})

test('a file is checked as a whole, unless it is as it was closed in order', () => {
  const file = join(tempDir(), 'knowledge.db')
  const prepared = vi.spyOn(DatabaseSync.prototype, 'prepare')
  onTestFinished(() => prepared.mockRestore())
  const open = () => {
    prepared.mockClear()
    const projection = new Projection(file)
    return { projection, isChecked: prepared.mock.calls.some(([sql]) => sql.startsWith('PRAGMA quick_check')) }
  }
  open().projection.close()
  const closed = open()
  expect(closed.isChecked).toBe(false)
  const beside = open()
  expect(beside.isChecked).toBe(true)
  for (const { projection } of [beside, closed]) projection.close()
  utimesSync(file, 1, 1)
  const changed = open()
  expect(changed.isChecked).toBe(true)
  changed.projection.close()
})
