import { expect, test } from 'vitest'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { Sites } from '../../src/state/sites.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { at, testDatabase } from './support.ts'

const fields = { name: 'Docs', origins: ['https://example.org'], perMinute: 6, perDay: 3 }

async function newSites() {
  const { db } = await testDatabase()
  const { id: tenantId } = await new Tenants(db).ensure('acme', at('09:00'))
  const kbs = new KnowledgeBases(db)
  const kb = await kbs.create({ id: 'kb', tenantId, slug: 'handbook', prefix: 'handbook' }, at('09:00'))
  return { sites: new Sites(db), kbs, kb, owner: { tenantId, kbId: 'kb' } }
}

test('a day has as many questions as it may, whoever asks at once, and the next day begins anew', async () => {
  const { sites, owner } = await newSites()
  const { id } = await sites.create(owner, fields, at('09:00'))
  const other = await sites.create(owner, fields, at('09:00'))
  const counted = await Promise.all(Array.from({ length: 8 }, () => sites.count(id, at('23:59'))))
  expect(counted.filter((isCounted) => isCounted)).toHaveLength(3)
  const tomorrow = new Date(at('23:59').getTime() + 60_000)
  expect([await sites.count(id, tomorrow), await sites.count(other.id, at('10:00'))]).toEqual([true, true])
  expect(await sites.find(id)).toMatchObject({ day: '2026-03-02', asked: 1 })
  await sites.change(id, { ...fields, perDay: 1 })
  expect([await sites.count(id, tomorrow), await sites.count('nothing', tomorrow)]).toEqual([false, false])
})

test('a site keeps its secret when it changes, and is not found while its knowledge base is disabled', async () => {
  const { sites, kbs, kb, owner } = await newSites()
  const made = await sites.create(owner, fields, at('09:00'))
  await sites.change(made.id, { ...fields, name: 'Help', origins: [] })
  expect(await sites.find(made.id)).toEqual({ ...made, name: 'Help', origins: [] })
  await kbs.setDisabled(kb, at('10:00'))
  expect([await sites.find(made.id), await sites.list('kb')]).toMatchObject([undefined, [{ id: made.id }]])
  await kbs.setDisabled(kb, null)
  await sites.setDisabled(made.id, at('11:00'))
  expect(await sites.find(made.id)).toMatchObject({ disabledAt: at('11:00').toISOString() })
  await sites.remove(made.id)
  expect([await sites.find(made.id), await sites.list('kb')]).toEqual([undefined, []])
})
