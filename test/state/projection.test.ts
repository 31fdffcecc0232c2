import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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
