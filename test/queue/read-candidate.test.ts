import { expect, test } from 'vitest'
import { dismissCandidate, reopenCandidate } from '../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { conflictMarks } from '../../src/rules/neurons/merge.ts'
import type { CompiledPage } from '../../src/sources/compile/compiled.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

test('a curator sees what a proposal adds, as a unified diff', async () => {
  const { ctx, app, curator } = await newTestBed()
  const { candidateId } = await submitCandidate(ctx, app, candidate({ content: 'one\ntwo' }))
  const detail = await readCandidate(ctx, curator, candidateId)
  expect(detail).toMatchObject({
    before: null,
    after: 'one\ntwo',
    createdBy: 'The app',
    status: 'pending',
    decisions: [],
  })
  expect(detail.diff).toBe('--- /dev/null\n+++ after\n@@ -0,0 +1,2 @@\n+one\n+two\n')
})

test('of a diff that is too large comes what fits, and the answer says so', async () => {
  const { ctx, app, curator } = await newTestBed()
  const content = Array.from({ length: 40_000 }, (_, n) => `line ${n}`).join('\n')
  const { candidateId } = await submitCandidate(ctx, app, candidate({ content }))
  const { diff, diffTruncated, after } = await readCandidate(ctx, curator, candidateId)
  expect(diffTruncated).toBe(true)
  expect(diff.startsWith('--- /dev/null\n+++ after\n@@ -0,0 +1,')).toBe(true)
  expect(diff.length).toBeLessThanOrEqual(256 * 1024)
  expect(after).toBe(content)
})

test('a Neuron of which thousands of lines change has a diff', async () => {
  const { ctx, app, curator } = await newTestBed()
  const lines = (name: string) => Array.from({ length: 3_000 }, (_, n) => `${name} ${n}`).join('\n')
  const made = await submitCandidate(ctx, app, candidate({ content: lines('old'), confidence: 1 }))
  const { candidateId } = await submitCandidate(ctx, app, correction(made.seqId ?? '', lines('new')))
  const detail = await readCandidate(ctx, curator, candidateId)
  expect(detail.diff.match(/^[+-](?:old|new) \d+$/gm)).toHaveLength(6_000)
  expect(detail).not.toHaveProperty('diffTruncated')
})

test('a correction shows both sides, merged with what has changed meanwhile; after approval, what it did', async () => {
  const { ctx, app, curator } = await newTestBed()
  const lines = ['one', 'two', 'three', 'four', 'five']
  const made = await submitCandidate(ctx, app, candidate({ content: lines.join('\n'), confidence: 1 }))
  const seqId = made.seqId ?? ''
  const last = await submitCandidate(ctx, app, correction(seqId, lines.join('\n').replace('five', 'FIVE')))
  const first = await submitCandidate(ctx, app, correction(seqId, lines.join('\n').replace('one', 'ONE')))
  const clash = await submitCandidate(ctx, app, correction(seqId, lines.join('\n').replace('one', 'eins')))
  await approveCandidate(ctx, curator, first.candidateId, {})
  const merged = await readCandidate(ctx, curator, last.candidateId)
  expect(merged).not.toHaveProperty('conflicts')
  expect(merged).toMatchObject({
    before: 'ONE\ntwo\nthree\nfour\nfive',
    after: 'ONE\ntwo\nthree\nfour\nFIVE',
  })
  expect(await readCandidate(ctx, curator, clash.candidateId)).toMatchObject({
    before: 'ONE\ntwo\nthree\nfour\nfive',
    after: `${marked('ONE', 'one', 'eins')}two\nthree\nfour\nfive`,
    conflicts: [{ line: 1, base: 'one\n', current: 'ONE\n', proposed: 'eins\n' }],
  })
  expect(await readCandidate(ctx, curator, first.candidateId)).toMatchObject({
    status: 'approved',
    seqId,
    before: lines.join('\n'),
    after: 'ONE\ntwo\nthree\nfour\nfive',
    decisions: [{ action: 'approve', by: 'The curator' }],
  })
})

/** The lines of a conflict, as git marks them. */
function marked(current: string, base: string, proposed: string): string {
  const { current: begin, base: before, proposed: middle, end } = conflictMarks
  return [begin, current, before, base, middle, proposed, end, ''].join('\n')
}

test('a page whose front matter conflicts is shown with all that was changed, and the conflict marked', async () => {
  const { ctx, curator, gitDir } = await newTestBed()
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const native = new NativeWriter(gitDir)
  const id = '0199a5c1-0000-7000-8000-00000000000a'
  const ingest = async (title: string, content: string) => {
    const origin = { id, editionOf: id, filename: 'Handbook.md', sha256: 'ab'.repeat(32), sourceUrl: null }
    const page: CompiledPage = { key: 'summary', kind: 'summary', title, content, tags: ['handbook'], place: {} }
    await commitSource(ctx, kb, { ...origin, isWanted: async () => true }, [page])
  }
  const path = 'neurons/sources/handbook-00000a.md'
  await ingest('Handbook', 'One.')
  const retitling = await submitCandidate(ctx, curator, correction('handbook_00000001', 'One.'))
  await approveCandidate(ctx, curator, retitling.candidateId, { title: 'My handbook' })
  await ingest('Handbook of 2026', 'Two.')
  const [waiting] = (await listCandidates(ctx, curator, { limit: 10, status: 'pending' })).candidates
  const candidateId = waiting?.candidateId ?? ''

  const conflicts = [
    {
      line: native.read('main', path).split('\n').indexOf('title: My handbook') + 1,
      ...{ base: 'title: Handbook\n', current: 'title: My handbook\n', proposed: 'title: Handbook of 2026\n' },
    },
  ]
  const shown = await readCandidate(ctx, curator, candidateId)
  expect(shown).toMatchObject({
    before: native.read('main', path),
    conflicts,
  })
  const both = ['title: My handbook', 'title: Handbook', 'title: Handbook of 2026'] as const
  expect(shown.after).toContain(marked(...both))
  expect(shown.after).toContain('Two.')
  await expect(approveCandidate(ctx, curator, candidateId, {})).rejects.toMatchObject({
    code: 'merge_conflict',
    details: { conflicts },
  })
})

test('decisions are kept in order, with who took them and why', async () => {
  const { ctx, app, curator } = await newTestBed()
  const { candidateId } = await submitCandidate(ctx, app, candidate())
  await dismissCandidate(ctx, curator, candidateId, { reason: 'Not now.' })
  await reopenCandidate(ctx, curator, candidateId)
  await approveCandidate(ctx, curator, candidateId, {})
  const { decisions } = await readCandidate(ctx, curator, candidateId)
  expect(decisions.map(({ action, by, reason }) => [action, by, reason])).toEqual([
    ['dismiss', 'The curator', 'Not now.'],
    ['reopen', 'The curator', undefined],
    ['approve', 'The curator', undefined],
  ])
})
