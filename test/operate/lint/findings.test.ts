import { expect, test } from 'vitest'
import { lintNow, proposeFinding } from '../../../src/operate/lint/lint-kb.ts'
import type { FindingView } from '../../../src/operate/lint/list-findings.ts'
import { listFindings } from '../../../src/operate/lint/list-findings.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../../kb/support/written-neurons.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { eventually } from '../../support/eventually.ts'

const linked = (number: number, body: string) => neuronText(number, { title: `N ${number}` }, body)

/** One finding of each rule. */
const troubled = {
  'a.md': neuronText(
    1,
    { title: 'A', edges: [['contradicts', 'B']] },
    '[[On-call rotaton]] [x](on-call-rotatio.md) [[Twin]]\n',
  ),
  'b.md': linked(2, '[[Budget]]\n').replace('N 2', 'B'),
  'c.md': linked(3, '[[budget]]\n'),
  'd.md': linked(4, '[[Budget]]\n'),
  'on-call-rotation.md': neuronText(5, { title: 'On-call rotation' }, '[[A]]\n'),
  't1.md': neuronText(6, { title: 'Twin' }),
  't2.md': neuronText(7, { title: 'Twin' }),
  'lone.md': neuronText(8, { title: 'Lone' }),
}

async function troubledBed() {
  const bed = await writtenBed(troubled)
  const curator = { ...bed.curator, id: 'user:ada', name: 'Ada' }
  const list = async (query: Partial<Parameters<typeof listFindings>[3]> = {}) => {
    const page = await listFindings(bed.ctx, curator, 'handbook', { from: 0, limit: 50, ...query })
    if (page === undefined) throw new Error('still looking')
    return page
  }
  const find = async (rule: FindingView['rule'], target?: string) => {
    const { findings } = await list({ rule })
    const found = findings.find(({ links }) => target === undefined || links?.target === target)
    if (found === undefined) throw new Error(`no ${rule}`)
    return found
  }
  return { ...bed, curator, list, find }
}

async function contentOf({ ctx, curator }: Pick<WrittenBed, 'ctx' | 'curator'>, candidateId: string) {
  const { after, target, createdBy, status } = await readCandidate(ctx, curator, candidateId)
  return { after, target, createdBy, status }
}

test('findings come page by page, most impact first, with what they may be settled by', async () => {
  const { ctx, list, curator } = await troubledBed()
  const { findings, counts, next, isBehind } = await list({ limit: 4 })
  expect(findings.map(({ rule }) => rule)).toEqual(['gap', 'ambiguous-target', 'contradiction', 'missing-target'])
  expect(findings[1]).toMatchObject({
    links: { target: 'Twin', count: 1, places: [{ seqId: seq(1), title: 'A', line: expect.any(Number) }] },
    neurons: [
      { seqId: seq(6), title: 'Twin' },
      { seqId: seq(7), title: 'Twin' },
    ],
  })
  expect(counts).toEqual({
    gap: 1,
    'ambiguous-target': 1,
    'taken-name': 0,
    contradiction: 1,
    'missing-target': 2,
    orphan: 1,
  })
  expect([next, isBehind]).toEqual([4, false])
  const rest = await list({ from: 4, limit: 4 })
  expect([rest.findings.length, rest.next]).toEqual([2, null])
  expect((await list({ rule: 'orphan' })).findings).toMatchObject([{ neurons: [{ seqId: seq(8), title: 'Lone' }] }])
  await expect(listFindings(ctx, curator, 'nowhere', { from: 0, limit: 1 })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('the link that is meant is proposed for every page that has it; approved, the finding is gone', async () => {
  const bed = await troubledBed()
  const { curator, find, ctx, list } = bed
  const { fingerprint } = await find('ambiguous-target')
  const settle = () => proposeFinding(ctx, curator, 'handbook', { fingerprint, choice: seq(7) })
  const { candidateIds, byHand } = await settle()
  expect(byHand).toEqual([])
  const [candidateId = ''] = candidateIds
  expect(await contentOf(bed, candidateId)).toMatchObject({
    after: `[[On-call rotaton]] [x](on-call-rotatio.md) [[${seq(7)}|Twin]]`,
    ...{ target: seq(1), createdBy: 'Ada', status: 'pending' },
  })
  expect(await settle()).toEqual({ candidateIds, byHand: [] })
  await approveCandidate(ctx, curator, candidateId, {})
  await eventually(async () => expect((await list()).counts['ambiguous-target']).toBe(0))
  await expect(settle()).rejects.toMatchObject({ code: 'not_found' })
})

test('a Markdown link gets the path of the page that is meant', async () => {
  const bed = await troubledBed()
  const { fingerprint, neurons } = await bed.find('missing-target', 'on-call-rotatio.md')
  expect(neurons).toEqual([{ seqId: seq(5), title: 'On-call rotation' }])
  const { candidateIds } = await proposeFinding(bed.ctx, bed.curator, 'handbook', { fingerprint, choice: seq(5) })
  const { after } = await contentOf(bed, candidateIds[0] ?? '')
  expect(after).toBe('[[On-call rotaton]] [x](on-call-rotation.md) [[Twin]]')
})

test('of two pages that contradict each other, one says that it replaces the other', async () => {
  const bed = await troubledBed()
  const { fingerprint } = await bed.find('contradiction')
  const { candidateIds } = await proposeFinding(bed.ctx, bed.curator, 'handbook', { fingerprint, choice: seq(2) })
  expect(await contentOf(bed, candidateIds[0] ?? '')).toMatchObject({
    after: `[[Budget]]\n\nThis page replaces [[supersedes:${seq(1)}|A]].\n`,
    target: seq(2),
  })
})

test('what a finding does not offer is refused', async () => {
  const { ctx, curator, find } = await troubledBed()
  for (const rule of ['orphan', 'gap', 'contradiction'] as const) {
    const { fingerprint } = await find(rule)
    await expect(proposeFinding(ctx, curator, 'handbook', { fingerprint, choice: seq(5) })).rejects.toMatchObject({
      fieldErrors: { choice: expect.any(Array) },
    })
  }
  await expect(proposeFinding(ctx, curator, 'handbook', { fingerprint: 'x', choice: seq(5) })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('what is linked in the front matter is for a person to edit; what lint proposed is named', async () => {
  const bed = await writtenBed({
    'a.md': neuronText(1, { title: 'A', edges: [['cites', 'Twin']] }, '[[B]]'),
    'b.md': neuronText(2, { title: 'Twin' }),
    'c.md': neuronText(3, { title: 'Twin' }),
  })
  await lintNow(bed.ctx, bed.curator, 'handbook')
  const page = await listFindings(bed.ctx, bed.curator, 'handbook', { rule: 'ambiguous-target', from: 0, limit: 1 })
  const [finding] = page?.findings ?? []
  expect(finding?.candidate).toMatchObject({ status: 'pending' })
  const settling = { fingerprint: finding?.fingerprint ?? '', choice: seq(2) }
  expect(await proposeFinding(bed.ctx, bed.curator, 'handbook', settling)).toEqual({
    candidateIds: [],
    byHand: [{ seqId: seq(1), title: 'A' }],
  })
})
