import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ganglion, ganglionJson } from '../../cli/support.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'

test('the command line works on the database of the environment, and says what it does not do there', async () => {
  const env = { GANGLION_DATABASE: await newDatabase(), GANGLION_DATA: join(tempDir(), 'data') }
  expect(await ganglionJson(['kb', 'create', 'handbook', '--tenant', 'acme'], env)).toMatchObject({ code: 0 })
  const elsewhere = { ...env, GANGLION_DATA: join(tempDir(), 'another') }
  expect(await ganglionJson(['kb', 'list'], elsewhere)).toMatchObject({
    code: 0,
    json: { knowledgeBases: [{ slug: 'handbook' }] },
  })
  expect(await ganglionJson(['verify'], env)).toMatchObject({ code: 0, json: { ok: true } })
  expect((await ganglion(['backup', join(tempDir(), 'backup')], env)).stderr).toContain('pg_dump')
  expect((await ganglion(['restore', tempDir()], env)).stderr).toContain('unset GANGLION_DATABASE')
})
