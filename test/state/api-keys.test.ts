import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ApiKeys } from '../../src/state/accounts/api-keys.ts'
import { createToken } from '../../src/state/accounts/secret.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { eventually } from '../support/eventually.ts'
import { tempDir } from '../support/temp.ts'
import { at, testDatabase } from './support.ts'

async function acme() {
  const database = await testDatabase()
  const { db } = database
  const tenant = await new Tenants(db).ensure('acme', at('09:00'))
  const newKey = { tenantId: tenant.id, name: 'site', role: 'app' as const, connectors: ['site-chat'], expiresAt: null }
  return { database, db, keys: new ApiKeys(database), tenant, newKey }
}

test('a key is known by its token, with what it was made with', async () => {
  const { keys, newKey, tenant } = await acme()
  const { key, token } = await keys.create({ ...newKey, expiresAt: at('12:00') }, at('10:00'))
  expect(key).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    tenantId: tenant.id,
    name: 'site',
    role: 'app',
    connectors: ['site-chat'],
    createdAt: '2026-03-01T10:00:00.000Z',
    expiresAt: '2026-03-01T12:00:00.000Z',
    revokedAt: null,
    lastUsedAt: null,
    createdBy: null,
    git: 'shown',
    limits: null,
    userId: null,
    audience: null,
    isAgent: false,
    isAdmin: false,
    makerId: null,
  })
  expect(await keys.authenticate(token, at('11:00'))).toEqual({ ...key, isTenantDisabled: false })
})

test('the token itself is stored nowhere', async () => {
  const { db, keys, newKey } = await acme()
  const { token } = await keys.create(newKey, at('10:00'))
  const row = await db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
  expect(JSON.stringify(row)).not.toContain(token.slice(4, 20))
})

test('unknown and malformed tokens are nobody', async () => {
  const { keys, newKey } = await acme()
  const { token } = await keys.create(newKey, at('10:00'))
  for (const wrong of [createToken(), '', token.toLowerCase(), `${token} `, token.slice(0, -1)]) {
    expect(await keys.authenticate(wrong, at('10:00'))).toBeUndefined()
  }
})

test('a malformed token is refused without a look-up', async () => {
  const { db, keys } = await acme()
  await db.destroy()
  expect(await keys.authenticate('gng_wrong', at('10:00'))).toBeUndefined()
  await expect(keys.authenticate(createToken(), at('10:00'))).rejects.toThrow()
})

test('a key ends at the instant of its expiry', async () => {
  const { keys, newKey } = await acme()
  const { token } = await keys.create({ ...newKey, expiresAt: at('12:00') }, at('10:00'))
  expect(await keys.authenticate(token, at('11:59:59.999'))).toBeDefined()
  expect(await keys.authenticate(token, at('12:00'))).toBeUndefined()
})

test('a revoked key is refused at once, and keeps the time of its first revocation', async () => {
  const { keys, newKey, tenant } = await acme()
  const { key, token } = await keys.create(newKey, at('10:00'))
  expect(await keys.revoke(key.id, at('11:00'), 'another tenant')).toBeUndefined()
  expect(await keys.revoke(key.id, at('11:00'), tenant.id)).toMatchObject({ name: 'site' })
  expect(await keys.authenticate(token, at('11:00'))).toBeUndefined()
  expect(await keys.revoke(key.id, at('12:00'), tenant.id)).toMatchObject({ id: key.id })
  expect(await keys.list()).toMatchObject([{ id: key.id, revokedAt: '2026-03-01T11:00:00.000Z' }])
  expect(await keys.revoke('nothing', at('12:00'), tenant.id)).toBeUndefined()
})

test('a key that another process revokes or makes is seen at once', async () => {
  const file = join(tempDir(), 'ganglion.db')
  const [own, other] = [await testDatabase(file), await testDatabase(file)]
  const { id: tenantId } = await new Tenants(own.db).ensure('acme', at('09:00'))
  const [keys, theirs] = [new ApiKeys(own), new ApiKeys(other)]
  const newKey = { tenantId, name: 'site', role: 'app' as const, connectors: [], expiresAt: null }
  const { key, token } = await theirs.create(newKey, at('10:00'))
  expect(await keys.authenticate(token, at('10:00'))).toMatchObject({ id: key.id })
  await theirs.revoke(key.id, at('10:00'), tenantId)
  expect(await keys.authenticate(token, at('10:00'))).toBeUndefined()
})

test('a key that is known expires', async () => {
  const { keys, newKey } = await acme()
  const { token } = await keys.create({ ...newKey, expiresAt: at('12:00') }, at('10:00'))
  expect(await keys.authenticate(token, at('11:59'))).toBeDefined()
  expect(await keys.authenticate(token, at('12:00'))).toBeUndefined()
})

test('keys are listed oldest first, of one tenant or of all', async () => {
  const { db, keys, newKey } = await acme()
  const other = await new Tenants(db).ensure('umbrella', at('09:00'))
  const first = await keys.create(newKey, at('10:00'))
  const second = await keys.create({ ...newKey, tenantId: other.id }, at('10:00'))
  expect(await keys.list()).toEqual([first.key, second.key])
  expect(await keys.list(other.id)).toEqual([second.key])
})

test('last use is recorded once a minute, across restarts too', async () => {
  const { database, keys, newKey } = await acme()
  const { token } = await keys.create(newKey, at('10:00'))
  const lastUse = async () => (await keys.list())[0]?.lastUsedAt
  await keys.authenticate(token, at('10:00:00'))
  await eventually(async () => expect(await lastUse()).toBe('2026-03-01T10:00:00.000Z'))

  const restarted = new ApiKeys(database)
  for (const instance of [keys, restarted]) {
    await instance.authenticate(token, at('10:00:59'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await lastUse()).toBe('2026-03-01T10:00:00.000Z')
  }

  await keys.authenticate(token, at('10:01:00'))
  await eventually(async () => expect(await lastUse()).toBe('2026-03-01T10:01:00.000Z'))
})

test('a database that closes while a use waits to be recorded harms nobody', async () => {
  const { db, keys, newKey } = await acme()
  const { token } = await keys.create(newKey, at('10:00'))
  expect(await keys.authenticate(token, at('10:00'))).toBeDefined()
  await db.destroy()
  await new Promise((resolve) => setTimeout(resolve, 20))
})
