import { expect, test } from 'vitest'
import { kbOfCandidate } from '../../../src/kb/kb-access.ts'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { recordCandidate } from '../../../src/kb/writing/commits.ts'
import { parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { commentCandidate, dismissCandidate, reopenCandidate } from '../../../src/queue/decide-candidate.ts'
import { candidateHeads } from '../../../src/queue/heads/candidate-refs.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { candidate, correction, newTestBed, type TestBed } from '../../kb/support/test-bed.ts'
import { neuronText } from '../../kb/support/written-neurons.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
const body = lines.join('\n')

async function headOf({ ctx, curator }: TestBed, candidateId: string): Promise<string> {
  const kb = await kbOfCandidate(ctx, curator.tenantId, candidateId)
  return (await candidateHeads(kb, ctx).headOf(candidateId)) ?? ''
}

async function propose(bed: TestBed, input = candidate()): Promise<{ id: string; head: string }> {
  const { candidateId: id } = await submitCandidate(bed.ctx, bed.app, input)
  return { id, head: await headOf(bed, id) }
}

async function approved(bed: TestBed, input = candidate({ content: body })): Promise<string> {
  const { candidateId } = await submitCandidate(bed.ctx, bed.app, input)
  return (await approveCandidate(bed.ctx, bed.curator, candidateId, {})).seqId
}

/** A verdict of each kind on a head; what is refused changes neither main nor the queue. */
async function expectStale(bed: TestBed, id: string, head: string, present: unknown): Promise<void> {
  const { ctx, curator, gitDir } = bed
  const refs = () => nativeGit(gitDir, ['rev-parse', 'main', 'refs/ganglion/queue'])
  const before = refs()
  const verdicts = [
    () => approveCandidate(ctx, curator, id, { head }),
    () => dismissCandidate(ctx, curator, id, { head, reason: 'No.' }),
    () => commentCandidate(ctx, curator, id, { head, comment: 'Hm.' }),
  ]
  for (const verdict of verdicts)
    await expect(verdict()).rejects.toMatchObject({ code: 'stale_head', status: 409, details: { head: present } })
  expect(refs()).toBe(before)
}

test('a verdict on the present head counts: of a new Neuron, of a change, and of one that main is merged into', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const added = await propose(bed, candidate({ title: 'New' }))
  expect(await commentCandidate(ctx, curator, added.id, { comment: 'Hm.', head: added.head })).toMatchObject({
    status: 'pending',
  })
  expect(await approveCandidate(ctx, curator, added.id, { head: added.head })).toMatchObject({
    status: 'approved',
  })

  const seqId = await approved(bed)
  const merged = await propose(bed, correction(seqId, body.replace('seven', 'SEVEN')))
  await approved(bed, correction(seqId, body.replace('one', 'ONE')))
  const { head } = { head: await headOf(bed, merged.id) }
  expect(head).not.toBe(merged.head)
  await approveCandidate(ctx, curator, merged.id, { head })
  const { content } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  expect(content).toBe(body.replace('seven', 'SEVEN').replace('one', 'ONE'))

  const dismissed = await propose(bed, correction(seqId, 'Nothing.'))
  expect(await dismissCandidate(ctx, curator, dismissed.id, { head: dismissed.head })).toMatchObject({
    status: 'dismissed',
  })
})

test('main may move elsewhere: the change that was judged is the same', async () => {
  const bed = await newTestBed()
  const { id, head } = await propose(bed)
  await approved(bed, candidate({ title: 'Something else' }))
  expect(await headOf(bed, id)).not.toBe(head)
  const approval = await approveCandidate(bed.ctx, bed.curator, id, { head })
  const changed = (commit: string) => nativeGit(bed.gitDir, ['diff', '--name-only', `${commit}^`, commit])
  expect(changed(approval.commit)).toBe(changed(head))
})

test('a head is old once its target has changed, and the answer names the present one', async () => {
  const bed = await newTestBed()
  const seqId = await approved(bed)
  const { id, head } = await propose(bed, correction(seqId, body.replace('seven', 'SEVEN')))
  await approved(bed, correction(seqId, body.replace('one', 'ONE')))
  await expectStale(bed, id, head, await headOf(bed, id))
  expect(await approveCandidate(bed.ctx, bed.curator, id, { head: await headOf(bed, id) })).toMatchObject({
    seqId,
  })
})

test('a head is old once its path is taken', async () => {
  const bed = await newTestBed()
  const { id, head } = await propose(bed)
  const [, path = ''] = nativeGit(bed.gitDir, ['diff', '--name-only', 'main', head]).match(/^(.+)$/m) ?? []
  new NativeWriter(bed.gitDir).commit('refs/heads/main', new Map([[path, neuronText(1, { title: 'First' })]]))
  await expectStale(bed, id, head, await headOf(bed, id))
})

/** A proposal of a whole page at a path of its own. */
async function proposeMove(
  bed: TestBed,
  seqId: string,
  path: string,
  content = body,
): Promise<{ id: string; head: string }> {
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  const { id } = await propose(bed, correction(seqId, content))
  const row = findCandidate(kb.projection.read, id)
  const record = parseCandidate(await kb.repository.readText(row?.blob ?? ''))
  const metadata = JSON.stringify({ targetNeuron: seqId, path })
  const moved = { ...record, metadata, frontMatter: `---\nseqId: ${seqId}\ntitle: ${record.title}\n---\n` }
  await kb.write((staging) => recordCandidate(kb, staging, moved, 'Propose'))
  return { id, head: await headOf(bed, id) }
}

test('a verdict on a head that moves a page counts, and none on a head that does only a part of it', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const seqId = await approved(bed)
  const { path: from } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  const { id, head } = await proposeMove(bed, seqId, 'neurons/moved.md', body.replace('seven', 'SEVEN'))

  const blob = nativeGit(bed.gitDir, ['rev-parse', `${head}:neurons/moved.md`])
  const rewritten = (...changes: string[]) => {
    const commit = ['commit refs/like', 'committer A <a@b> 0 +0000', 'data 0', 'from refs/heads/main^0', ...changes]
    nativeGit(bed.gitDir, ['fast-import', '--quiet', '--force'], `${commit.join('\n')}\n`)
    return nativeGit(bed.gitDir, ['rev-parse', 'refs/like'])
  }
  const [takes, adds] = [`D ${from}`, `M 100644 ${blob} neurons/moved.md`]
  for (const wrong of [rewritten(adds), rewritten(takes), rewritten(takes, adds, 'D kb.yaml')])
    await expectStale(bed, id, wrong, head)

  await approveCandidate(ctx, curator, id, { head })
  expect(await readNeuron(ctx, curator, { kb: 'handbook', seqId })).toMatchObject({
    path: 'neurons/moved.md',
    content: body.replace('seven', 'SEVEN'),
  })
  expect(nativeGit(bed.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons'])).toBe('neurons/moved.md')
})

test('a head that moves a page is old once that path is taken, or the page has moved', async () => {
  const bed = await newTestBed()
  const seqId = await approved(bed)
  const { id, head } = await proposeMove(bed, seqId, 'neurons/moved.md')
  const taker = await approved(bed, candidate({ title: 'Taker' }))
  const taking = await proposeMove(bed, taker, 'neurons/moved.md')
  await approveCandidate(bed.ctx, bed.curator, taking.id, { head: taking.head })
  await expectStale(bed, id, head, await headOf(bed, id))
  const other = await proposeMove(bed, taker, 'neurons/away.md', 'Away.')
  await approveCandidate(bed.ctx, bed.curator, other.id, { head: other.head })
  expect(await headOf(bed, id)).not.toBe(head)

  const again = await proposeMove(bed, seqId, 'neurons/again.md')
  await expectStale(bed, again.id, head, again.head)
  await approveCandidate(bed.ctx, bed.curator, id, { head })
  await expectStale(bed, again.id, again.head, await headOf(bed, again.id))
})

test('a head that conflicts with main can be dismissed and commented on; its approval tells both sides', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const seqId = await approved(bed)
  const { id } = await propose(bed, correction(seqId, body.replace('one', 'uno')))
  await approved(bed, correction(seqId, body.replace('one', 'eins')))
  const head = await headOf(bed, id)
  await expectStale(bed, id, nativeGit(bed.gitDir, ['rev-parse', 'main']), head)
  await expect(approveCandidate(ctx, curator, id, { head })).rejects.toMatchObject({
    code: 'merge_conflict',
    details: { conflicts: [{ base: 'one\n', current: 'eins\n', proposed: 'uno\n' }] },
  })
  expect(await commentCandidate(ctx, curator, id, { head, comment: 'Hm.' })).toMatchObject({ status: 'pending' })
  expect(await dismissCandidate(ctx, curator, id, { head })).toMatchObject({ status: 'dismissed' })
})

test("what is no head of the candidate's is refused: another's, main itself, and what is not there, whole, or a commit", async () => {
  const bed = await newTestBed()
  const { id, head } = await propose(bed)
  const other = await propose(bed, candidate({ title: 'Another' }))
  const revisions = ['main', 'main^{tree}', 'main:kb.yaml', 'refs/ganglion/queue']
  const known = nativeGit(bed.gitDir, ['rev-parse', ...revisions]).split('\n')
  const tree = '1'.repeat(40)
  const commit = `tree ${tree}\nparent ${known[0]}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nNo tree\n`
  const pruned = nativeGit(bed.gitDir, ['hash-object', '-w', '-t', 'commit', '--stdin'], commit)
  for (const wrong of [...known, pruned, other.head, '0'.repeat(40), 'f'.repeat(64)])
    await expectStale(bed, id, wrong, head)
})

test('of a change that comes at the same moment and of the verdict on what was before, one is refused', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const seqId = await approved(bed)
  for (let round = 0; round < 5; round += 1) {
    const { content } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
    const judged = await propose(bed, correction(seqId, content.replace('seven', `seven ${round}`)))
    const other = await propose(bed, correction(seqId, content.replace('one', `one ${round}`)))
    const verdicts = [judged, other].map(({ id, head }) => approveCandidate(ctx, curator, id, { head }))
    const outcomes = await Promise.allSettled(verdicts)
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: 'stale_head' }) })
  }
})

test('what is decided proposes nothing: the answers are those of before', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  const { id, head } = await propose(bed)
  await dismissCandidate(ctx, curator, id, { head })
  expect(await dismissCandidate(ctx, curator, id, { head: '0'.repeat(40) })).toMatchObject({ status: 'dismissed' })
  await expect(approveCandidate(ctx, curator, id, { head })).rejects.toMatchObject({ code: 'not_pending' })
  await commentCandidate(ctx, curator, id, { head, comment: 'Late.' })
  await reopenCandidate(ctx, curator, id)

  const approval = await approveCandidate(ctx, curator, id, { head })
  expect(await approveCandidate(ctx, curator, id, { head })).toEqual(approval)
  expect(await approveCandidate(ctx, curator, id, { head: '0'.repeat(40) })).toEqual(approval)
  await expect(dismissCandidate(ctx, curator, id, { head })).rejects.toMatchObject({ code: 'not_pending' })
  const { decisions } = await readCandidate(ctx, curator, id)
  expect(decisions.map(({ action }) => action)).toEqual(['dismiss', 'comment', 'reopen', 'approve'])
})
