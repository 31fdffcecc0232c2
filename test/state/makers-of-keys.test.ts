import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { ApiKeys } from '../../src/state/accounts/api-keys.ts'
import { migrations } from '../../src/state/database/migrations/migrations.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { at, testDatabase } from './support.ts'

/** A database as 0.1.0 left it: keys without a maker, and the audit log. */
async function oldKeys() {
  const database = await testDatabase()
  const { db } = database
  const keys = new ApiKeys(database)
  const [acme, other] = [
    await new Tenants(db).ensure('acme', at('09:00')),
    await new Tenants(db).ensure('other', at('09:00')),
  ]
  for (const [id, name] of [
    ['ada', 'Ada'],
    ['bob', 'Bob'],
    ['ada-2', 'Ada'],
  ])
    await sql`insert into users (id, email, name, created_at) values (${id}, ${id}, ${name}, '')`.execute(db)
  const keyOf = async (name: string, createdBy?: string, tenantId = acme.id) => {
    const record = { tenantId, name, role: 'app' as const, connectors: [], expiresAt: null }
    return (await keys.create({ ...record, ...(createdBy === undefined ? {} : { createdBy }) }, at('10:00'))).key.id
  }
  const log = (actorId: string, actorName: string, subject: string, action = 'key.created', tenantId = acme.id) =>
    sql`insert into audit (tenant_id, at, actor_id, actor_name, action, subject, detail)
      values (${tenantId}, '', ${actorId}, ${actorName}, ${action}, ${subject}, 'app')`.execute(db)
  const migrate = () => migrations['0035-makers-of-keys']?.up(db)
  const makerOf = async (id: string) => (await keys.find(id))?.userId
  return { db, keys, keyOf, log, migrate, makerOf, other }
}

test('an old key counts as the one person who made it by the audit log', async () => {
  const { keyOf, log, migrate, makerOf, keys } = await oldKeys()
  const [bot, again] = [await keyOf('bot', 'Ada'), await keyOf('bot', 'Ada')]
  await log('user:ada', 'Ada', 'bot')
  await log('user:ada', 'Ada', 'bot')
  await log('user:bob', 'Bob', 'bot', 'key.revoked')
  await migrate()
  expect([await makerOf(bot), await makerOf(again)]).toEqual(['ada', 'ada'])
  const idsOf = (userId: string) => keys.idsOf(userId, keysTenant)
  const keysTenant = (await keys.find(bot))?.tenantId ?? ''
  expect((await idsOf('ada')).sort()).toEqual([bot, again].sort())
  await migrate()
  expect(await makerOf(bot)).toBe('ada')
})

test('an old key that several people may have made, or nobody who is known, stays one of its own', async () => {
  const { db, keyOf, log, migrate, makerOf, other } = await oldKeys()
  const ids = {
    'two of one name': await keyOf('twin', 'Ada'),
    'made by the operator': await keyOf('cli'),
    'of a name that another person has': await keyOf('site', 'Ada'),
    'of another tenant': await keyOf('bot', 'Ada', other.id),
    'made by somebody who is gone': await keyOf('gone', 'Eva'),
  }
  await log('user:ada', 'Ada', 'twin')
  await log('user:ada-2', 'Ada', 'twin')
  await log('operator', 'The operator', 'cli')
  await log('user:bob', 'Bob', 'site')
  await log('user:ada', 'Ada', 'bot')
  await log('user:eva', 'Eva', 'gone')
  const mine = await keyOf('known', 'Ada')
  await log('user:ada', 'Ada', 'known')
  await sql`update api_keys set user_id = 'bob' where id = ${mine}`.execute(db)
  await migrate()
  for (const [what, id] of Object.entries(ids)) expect([what, await makerOf(id)]).toEqual([what, null])
  expect(await makerOf(mine)).toBe('bob')
})

test('secrets of old clients become hashes, and the seed of cookies goes', async () => {
  const { db } = await oldKeys()
  const rows: [string, string, object][] = [
    ['Client', 'one', { client_id: 'one', client_secret: 'in clear' }],
    ['Client', 'two', { client_id: 'two' }],
    ['Seed', 'seed', { keys: ['in clear'] }],
    ['Grant', 'grant', { client_secret: 'of no client' }],
  ]
  for (const [model, hash, payload] of rows)
    await sql`insert into oauth_records (model, hash, payload) values (${model}, ${hash}, ${JSON.stringify(payload)})`.execute(
      db,
    )
  await migrations['0036-hashes-of-client-secrets']?.up(db)
  const kept = await sql<{
    hash: string
    payload: string
  }>`select hash, payload from oauth_records order by hash`.execute(db)
  expect(kept.rows.map(({ hash, payload }) => [hash, JSON.parse(payload)])).toEqual([
    ['grant', { client_secret: 'of no client' }],
    ['one', { client_id: 'one', client_secret: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) }],
    ['two', { client_id: 'two' }],
  ])
})
