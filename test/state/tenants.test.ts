import { expect, test } from 'vitest'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { SlugTaken } from '../../src/state/lifecycle.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { at, testDatabase } from './support.ts'

const handbookId = '0199a5c2-0000-7000-8000-000000000001'
const otherId = '0199a5c2-0000-7000-8000-000000000002'

async function twoTenants() {
  const { db } = await testDatabase()
  const tenants = new Tenants(db)
  return {
    tenants,
    knowledgeBases: new KnowledgeBases(db),
    acme: await tenants.ensure('acme', at('10:00')),
    umbrella: await tenants.ensure('umbrella', at('10:00')),
  }
}

test('a tenant is made once and found by slug and id', async () => {
  const { tenants, acme, umbrella } = await twoTenants()
  expect(acme).toMatchObject({ slug: 'acme', createdAt: '2026-03-01T10:00:00.000Z' })
  expect(acme.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  expect(await tenants.ensure('acme', at('11:00'))).toEqual(acme)
  expect(await tenants.find('acme')).toEqual(acme)
  expect(await tenants.get(umbrella.id)).toEqual(umbrella)
  expect(await tenants.find('nobody')).toBeUndefined()
  expect(await tenants.list()).toEqual([acme, umbrella])
})

test('a knowledge base is found by slug and id, by its own tenant only', async () => {
  const { knowledgeBases, acme, umbrella } = await twoTenants()
  const handbook = await knowledgeBases.create(
    { id: handbookId, tenantId: acme.id, slug: 'handbook', prefix: 'hb' },
    at('10:00'),
  )
  expect(handbook).toEqual({
    id: handbookId,
    tenantId: acme.id,
    slug: 'handbook',
    prefix: 'hb',
    createdAt: '2026-03-01T10:00:00.000Z',
    formerSlugs: [],
    disabledAt: null,
  })
  expect(await knowledgeBases.find(acme.id, 'handbook')).toEqual(handbook)
  expect(await knowledgeBases.find(acme.id, handbookId)).toEqual(handbook)
  expect(await knowledgeBases.find(umbrella.id, 'handbook')).toBeUndefined()
  expect(await knowledgeBases.find(umbrella.id, handbookId)).toBeUndefined()
})

test('of two that delete a knowledge base at once, one does', async () => {
  const { knowledgeBases, acme } = await twoTenants()
  await knowledgeBases.create({ id: handbookId, tenantId: acme.id, slug: 'handbook', prefix: 'hb' }, at('10:00'))
  const twice = [1, 2].map(() => knowledgeBases.setDeleted({ id: handbookId }, at('11:00')))
  expect((await Promise.all(twice)).sort()).toEqual([false, true])
})

test.each(['A', 'é', 'a%2Fb', 'a\0b', '..%2f', "' or 1=1 --", 'handbook\0', 'HANDBOOK', ''])(
  'nothing is found under %j',
  async (slug) => {
    const { knowledgeBases, acme } = await twoTenants()
    await knowledgeBases.create({ id: handbookId, tenantId: acme.id, slug: 'handbook', prefix: 'hb' }, at('10:00'))
    expect(await knowledgeBases.find(acme.id, slug)).toBeUndefined()
  },
)

test('a slug is taken within its tenant, free in another', async () => {
  const { knowledgeBases, acme, umbrella } = await twoTenants()
  const first = { id: handbookId, tenantId: acme.id, slug: 'handbook', prefix: 'hb' }
  await knowledgeBases.create(first, at('10:00'))
  await expect(knowledgeBases.create({ ...first, id: otherId }, at('10:00'))).rejects.toThrow(SlugTaken)
  const second = await knowledgeBases.create({ ...first, id: otherId, tenantId: umbrella.id }, at('11:00'))
  expect(await knowledgeBases.list()).toHaveLength(2)
  expect(await knowledgeBases.list(umbrella.id)).toEqual([second])
})

test('every name that a knowledge base had stays its own, whoever renames it at once', async () => {
  const { knowledgeBases, acme } = await twoTenants()
  const handbook = { id: handbookId, tenantId: acme.id, slug: 'handbook', prefix: 'hb' }
  const found = await knowledgeBases.create(handbook, at('10:00'))
  await Promise.all(['guide', 'rules'].map((slug) => knowledgeBases.rename(found, slug)))
  for (const slug of ['handbook', 'guide', 'rules']) {
    expect(await knowledgeBases.find(acme.id, slug)).toMatchObject({ id: handbookId })
    await expect(knowledgeBases.create({ ...handbook, id: otherId, slug }, at('10:00'))).rejects.toThrow(SlugTaken)
  }
  await knowledgeBases.setDeleted(found, at('11:00'))
  await expect(knowledgeBases.rename(found, 'late')).rejects.toMatchObject({ code: 'not_found' })
})

test('a quota of knowledge bases holds for those that are made at once, and a disabled tenant gets none', async () => {
  const { tenants, knowledgeBases, acme } = await twoTenants()
  await tenants.setQuotas(acme, { knowledgeBases: 1, sourceBytes: null })
  const make = (id: string, slug: string) =>
    knowledgeBases.create({ id, tenantId: acme.id, slug, prefix: 'hb' }, at('10:00'))
  const made = await Promise.allSettled([make(handbookId, 'one'), make(otherId, 'two')])
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await tenants.setQuotas(acme, { knowledgeBases: null, sourceBytes: null })
  await tenants.setDisabled(acme, at('11:00'))
  await expect(make(otherId, 'three')).rejects.toMatchObject({ code: 'tenant_disabled' })
})
