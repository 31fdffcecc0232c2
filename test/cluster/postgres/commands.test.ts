import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ganglion, ganglionJson } from '../../cli/support.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { ownServer } from '../support/nodes.ts'

test('the command line works on the database of the environment', async () => {
  const env = { GANGLION_DATABASE: await newDatabase(), GANGLION_DATA: join(tempDir(), 'data') }
  expect(await ganglionJson(['kb', 'create', 'handbook', '--tenant', 'acme'], env)).toMatchObject({ code: 0 })
  const elsewhere = { ...env, GANGLION_DATA: join(tempDir(), 'another') }
  // Its repositories are not there, so that a backup would have none.
  const refused = { code: 1, json: { error: expect.stringContaining('There is no data directory') } }
  expect(await ganglionJson(['kb', 'list'], elsewhere)).toMatchObject(refused)
  expect(await ganglionJson(['kb', 'list'], env)).toMatchObject({
    code: 0,
    json: { knowledgeBases: [{ slug: 'handbook' }] },
  })
  expect(await ganglionJson(['verify'], env)).toMatchObject({ code: 0, json: { ok: true } })
  const backup = join(tempDir(), 'backup')
  expect(
    await ganglionJson(['key', 'create', '--tenant', 'acme', '--role', 'reader', '--name', 'site'], env),
  ).toMatchObject({ code: 0 })
  expect(await ganglionJson(['backup', backup], env)).toMatchObject({ code: 0 })
  const restored = { GANGLION_DATA: join(tempDir(), 'restored') }
  expect(await ganglionJson(['restore', backup], restored)).toMatchObject({ code: 0 })
  expect(await ganglionJson(['verify'], restored)).toMatchObject({ code: 0, json: { ok: true } })
  expect(await ganglionJson(['key', 'list'], restored)).toEqual(await ganglionJson(['key', 'list'], env))
  const again = { GANGLION_DATABASE: await newDatabase(), GANGLION_DATA: join(tempDir(), 'again') }
  expect(await ganglionJson(['restore', backup], again)).toMatchObject({ code: 0 })
  expect(await ganglionJson(['key', 'list'], again)).toEqual(await ganglionJson(['key', 'list'], env))
  expect(await ganglion(['restore', backup], again)).toMatchObject({
    code: 1,
    stderr: 'error: The database is not empty: restore into a new one.\n',
  })
})

test('a command without the address of the database refuses the data directory of a server on PostgreSQL, and one on an empty database', async () => {
  const [data, address] = [join(tempDir(), 'data'), await newDatabase()]
  const other = (await ownServer()).address('ganglion')
  const created = ['kb', 'create', 'handbook', '--tenant', 'acme', '--data', data]
  expect(await ganglion(created, { GANGLION_DATABASE: address })).toMatchObject({ code: 0 })
  const backup = ['backup', join(tempDir(), 'copy'), '--data', data]
  expect(await ganglion(backup)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('GANGLION_DATABASE is not set'),
  })
  const onOther = await ganglion(backup, { GANGLION_DATABASE: other })
  expect(onOther).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no Ganglion') })
  expect(await ganglion(backup, { GANGLION_DATABASE: address })).toMatchObject({ code: 0 })
})
