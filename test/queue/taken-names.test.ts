import { expect, test } from 'vitest'
import { surveyLinks } from '../../src/pages/graph/survey-links.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { addSource, ingest, statusOf } from '../kb/support/ingest-support.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { neuronText, pushCandidate, seq, writtenBed } from '../kb/support/written-neurons.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const links = 'See [[Policy]], [[rules]] and [[Merger]].\n'

/** Neurons 1 to 5, of which the third links and the fourth is hidden. */
async function taken() {
  const bed = await writtenBed({
    'policy.md': neuronText(1, { title: 'Policy', aliases: ['Rules'] }, 'Old.\n'),
    'other.md': neuronText(2, { title: 'Other' }, 'Text.\n'),
    'page.md': neuronText(3, { title: 'Page' }, links),
    'guide.md': neuronText(5, { title: 'How to' }, 'Text.\n'),
    'deal.md': neuronText(4, { title: 'Merger', tags: ['internal'] }, 'Hidden.\n'),
  })
  const submit = (title: string) =>
    submitCandidate(bed.ctx, bed.app, candidate({ title, content: `About ${title}.`, confidence: 1 }))
  const meant = async (as = bed.app) => (await bed.read(3, as))?.links.map(({ target }) => target)
  return { ...bed, submit, meant }
}

test('a page that comes over the API takes no name from another, and its sender is told', async () => {
  const { submit, meant, ctx, app } = await taken()
  expect(await submit('Policy')).toMatchObject({ warnings: [{ code: 'name_taken', seqId: seq(1) }] })
  expect(await submit('RULES')).toMatchObject({ warnings: [{ code: 'name_taken', seqId: seq(1) }] })
  expect(await meant()).toEqual([seq(1)])

  const retitled = { ...correction(seq(2), '# Policy\n\nText.\n', { confidence: 1 }), title: 'Policy' }
  expect((await submitCandidate(ctx, app, retitled)).status).toBe('approved')
  expect(await meant()).toEqual([seq(1)])

  const kb = await ctx.kb(app.tenantId, 'handbook')
  const taking = (await surveyLinks(kb)).filter(({ rule }) => rule === 'taken-name')
  expect(taking).toMatchObject([
    { name: 'Policy', holder: seq(1), others: [seq(2), seq(6)] },
    { name: 'Rules', holder: seq(1), others: [seq(7)] },
  ])
})

test('a page that comes over the API takes no name from a file, and is told of no file that is hidden', async () => {
  const bed = await writtenBed({
    'page.md': neuronText(1, { title: 'Page' }, '![[plan.png]]\n'),
    'plan.png': 'bytes',
    'hidden/deal.md': neuronText(2, { title: 'Deal', tags: ['internal'] }, '![[deal.png]]\n'),
    'hidden/deal.png': 'bytes',
  })
  const settings = bed.native.read('refs/heads/main', 'kb.yaml').replace('rewriteLinks: false', 'rewriteLinks: true')
  bed.native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  const submit = (title: string, as = bed.app) =>
    submitCandidate(bed.ctx, as, candidate({ title, content: `About ${title}, by ${as.name}.`, confidence: 1 }))
  const warningsOf = async (title: string, as = bed.app) => (await submit(title, as)).warnings
  const taken = [{ code: 'name_taken', message: expect.stringContaining('lead to the file of that name') }]
  const { seqId = '', warnings } = await submit('Plan.png')
  expect(warnings).toEqual(taken)
  const kb = await bed.ctx.kb(bed.app.tenantId, 'handbook')
  const taking = (await surveyLinks(kb)).filter(({ rule }) => rule === 'taken-name')
  expect(taking).toMatchObject([{ name: 'Plan.png', holder: undefined, others: [seqId] }])
  expect(await warningsOf('deal.png')).toBeUndefined()
  expect(await warningsOf('deal.png', bed.curator)).toEqual(expect.arrayContaining(taken))
  const retitled = { ...correction(seqId, 'Text.\n', { confidence: 1 }), title: 'Another' }
  expect((await submitCandidate(bed.ctx, bed.app, retitled)).status).toBe('approved')
  expect(await bed.read(1, bed.app)).toMatchObject({
    content: '![[plan.png]]',
    files: [{ path: 'neurons/plan.png' }],
  })
})

test('of pages that came over the API the first has the name', async () => {
  const { submit } = await taken()
  const [first, second] = [await submit('Fresh'), await submit('Fresh')]
  expect([first.warnings, second.warnings?.map(({ seqId }) => seqId)]).toEqual([undefined, [first.seqId]])
})

test('a hidden page that had the name first is not there for those who do not see it', async () => {
  const { submit, meant, curator } = await taken()
  const { warnings, seqId = '' } = await submit('Merger')
  expect(warnings).toBeUndefined()
  expect(await meant()).toEqual([seq(1), seqId])
  expect(await meant(curator)).toEqual([seq(1), seq(4)])
})

test('a candidate over the API takes no name whoever approves it, and whatever connector it claims', async () => {
  const bed = await taken()
  const { meant, ctx, app, curator } = bed
  const waiting = async (connector: string) => {
    const metadata = JSON.stringify({ connector })
    const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Policy', metadata }))
    return candidateId
  }
  const told = async (id: string) => (await readCandidate(ctx, curator, id)).warnings
  const first = await waiting('git')
  expect(await told(first)).toEqual([expect.stringContaining(`lead to ${seq(1)}, which had it first`)])
  await approveCandidate(ctx, curator, first, {})
  expect(await told(first)).toEqual([expect.stringContaining(`lead to ${seq(1)}, which had it first`)])
  expect(await meant()).toEqual([seq(1)])

  const second = await waiting('crm')
  await pushCandidate(bed, second)
  expect((await readCandidate(ctx, curator, second)).status).toBe('approved')
  expect(await meant()).toEqual([seq(1)])
})

test('a page of a Source takes no name, and the Source tells of it, but of no hidden page', async () => {
  const { ctx, kbId } = await taken()
  const sources = await Promise.all(
    ['Guide', 'Merger'].map((title) => addSource(ctx, { kbId, filename: `${title}.md` })),
  )
  const extract = async ({ filename }: { filename: string }) => {
    const title = filename.replace('.md', '')
    return { title, markdown: `The new text of ${title}.`, anchors: [], warnings: [] }
  }
  const stop = await ingest(ctx, { ...ingestSteps(ctx), extract })
  for (const source of sources) await expect.poll(async () => (await statusOf(ctx, source)).status).toBe('success')
  await stop()
  const warnings = await Promise.all(sources.map(async ({ id }) => (await ctx.sources.get(id))?.warnings))
  expect(warnings).toEqual([[expect.stringContaining(`lead to ${seq(5)}, which had it first`)], []])
})
