import { expect, test } from 'vitest'
import { GanglionError } from '../../src/contract/errors.ts'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { approveCandidate, commentCandidate, requestChanges } from '../../src/queue/decide-candidate.ts'
import { readCandidate, readForReview } from '../../src/queue/read-candidate.ts'
import { reviseCandidate, withdrawCandidate } from '../../src/queue/revise-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, newTestBed } from '../kb/support/test-bed.ts'
import { signIn } from '../support/person.ts'
import { fc, runs } from '../support/properties.ts'

const curators = ['ann', 'ben', 'cat'] as const
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ act: fc.constant('approve' as const), by: fc.constantFrom(...curators) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('revise' as const), checks: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('request' as const), by: fc.constantFrom(...curators) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('comment' as const), by: fc.constantFrom(...curators) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('withdraw' as const), checks: fc.boolean() }) },
)

test('whatever happens at once, a candidate is one line of versions, and each approval is for the text that its approver read', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const native = new NativeWriter(bed.gitDir)
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  native.commit(mainRef, new Map([['kb.yaml', `${native.read(mainRef, 'kb.yaml')}\napprovals: { red: 2 }\n`]]))
  await kb.sync()
  const people = new Map<string, Caller>()
  for (const name of curators) {
    const { userId } = await signIn(ctx, 'acme', 'curator', { email: `${name}@example.com`, name })
    people.set(name, { ...curator, id: `user:${userId}`, name })
  }
  const caller = (name: string) => people.get(name) as Caller
  let [texts, landed] = [0, 0]

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 2, maxLength: 3 }), { minLength: 2, maxLength: 8 }),
      async (rounds) => {
        const textOf = () => `Text ${texts++} of the page.`
        const metadata = JSON.stringify({ actionZone: 'red' })
        const { candidateId: id } = await submitCandidate(
          ctx,
          app,
          candidate({ title: `Page ${texts}`, content: textOf(), metadata }),
        )
        /** Text that each curator read before the approval that was taken last. */
        const approved = new Map<string, string>()
        let revised = 0
        for (const acts of rounds) {
          const { detail, version: tag } = await readForReview(ctx, curator, id)
          const ifMatch = `"${tag}.any"`
          const { content: text, metadata } = detail
          const outcomes = await Promise.allSettled(
            acts.map(async (each) => {
              if (each.act === 'approve') await approveCandidate(ctx, caller(each.by), id, { ifMatch })
              else if (each.act === 'request') await requestChanges(ctx, caller(each.by), id, { reason: 'Say more.' })
              else if (each.act === 'comment') await commentCandidate(ctx, caller(each.by), id, { comment: 'Hm.' })
              else if (each.act === 'withdraw') await withdrawCandidate(ctx, app, id, each.checks ? { ifMatch } : {})
              else await reviseCandidate(ctx, app, id, { content: textOf(), metadata, ...(each.checks && { ifMatch }) })
            }),
          )
          for (const [at, { status, ...outcome }] of outcomes.entries()) {
            const each = acts[at]
            if (status === 'rejected') expect(Object(outcome).reason).toBeInstanceOf(GanglionError)
            else if (each?.act === 'revise') revised++
            else if (each?.act === 'approve') approved.set(each.by, text)
          }
        }
        const { status, version, decisions } = await readCandidate(ctx, curator, id)
        expect(version).toBe(revised + 1)
        expect(decisions.filter(({ action }) => action === 'revise')).toHaveLength(revised)
        if (status !== 'approved') return
        landed++
        const { seq_id: seqId, path } =
          kb.projection.read.get`SELECT seq_id, path FROM neurons WHERE candidate_id = ${id}` ?? {}
        expect(seqId).toBeDefined()
        const page = native.read(mainRef, String(path))
        const log = native.git(
          'log',
          '-1',
          '--format=%(trailers:key=Approved-By,valueonly)',
          mainRef,
          '--',
          String(path),
        )
        const names = log
          .trim()
          .split('\n')
          .map((line) => line.split(' <')[0] ?? '')
        expect(new Set(names).size).toBe(2)
        for (const name of names) expect(page).toContain(approved.get(name))
      },
    ),
    { numRuns: runs(200, 30) },
  )
  expect(landed).toBeGreaterThan(2)
}, 120_000)
