import { expect, test } from 'vitest'
import { approveCandidate } from '../../src/services/queue/approve-candidate.ts'
import { dismissCandidate, reopenCandidate } from '../../src/services/queue/decide-candidate.ts'
import { readCandidate } from '../../src/services/queue/read-candidate.ts'
import { submitCandidate } from '../../src/services/queue/submit-candidate.ts'
import { candidate, correction, newTestBed } from './support.ts'

test('a curator sees what a proposal adds, as a unified diff', async () => {
  const { ganglion, app, curator } = await newTestBed()
  const { candidateId } = await submitCandidate(ganglion, app, candidate({ content: 'one\ntwo' }))
  const detail = await readCandidate(ganglion, curator, candidateId)
  expect(detail).toMatchObject({
    before: null,
    after: 'one\ntwo',
    createdBy: 'The app',
    status: 'pending',
    decisions: [],
  })
  expect(detail.diff).toBe('--- /dev/null\n+++ after\n@@ -0,0 +1,2 @@\n+one\n+two\n')
})

test('a correction shows both sides, merged with what has changed meanwhile; after approval, what it did', async () => {
  const { ganglion, app, curator } = await newTestBed()
  const lines = ['one', 'two', 'three', 'four', 'five']
  const made = await submitCandidate(ganglion, app, candidate({ content: lines.join('\n'), confidence: 1 }))
  const seqId = made.seqId ?? ''
  const last = await submitCandidate(ganglion, app, correction(seqId, lines.join('\n').replace('five', 'FIVE')))
  const first = await submitCandidate(ganglion, app, correction(seqId, lines.join('\n').replace('one', 'ONE')))
  const clash = await submitCandidate(ganglion, app, correction(seqId, lines.join('\n').replace('one', 'eins')))
  await approveCandidate(ganglion, curator, first.candidateId, {})
  expect(await readCandidate(ganglion, curator, last.candidateId)).toMatchObject({
    before: 'ONE\ntwo\nthree\nfour\nfive',
    after: 'ONE\ntwo\nthree\nfour\nFIVE',
  })
  expect(await readCandidate(ganglion, curator, clash.candidateId)).toMatchObject({ after: null, diff: '' })
  expect(await readCandidate(ganglion, curator, first.candidateId)).toMatchObject({
    status: 'approved',
    seqId,
    before: lines.join('\n'),
    after: 'ONE\ntwo\nthree\nfour\nfive',
    decisions: [{ action: 'approve', by: 'The curator' }],
  })
})

test('decisions are kept in order, with who took them and why', async () => {
  const { ganglion, app, curator } = await newTestBed()
  const { candidateId } = await submitCandidate(ganglion, app, candidate())
  await dismissCandidate(ganglion, curator, candidateId, { reason: 'Not now.' })
  await reopenCandidate(ganglion, curator, candidateId)
  await approveCandidate(ganglion, curator, candidateId, {})
  const { decisions } = await readCandidate(ganglion, curator, candidateId)
  expect(decisions.map(({ action, by, reason }) => [action, by, reason])).toEqual([
    ['dismiss', 'The curator', 'Not now.'],
    ['reopen', 'The curator', undefined],
    ['approve', 'The curator', undefined],
  ])
})
