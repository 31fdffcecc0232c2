import { expect, onTestFinished, test, vi } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { readKbOverview, readOverview } from '../../src/operate/overview/read-overview.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { candidate } from '../kb/support/test-bed.ts'
import { neuronText, writtenBed } from '../kb/support/written-neurons.ts'
import { eventually } from '../support/eventually.ts'

test('a curator sees what waits, is broken and has failed; a reader counts only what it may see', async () => {
  const bed = await writtenBed({
    'open.md': neuronText(1, { title: 'Open' }, '[[Nowhere]] [[Nowhere]]\n'),
    'public.md': neuronText(2, { title: 'Public', audience: ['public'] }),
    'students.md': neuronText(3, { title: 'Students', audience: ['student'] }),
    'secret.md': neuronText(4, { title: 'Secret', tags: ['Internal/HR'] }),
    'accent.md': neuronText(5, { title: 'Accent', tags: ['ínternal'] }),
  })
  const { ctx, kbId, curator, reader, app } = bed
  await submitCandidate(ctx, app, candidate())
  const red = { kind: 'reader-feedback' as const, metadata: JSON.stringify({ actionZone: 'red' }) }
  await submitCandidate(ctx, app, candidate(red))
  await addSource(ctx, { kbId, status: 'failed' })
  await addSource(ctx, { kbId })

  await eventually(async () => {
    expect(await readOverview(ctx, curator)).toEqual([
      {
        ...{ id: kbId, slug: 'handbook', title: 'handbook', neurons: 5, isBroken: false },
        work: { waiting: { red: 1, yellow: 0, green: 0, none: 1 }, brokenLinks: 2, failedSources: 1 },
      },
    ])
  })
  const shown = { id: kbId, slug: 'handbook', title: 'handbook', neurons: 3, isBroken: false, work: undefined }
  expect(await readOverview(ctx, reader)).toEqual([shown])
  expect(await readKbOverview(ctx, reader, 'handbook')).toEqual(shown)

  bed.write({ 'secret.md': null, 'new.md': neuronText(6, { title: 'New' }) })
  expect(await readKbOverview(ctx, reader, kbId)).toMatchObject({ neurons: 4 })
  expect(await readKbOverview(ctx, curator, kbId)).toMatchObject({ neurons: 5 })
})

test('knowledge bases of other tenants are not there', async () => {
  const { ctx, curator } = await writtenBed()
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'theirs' })
  expect((await readOverview(ctx, curator)).map(({ slug }) => slug)).toEqual(['handbook'])
  await expect(readKbOverview(ctx, curator, 'theirs')).rejects.toMatchObject({ code: 'not_found' })
})

test('nothing is opened whose tables are up to date, and nothing counted again that has not changed', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }) })
  await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  await bed.ctx.close()
  const ctx = await openContext({ dataDir: bed.dataDir })
  onTestFinished(() => ctx.close())
  const opening = vi.spyOn(ctx.kbs, 'open')
  for (let visit = 0; visit < 3; visit++) {
    expect(await readOverview(ctx, bed.reader)).toMatchObject([{ neurons: 1 }])
  }
  expect(opening).not.toHaveBeenCalled()
  bed.write({ 'b.md': neuronText(2, { title: 'B' }) })
  expect(await readOverview(ctx, bed.reader)).toMatchObject([{ neurons: 2 }])
  expect(opening).toHaveBeenCalledOnce()
})

test('a knowledge base that cannot be read says so, and takes no other with it', async () => {
  const { ctx, curator, kbId } = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }) })
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })
  vi.spyOn(ctx.kbs, 'open').mockImplementation(async ({ id }) => {
    throw new Error(`${id} is damaged`)
  })
  const overviews = await readOverview(ctx, curator)
  expect(overviews.find(({ id }) => id === kbId)).toMatchObject({ isBroken: true, work: undefined })
  expect(overviews).toHaveLength(2)
})
