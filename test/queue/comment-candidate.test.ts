import { expect, test } from 'vitest'
import { findCandidate } from '../../src/kb/projection/candidate-index.ts'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { recordCandidate } from '../../src/kb/writing/commits.ts'
import { parseCandidate, roomInRecord } from '../../src/markdown/file/candidate-file.ts'
import { proposePush } from '../../src/push/push-proposals.ts'
import { commentCandidate, dismissCandidate, reopenCandidate } from '../../src/queue/decide-candidate.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

async function pending({ ctx, app }: TestBed): Promise<string> {
  return (await submitCandidate(ctx, app, candidate())).candidateId
}

test('a comment is recorded at any status, and changes none', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const id = await pending(bed)
  const say = (comment: string) => commentCandidate(ctx, curator, id, { comment })
  expect(await say('One\n\n- two: "three"\n')).toEqual({ candidateId: id, status: 'pending' })
  await dismissCandidate(ctx, curator, id, {})
  expect(await say('---\nnot: front matter\n---')).toEqual({ candidateId: id, status: 'dismissed' })
  await reopenCandidate(ctx, curator, id)
  await approveCandidate(ctx, curator, id, {})
  expect(await say('Well done. 🎉')).toEqual({ candidateId: id, status: 'approved' })

  const { decisions } = await readCandidate(await bed.reopen(), curator, id)
  expect(decisions.map(({ action, by, reason }) => [action, by, reason])).toEqual([
    ['comment', 'The curator', 'One\n\n- two: "three"\n'],
    ['dismiss', 'The curator', undefined],
    ['comment', 'The curator', '---\nnot: front matter\n---'],
    ['reopen', 'The curator', undefined],
    ['comment', 'The curator', 'Well done. 🎉'],
    ['approve', 'The curator', undefined],
  ])
  expect(nativeGit(bed.gitDir, ['log', '-1', '--format=%s', 'refs/ganglion/queue'])).toBe(
    'Comment on "VIP escalation policy"',
  )
})

test('a comment with an idempotency key is written once, also where an attempt broke off', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const id = await pending(bed)
  const say = (comment: string, idempotencyKey?: string) =>
    commentCandidate(ctx, curator, id, { comment }, idempotencyKey === undefined ? {} : { idempotencyKey })
  await say('Once')
  expect(await Promise.all([say('Once', 'a'), say('Once', 'a')])).toEqual(
    Array(2).fill({ candidateId: id, status: 'pending' }),
  )
  await expect(say('Other', 'a')).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  const { finish } = ctx.idempotency
  ctx.idempotency.finish = async (key) => {
    await ctx.idempotency.abandon(key)
    throw new Error('killed')
  }
  expect(await say('Twice', 'b')).toEqual({ candidateId: id, status: 'pending' })
  ctx.idempotency.finish = finish
  await say('Twice', 'b')
  const { decisions } = await readCandidate(ctx, curator, id)
  expect(decisions.map(({ reason }) => reason)).toEqual(['Once', 'Once', 'Twice'])
})

test('a candidate takes 200 comments, also of many at once', async () => {
  const bed = await newTestBed()
  const id = await pending(bed)
  const comments = Array.from({ length: 203 }, (_, n) =>
    commentCandidate(bed.ctx, bed.curator, id, { comment: `Number ${n}` }).then(
      () => 'taken',
      (error) => error.code,
    ),
  )
  const outcomes = await Promise.all(comments)
  expect(Object.groupBy(outcomes, (outcome) => outcome)).toMatchObject({
    taken: { length: 200 },
    record_full: { length: 3 },
  })
  expect((await readCandidate(bed.ctx, bed.curator, id)).decisions).toHaveLength(200)
})

test.each(['🐘', '\u0001', '"'])('long comments of %j leave room for verdicts', async (character) => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const id = await pending(bed)
  const comment = character.repeat(10_000 / character.length)
  let taken = 0
  const fill = async () => {
    for (; taken < 200; taken += 1) await commentCandidate(ctx, curator, id, { comment })
  }
  await expect(fill()).rejects.toMatchObject({ code: 'record_full', status: 409 })
  expect(taken).toBeGreaterThan(1)
  await dismissCandidate(ctx, curator, id, { reason: '\u0001'.repeat(2000) })
  await reopenCandidate(ctx, curator, id)
  const reopened = await bed.reopen()
  expect((await readCandidate(reopened, curator, id)).decisions).toHaveLength(taken + 2)
  await approveCandidate(reopened, curator, id, {})
})

test('verdicts without end are refused before their record cannot be read', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const id = await pending(bed)
  const goOn = async () => {
    for (let turn = 0; turn < 100; turn += 1) {
      await dismissCandidate(ctx, curator, id, { reason: '\u0001'.repeat(2000) })
      await reopenCandidate(ctx, curator, id)
    }
  }
  await expect(goOn()).rejects.toMatchObject({ code: 'record_full' })
  const { status, decisions } = await readCandidate(await bed.reopen(), curator, id)
  expect(status).toBe('pending')
  expect(decisions.length).toBeGreaterThan(10)
})

test("another tenant's candidate is not there", async () => {
  const bed = await newTestBed()
  const id = await pending(bed)
  const stranger = { ...bed.curator, tenantId: 'another' }
  const before = nativeGit(bed.gitDir, ['rev-parse', 'refs/ganglion/queue'])
  for (const unknown of [id, '01990000-0000-7000-8000-000000000000', 'none'])
    await expect(commentCandidate(bed.ctx, stranger, unknown, { comment: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    })
  expect(nativeGit(bed.gitDir, ['rev-parse', 'refs/ganglion/queue'])).toBe(before)
})

test('versions that are pushed leave room for verdicts', async () => {
  const bed = await newTestBed()
  const { ctx, curator, gitDir } = bed
  const id = await pending(bed)
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  await kb.write(async (staging) => {
    const record = parseCandidate(await staging.readText(findCandidate(kb.projection.write, id)?.blob ?? ''))
    const revision = { action: 'revise' as const, at: record.createdAt, by: record.createdBy }
    const with20 = { ...record, decisions: Array.from({ length: 20 }, () => revision) }
    const size = (roomInRecord(record) - roomInRecord(with20)) / 20
    const length = Math.floor((roomInRecord(record) - 10_000) / size)
    await recordCandidate(kb, staging, { ...record, decisions: Array.from({ length }, () => revision) }, 'Revise')
  })
  const [path, native] = ['neurons/one.md', new NativeWriter(gitDir)]
  const from = native.git('rev-parse', mainRef)
  native.commit(
    'refs/heads/work',
    new Map([[path, `---\ntitle: VIP escalation policy\ncandidate: ${id}\n---\nAgain.\n`]]),
    { parents: [from] },
  )
  const [after = '', to = ''] = [`work:${path}`, 'work'].map((name) => native.git('rev-parse', `refs/heads/${name}`))
  const pushed = { changes: [{ path, after }], range: { from, to }, origin: { door: 'for', by: 'pusher' } as const }
  const push = proposePush(kb, { ...pushed, proposer: { id: 'git:pusher', name: 'Pusher' } }, ctx.now)
  await expect(push).rejects.toThrow('revised too often')
  await dismissCandidate(ctx, curator, id, { reason: 'Enough.' })
})
