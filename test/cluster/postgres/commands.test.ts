import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { beginToServe, ganglion, ganglionJson, ganglionProcess, serve } from '../../cli/support.ts'
import { end } from '../../faults/support/deployment.ts'
import { newDatabase } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { ownServer } from '../support/nodes.ts'

test('the command line works on the database of the environment', async () => {
  const env = { GANGLION_DATABASE: await newDatabase(), GANGLION_DATA: join(tempDir(), 'data') }
  expect(await ganglionJson(['kb', 'create', 'handbook', '--tenant', 'acme'], env)).toMatchObject({ code: 0 })
  const elsewhere = { ...env, GANGLION_DATA: join(tempDir(), 'another') }
  // The folder has no repositories, so a backup would have none.
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

test('a server and commands refuse a data directory with the repository of no knowledge base that PostgreSQL knows', async () => {
  const env = { GANGLION_DATABASE: await newDatabase(), GANGLION_DATA: join(tempDir(), 'data'), GANGLION_PORT: '0' }
  const first = await serve(env.GANGLION_DATA, env)
  // It began when there was nothing yet, and has no repositories either.
  const other = { ...env, GANGLION_DATA: join(tempDir(), 'other') }
  for (const args of [
    ['serve'],
    ['verify'],
    ['backup', join(tempDir(), 'copy')],
    ['kb', 'create', 'handbook', '--tenant', 'acme'],
  ]) {
    const refused = await ganglionProcess(args, other)
    expect([args, refused.code, refused.stdout]).toEqual([args, 1, ''])
    expect(refused.stderr).toMatch(
      /has knowledge bases \(1\), and .*other\/repos has the repository of none of them.*another server.*--data/,
    )
  }
  expect(readdirSync(other.GANGLION_DATA)).not.toContain('rows-in-postgresql')
  expect(await ganglionJson(['kb', 'list'], env)).toMatchObject({
    code: 0,
    json: { knowledgeBases: [{ slug: 'demo' }] },
  })
  await end(first.child, 'SIGTERM')
})

test('of two servers that begin at once on an empty PostgreSQL database without a bucket, one serves and one says why not', async () => {
  const [database, folder] = [await newDatabase(), tempDir()]
  const starts = await Promise.all(
    ['a', 'b'].map((name) => beginToServe(join(folder, name), { GANGLION_DATABASE: database, GANGLION_PORT: '0' })),
  )
  const lines = starts
    .map(({ line }) => line)
    .toSorted((one, other) => Number('error' in one) - Number('error' in other))
  expect(lines).toEqual([
    expect.objectContaining({ kb: 'demo' }),
    { error: expect.stringContaining('in the data directory of another server') },
  ])
  await Promise.all(starts.map(({ child }) => end(child, 'SIGTERM')))
})

test('a server tells of each repository that is missing beside others, and serves these', async () => {
  const env = { GANGLION_DATABASE: await newDatabase(), GANGLION_DATA: join(tempDir(), 'data'), GANGLION_PORT: '0' }
  const create = (slug: string) => ganglionJson(['kb', 'create', slug, '--tenant', 'acme'], env)
  const [kept, lost] = [Object((await create('kept')).json), Object((await create('lost')).json)]
  expect(kept.gitDir).toContain(kept.id)
  rmSync(lost.gitDir, { recursive: true })
  const { child, log } = await serve(env.GANGLION_DATA, env)
  expect(log.join('')).toContain(`The repository of lost is missing: ${lost.gitDir}`)
  expect(log.join('')).not.toContain('The repository of kept')
  await end(child, 'SIGTERM')
})
