import { expect, onTestFinished, test, vi } from 'vitest'
import { overviewServicesOf } from '../../src/cli/overview-services.ts'
import { Ganglion } from '../../src/services/ganglion.ts'
import { submitCandidate } from '../../src/services/queue/submit-candidate.ts'
import { createKnowledgeBase } from '../../src/services/setup/create-kb.ts'
import { eventually } from '../support/eventually.ts'
import { addSource } from './support/ingest-support.ts'
import { candidate } from './support/test-bed.ts'
import { neuronText, writtenBed } from './support/written-neurons.ts'

test('a curator sees what waits, is broken and has failed; a reader counts only what it may see', async () => {
  const bed = await writtenBed({
    'open.md': neuronText(1, { title: 'Open' }, '[[Nowhere]] [[Nowhere]]\n'),
    'public.md': neuronText(2, { title: 'Public', audience: ['public'] }),
    'students.md': neuronText(3, { title: 'Students', audience: ['student'] }),
    'secret.md': neuronText(4, { title: 'Secret', tags: ['Internal/HR'] }),
    'accent.md': neuronText(5, { title: 'Accent', tags: ['ínternal'] }),
  })
  const { ganglion, kbId, curator, reader, app } = bed
  await submitCandidate(ganglion, app, candidate())
  const red = { kind: 'reader-feedback' as const, metadata: JSON.stringify({ actionZone: 'red' }) }
  await submitCandidate(ganglion, app, candidate(red))
  await addSource(ganglion, { kbId, status: 'failed' })
  await addSource(ganglion, { kbId })
  const services = overviewServicesOf(ganglion)

  await eventually(async () => {
    expect(await services.readOverview(curator)).toEqual([
      {
        ...{ id: kbId, slug: 'handbook', title: 'handbook', neurons: 5, isBroken: false },
        work: { waiting: { red: 1, yellow: 0, green: 0, none: 1 }, brokenLinks: 2, failedSources: 1 },
      },
    ])
  })
  const shown = { id: kbId, slug: 'handbook', title: 'handbook', neurons: 3, isBroken: false, work: undefined }
  expect(await services.readOverview(reader)).toEqual([shown])
  expect(await services.readKbOverview(reader, 'handbook')).toEqual(shown)

  bed.write({ 'secret.md': null, 'new.md': neuronText(6, { title: 'New' }) })
  expect(await services.readKbOverview(reader, kbId)).toMatchObject({ neurons: 4 })
  expect(await services.readKbOverview(curator, kbId)).toMatchObject({ neurons: 5 })
})

test('knowledge bases of other tenants are not there', async () => {
  const { ganglion, curator } = await writtenBed()
  await createKnowledgeBase(ganglion, { tenant: 'umbrella', slug: 'theirs' })
  const services = overviewServicesOf(ganglion)
  expect((await services.readOverview(curator)).map(({ slug }) => slug)).toEqual(['handbook'])
  await expect(services.readKbOverview(curator, 'theirs')).rejects.toMatchObject({ code: 'not_found' })
})

test('nothing is opened whose tables are up to date, and nothing counted again that has not changed', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }) })
  await bed.ganglion.kb(bed.curator.tenantId, 'handbook')
  await bed.ganglion.close()
  const ganglion = await Ganglion.open({ dataDir: bed.dataDir })
  onTestFinished(() => ganglion.close())
  const opening = vi.spyOn(ganglion, 'openKb')
  const services = overviewServicesOf(ganglion)
  for (let visit = 0; visit < 3; visit++) {
    expect(await services.readOverview(bed.reader)).toMatchObject([{ neurons: 1 }])
  }
  expect(opening).not.toHaveBeenCalled()
  bed.write({ 'b.md': neuronText(2, { title: 'B' }) })
  expect(await services.readOverview(bed.reader)).toMatchObject([{ neurons: 2 }])
  expect(opening).toHaveBeenCalledOnce()
})

test('a knowledge base that cannot be read says so, and takes no other with it', async () => {
  const { ganglion, curator, kbId } = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }) })
  await createKnowledgeBase(ganglion, { tenant: 'acme', slug: 'other' })
  vi.spyOn(ganglion, 'openKb').mockImplementation(async ({ id }) => {
    throw new Error(`${id} is damaged`)
  })
  const overviews = await overviewServicesOf(ganglion).readOverview(curator)
  expect(overviews.find(({ id }) => id === kbId)).toMatchObject({ isBroken: true, work: undefined })
  expect(overviews).toHaveLength(2)
})
