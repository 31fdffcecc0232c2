import { expect, test } from 'vitest'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { proposeReverse } from '../../src/review/propose-reverse.ts'
import { proposeUndo } from '../../src/review/propose-undo.ts'
import { reviewCandidate } from '../../src/review/review-candidate.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

async function newDesk() {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const approve = (id: string) => approveCandidate(ctx, curator, id, {})
  return {
    ...bed,
    approve,
    add: async (content: string) => {
      const { candidateId } = await submitCandidate(ctx, app, candidate({ content }))
      return { id: candidateId, ...(await approve(candidateId)) }
    },
    change: async (seqId: string, content: string) => {
      const { candidateId } = await submitCandidate(ctx, app, correction(seqId, content))
      await approve(candidateId)
      return candidateId
    },
    reverse: (id: string) => proposeReverse(ctx, curator, id),
    review: (id: string) => reviewCandidate(ctx, curator, id, { status: 'pending' }),
    content: async (seqId: string) => (await readNeuron(ctx, curator, { kb: 'handbook', seqId })).content,
  }
}

test('a new Neuron is taken back by a removal, and that by what brings it back', async () => {
  const { add, reverse, review, approve, content } = await newDesk()
  const { id, seqId } = await add('one\n')
  const removal = await reverse(id)
  expect(await review(removal)).toMatchObject({
    entry: { status: 'pending', intent: { does: 'remove', seqId }, reason: 'takes back "VIP escalation policy"' },
    sides: { before: { content: 'one\n' }, after: undefined },
  })
  await approve(removal)
  await expect(content(seqId)).rejects.toMatchObject({ code: 'not_found' })
  await approve(await reverse(removal))
  expect(await content(seqId)).toBe('one\n')
})

test('a change is taken back and what others changed since stays', async () => {
  const { add, change, reverse, approve, content } = await newDesk()
  const { seqId } = await add('one\ntwo\nthree\nfour\n')
  const id = await change(seqId, 'ONE\ntwo\nthree\nfour\n')
  await change(seqId, 'ONE\ntwo\nthree\nFOUR\n')
  await approve(await reverse(id))
  expect(await content(seqId)).toBe('one\ntwo\nthree\nFOUR\n')
})

test('asked for twice, it is one candidate; a removal of what was changed since says so', async () => {
  const { add, change, reverse, review } = await newDesk()
  const { id, seqId } = await add('one\n')
  const first = await reverse(id)
  expect(await reverse(id)).toBe(first)
  await change(seqId, 'two\n')
  const second = await reverse(id)
  expect(second).not.toBe(first)
  expect((await review(second)).entry.warnings).toEqual([expect.stringContaining('was changed since')])
})

test.each(['change', 'remove', 'restore'])(
  'a reverse and an undo that %s the same are one candidate',
  async (action) => {
    const { ctx, app, curator, approve, reverse } = await newDesk()
    const sent = async (input: Parameters<typeof submitCandidate>[2], by = 'key:bot', removes = false) => {
      const { candidateId } = await submitCandidate(ctx, { ...app, id: by }, input, { removes })
      return { id: candidateId, ...(await approve(candidateId)) }
    }
    const page = await sent(candidate({ content: 'one\n' }), action === 'remove' ? 'key:bot' : 'key:ada')
    const change = correction(page.seqId, 'two\n')
    const { id } = action === 'remove' ? page : await sent(change, 'key:bot', action === 'restore')
    const undo = async () => {
      const input = { by: 'key', writer: 'bot', since: '2020-01-01T00:00:00Z', dryRun: false } as const
      const { reversals } = await proposeUndo(ctx, curator, 'handbook', input)
      return reversals.map(({ candidateId, action }) => ({ candidateId, action }))
    }
    const candidateId = await reverse(id)
    expect(await undo()).toEqual([{ candidateId, action }])
    await dismissCandidate(ctx, curator, candidateId, {})
    const [undone] = await undo()
    expect(undone?.candidateId).not.toBe(candidateId)
    expect(await reverse(id)).toBe(undone?.candidateId)
  },
)

test('a reversal is in the zone of its kind or connector, and says so', async () => {
  const { ctx, curator, gitDir, add, reverse, review } = await newDesk()
  const { id } = await add('one\n')
  const native = new NativeWriter(gitDir)
  const zones = 'zones:\n  kinds: { user-correction: red }\n  connectors: {}\n\n'
  const text = native.read('refs/heads/main', 'kb.yaml').replace(/^zones:[\s\S]*?\n\n/m, zones)
  native.commit('refs/heads/main', new Map([['kb.yaml', text]]))
  const red = { zone: 'red', warnings: [expect.stringContaining('red zone')] }
  expect((await review(await reverse(id))).entry).toMatchObject(red)
  const since = '2020-01-01T00:00:00Z'
  const undo = { by: 'key', writer: 'app-key', since, dryRun: false } as const
  const { reversals } = await proposeUndo(ctx, curator, 'handbook', undo)
  expect((await review(reversals[0]?.candidateId ?? '')).entry).toMatchObject(red)
})

test('what is not approved, or gone by another way, cannot be taken back', async () => {
  const { ctx, app, add, change, reverse, approve } = await newDesk()
  const { candidateId } = await submitCandidate(ctx, app, candidate())
  await expect(reverse(candidateId)).rejects.toMatchObject({ code: 'not_approved' })
  const { id, seqId } = await add('one\n')
  const changed = await change(seqId, 'two\n')
  await approve(await reverse(id))
  await expect(reverse(changed)).rejects.toMatchObject({ code: 'target_not_found' })
})
