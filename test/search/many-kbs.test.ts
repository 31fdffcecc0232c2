import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { searchEverywhere, searchTenant } from '../../src/search/kb/search-pages.ts'
import { inUse } from '../../src/system/concurrency/present-work.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'

test('a request that searches more knowledge bases than may be open at once asks all of them', async () => {
  const { ctx, curator } = await newTestBed()
  for (let n = 0; n < 11; n++) await createKnowledgeBase(ctx, { tenant: 'acme', slug: `more-${n}` })
  Object.assign(ctx.kbs, { most: 4 })
  const query = { q: 'welcome', kind: 'all', limit: 50 } as const
  const answer = await inUse(() => searchTenant(ctx, curator, query))
  expect(answer.unavailable ?? []).toEqual([])
  const found = await inUse(() => searchEverywhere(ctx, curator, { q: 'welcome', kind: 'all', isTyping: false }))
  expect(found.filter(({ isUnavailable }) => isUnavailable)).toEqual([])
  expect(ctx.kbs.identities().length).toBeLessThanOrEqual(4)
})

test("a person's search of all knowledge bases finds the page of the last of 52", async () => {
  const { ctx, curator } = await newTestBed()
  for (let n = 0; n < 51; n++) await createKnowledgeBase(ctx, { tenant: 'acme', slug: `z${n + 10}` })
  const page = { ...candidate({ title: 'Bittern', confidence: 1 }), knowledgeBaseId: 'z60' }
  await submitCandidate(ctx, curator, page)
  const find = () => searchEverywhere(ctx, curator, { q: 'bittern', kind: 'wiki', isTyping: false })
  await eventually(async () => expect(await find()).toMatchObject([{ kb: { slug: 'z60' }, total: 1 }]))
})
