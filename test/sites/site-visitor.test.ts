import { expect, test } from 'vitest'
import { audiencesOf } from '../../src/rules/access/audience.ts'
import { visitorOf, visitorToken } from '../../src/sites/site-visitor.ts'
import { neuronText, writtenBed } from '../kb/support/written-neurons.ts'

test('a visitor of a site is served as public at every door, also where nothing is asked for', async () => {
  const bed = await writtenBed({
    'desk.md': neuronText(1, { title: 'Desk', audience: ['tool'] }, 'For tools.\n'),
    'open.md': neuronText(2, { title: 'Open', audience: ['public'] }, 'For all.\n'),
  })
  const { sites, now } = bed.ctx
  const input = { name: 'Shop', origins: ['https://shop.example'], perMinute: 10, perDay: 100 }
  const site = await sites.create({ tenantId: bed.curator.tenantId, kbId: bed.kbId }, input, now())
  const page = { origin: 'https://shop.example', fetchSite: 'cross-site' }
  const visitor = visitorOf(site, page, now(), visitorToken(site, page, now()).token)
  expect(audiencesOf(visitor)).toEqual(['public'])
  expect(await bed.read(1, visitor)).toBeUndefined()
  expect(await bed.read(2, visitor)).toMatchObject({ title: 'Open' })
})
