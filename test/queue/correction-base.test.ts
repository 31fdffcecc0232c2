import { expect, test } from 'vitest'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { conflictMarks } from '../../src/rules/neurons/merge.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const lines = ['Open from nine.', '', 'Closed on Sunday.', '', 'Phone 1234.', '', 'Ask at the desk.']
const first = lines.join('\n')

/** A Neuron of version 1, and others who may correct it. */
async function opened(content = first, fields: Record<string, unknown> = {}) {
  const clock = { now: new Date('2026-05-01T12:00:00Z') }
  const bed = await newTestBed({ now: () => clock.now })
  const made = await submitCandidate(
    bed.ctx,
    bed.app,
    candidate({ content, confidence: 1, metadata: JSON.stringify(fields) }),
  )
  const seqId = String(made.seqId)
  const sender = (name: string): Caller => ({ ...bed.app, id: `key:${name}`, name })
  const correct = (by: string, text: string, metadata: Record<string, unknown> = {}, title = 'VIP escalation policy') =>
    submitCandidate(
      bed.ctx,
      sender(by),
      correction(seqId, text, { confidence: 1, title, metadata: JSON.stringify({ targetNeuron: seqId, ...metadata }) }),
    )
  const read = () => readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })
  return { bed, clock, seqId, correct, read }
}

test.each(['by twenty senders', 'through one key'])(
  'corrections of one version %s are all kept, and say from which version they were taken',
  async (how) => {
    const content = Array.from({ length: 20 }, (_, n) => `Line ${n}.\n`).join('\n')
    const { correct, read } = await opened(content)
    const senderOf = (n: number) => (how === 'through one key' ? 'app' : `ben ${n}`)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => correct(senderOf(n), content.replace(`Line ${n}.`, `Text ${n}.`))),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'approved'))
    expect((await read()).content.trimEnd()).toBe(content.replaceAll('Line', 'Text').trimEnd())
    const told = answers.flatMap(({ warnings = [] }) => warnings)
    expect(told).toHaveLength(19)
    expect(told[0]).toMatchObject({ code: 'base_assumed', message: expect.stringContaining('version 1') })
  },
)

test('of two senders who correct one version in turn, each keeps what the other changed', async () => {
  const { correct, read } = await opened()
  await correct('ada', first.replace('nine', 'eight'))
  await correct('ben', first.replace('Sunday', 'Monday'))
  await correct('ada', first.replace('1234', '5678'))
  const last = await correct('ada', first.replace('desk', 'door'))
  expect(last).toMatchObject({ status: 'approved', warnings: [{ code: 'base_assumed' }] })
  const all = first.replace('nine', 'eight').replace('Sunday', 'Monday').replace('1234', '5678').replace('desk', 'door')
  expect((await read()).content).toBe(all)
})

test('where nothing is said, what others changed within a day is kept; a conflict waits for a curator', async () => {
  const { bed, clock, correct, read } = await opened()
  clock.now = new Date('2026-05-09T12:00:00Z')
  await correct('ada', first.replace('nine', 'eight').replace('Sunday', 'Monday'))
  const conflicting = await correct('ben', first.replace('nine', 'ten'))
  expect(conflicting).toMatchObject({ status: 'pending', warnings: [{ code: 'base_assumed' }] })
  expect(await readCandidate(bed.ctx, bed.curator, conflicting.candidateId)).toMatchObject({
    conflicts: [{ line: 1, current: 'Open from eight.\n', proposed: 'Open from ten.\n' }],
  })
  // The same key may be another person, and a text of an earlier version returns to it.
  const assumed = (message: string) => [{ code: 'base_assumed', message: expect.stringContaining(message) }]
  expect((await correct('ada', first.replace('1234', '5678'))).warnings).toEqual(assumed('change of version 1,'))
  const both = first.replace('nine', 'eight').replace('Sunday', 'Monday').replace('1234', '5678')
  expect((await read()).content).toBe(both)
  expect((await correct('ben', first)).warnings).toEqual(assumed('return to version 1,'))
  expect((await read()).content).toBe(first)
  await correct('ada', first.replace('nine', 'eight'))
  clock.now = new Date('2026-05-10T12:00:01Z')
  const late = await correct('ben', first.replace('1234', '5678'))
  expect(late.warnings).toEqual(assumed('change of version 5, the current one'))
  expect((await read()).content).toBe(first.replace('1234', '5678'))
  // A named version is not assumed.
  expect(await correct('ben', first.replace('1234', '90'), { baseVersion: 6 })).not.toHaveProperty('warnings')
})

test('a text that is written anew was not written from the version that happens to be shortest', async () => {
  const { correct, read } = await opened('Short.')
  await correct('ada', first)
  const anew = await correct('ada', 'All new.\n\nNothing of before.')
  expect(anew).toMatchObject({ status: 'approved', warnings: [{ message: expect.stringContaining('version 2, the') }] })
  expect((await read()).content).toBe('All new.\n\nNothing of before.')
})

test('a text with the markers of a conflict waits for a curator', async () => {
  const { bed, correct } = await opened()
  const { current, base, proposed, end } = conflictMarks
  for (const text of [
    [current, 'a', base, 'b', proposed, 'c', end],
    ['<<<<<<< HEAD', 'a', '=======', 'c', '>>>>>>> x'],
  ]) {
    const sent = await correct('ada', text.join('\n'), { baseVersion: 1 })
    expect(sent.status).toBe('pending')
    const { warnings } = await readCandidate(bed.ctx, bed.curator, sent.candidateId)
    expect(warnings).toEqual([expect.stringContaining('markers of a merge conflict')])
  }
})

test('a named version that is hidden from the sender is none, and a conflict shows no comment', async () => {
  const { bed, seqId, correct } = await opened(first, { tags: ['internal'] })
  const shown = await submitCandidate(
    bed.ctx,
    bed.curator,
    correction(seqId, `${first}\n\n%%ours%%`, { metadata: JSON.stringify({ targetNeuron: seqId, replaceTags: true }) }),
  )
  await approveCandidate(bed.ctx, bed.curator, shown.candidateId, {})
  await expect(correct('ben', 'x', { baseVersion: 1 })).rejects.toMatchObject({
    fieldErrors: { metadata: ['baseVersion is no version of the Neuron'] },
  })
  const edit = correction(seqId, `${first.replace('nine', 'ten')}\n\n%%ours%%`, { confidence: 1 })
  await submitCandidate(bed.ctx, bed.curator, edit)
  expect(await correct('ben', first.replace('nine', 'eight'), { baseVersion: 2 })).toMatchObject({ status: 'pending' })
})

test('a title and tags of a correction count, and stand in the diff; a title from before a rename undoes nothing', async () => {
  const { bed, seqId, correct, read } = await opened(first, { tags: ['a', 'b'] })
  const tagged = await correct('ada', first, { tags: ['c'], replaceTags: true, baseVersion: 1 })
  expect(tagged.status).toBe('approved')
  await correct('ben', first, { tags: ['b', 'd'] }, 'VIP paging')
  await correct('ada', first.replace('nine', 'eight'), { baseVersion: 1, tags: ['b'], replaceTags: true })
  expect(await read()).toMatchObject({
    title: 'VIP paging',
    tags: ['b', 'c', 'd'],
    content: first.replace('nine', 'eight'),
  })
  const { path } = await read()
  const page = nativeGit(bed.gitDir, ['show', `main:${path}`])
  expect(page).toContain('aliases: [VIP escalation policy]')
  expect(page).not.toMatch(/metadata:/)

  const input = correction(seqId, first, { title: 'On call' })
  const waiting = await submitCandidate(bed.ctx, bed.app, input)
  const { diff } = await readCandidate(bed.ctx, bed.curator, waiting.candidateId)
  expect(diff).toContain('-title: VIP paging\n+title: On call\n')
  await approveCandidate(bed.ctx, bed.curator, waiting.candidateId, {})
  expect((await readCandidate(bed.ctx, bed.curator, waiting.candidateId)).diff).toContain('+title: On call\n')
})

test('a sender is told that a correction names no target', async () => {
  const { bed } = await opened()
  const unnamed = candidate({ kind: 'user-correction', title: 'Opening hours', confidence: 1 })
  const warnings = [{ code: 'no_target', message: expect.stringContaining('a new page') }]
  expect(await submitCandidate(bed.ctx, bed.app, unnamed)).toMatchObject({ status: 'approved', warnings })
})
