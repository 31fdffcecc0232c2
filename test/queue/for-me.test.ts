import { expect, test } from 'vitest'
import { mainRef } from '../../src/kb/refs/kb-refs.ts'
import { createApiKey } from '../../src/people/manage-api-keys.ts'
import { approveCandidate, assignCandidate, requestChanges } from '../../src/queue/decide-candidate.ts'
import { listCandidates, listSentCandidates, readSentCandidate } from '../../src/queue/lists/list-candidates.ts'
import { countForCaller, listQueue, neighboursOf } from '../../src/queue/lists/list-queue.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { signIn } from '../support/person.ts'
import { fc } from '../support/properties.ts'

async function newTeam(policy: string) {
  const bed = await newTestBed()
  const { ctx, app, curator, gitDir } = bed
  const { tenantId } = curator
  const native = new NativeWriter(gitDir)
  const kb = await ctx.kb(tenantId, 'handbook')
  const write = async (files: Record<string, string>) => {
    native.commit(mainRef, new Map(Object.entries(files)))
    await kb.sync()
  }
  await write({ 'kb.yaml': `${native.read(mainRef, 'kb.yaml')}\n${policy}` })
  const person = async (name: string): Promise<Caller & { email: string }> => {
    const email = `${name}@example.com`
    const { userId } = await signIn(ctx, 'acme', 'curator', { email, name })
    return { id: `user:${userId}`, email, name, tenantId, role: 'curator', connectors: [] }
  }
  const [ann, ben, cat] = [await person('ann'), await person('ben'), await person('cat')]
  const sent = async (about: object, by: Caller = app) =>
    (await submitCandidate(ctx, by, candidate({ title: 'Page', metadata: JSON.stringify(about) }))).candidateId
  const mine = async (by: Caller, more: object = {}) => {
    const { candidates } = await listCandidates(ctx, by, { for: 'me', limit: 50, ...more })
    return candidates.map(({ candidateId }) => candidateId)
  }
  const approve = (by: Caller, id: string) => approveCandidate(ctx, by, id, {})
  return { ...bed, kb, native, write, ann, ben, cat, sent, mine, approve }
}

const legal = 'owners:\n  - { paths: [neurons/Legal], tags: [contracts], people: [Ann@example.com, ben@example.com] }\n'

test('where any curator may approve, only what is assigned, or comes back, is for somebody', async () => {
  const { ctx, ann, ben, sent, mine } = await newTeam('')
  const [first, second] = [await sent({}), await sent({}, ben)]
  expect([await mine(ann), await mine(ben)]).toEqual([[], []])
  await assignCandidate(ctx, ben, first, { assignee: ann.email })
  expect([await mine(ann), await mine(ben)]).toEqual([[first], []])
  await requestChanges(ctx, ann, second, { reason: 'Say where.' })
  expect(await mine(ben)).toEqual([second])
  expect(await mine(ben, { status: 'approved' })).toEqual([])
})

test('an owner has what lies below their paths and tags until one of the owners approves', async () => {
  const { ann, ben, cat, sent, mine, approve } = await newTeam(`${legal}approvals: { red: 3 }\n`)
  const below = await sent({ path: 'legal/terms.md' })
  const tagged = await sent({ tags: ['Contracts/Lease'] })
  const strict = await sent({ actionZone: 'red', path: 'legal/strict.md' })
  await sent({ path: 'legal-notes/x.md', tags: ['contracts2'] })
  expect(await mine(ann)).toEqual([strict, below, tagged])
  expect(await mine(cat)).toEqual([strict])
  await approve(ann, strict)
  expect(await mine(ann)).toEqual([below, tagged])
  expect(await mine(ben)).toEqual([strict, below, tagged])
  await approve(cat, strict)
  expect(await mine(cat)).toEqual([])
})

test('a vote that does not count any more brings the candidate back to its voter', async () => {
  const { ann, ctx, cat, app, mine, approve, native, write, kb } = await newTeam('approvals: { red: 2 }\n')
  const written = 'For adults.\n\nOther.\n\nMore.\n\nThe dose is 5 mg.'
  const { candidateId: first } = await submitCandidate(ctx, app, candidate({ title: 'Dose', content: written }))
  await approve(cat, first)
  const { seq_id, path } = kb.projection.read.get`SELECT seq_id, path FROM neurons` ?? {}
  const [seqId, file] = [String(seq_id), String(path)]
  const text = written.replace('5 mg', '50 mg')
  const metadata = JSON.stringify({ targetNeuron: seqId, actionZone: 'red' })
  const { candidateId } = await submitCandidate(ctx, app, correction(seqId, text, { title: 'Dose', metadata }))
  await approve(ann, candidateId)
  expect([await mine(ann), await mine(cat)]).toEqual([[], [candidateId]])
  await write({ [file]: native.read(mainRef, file).replace('adults', 'newborn children') })
  expect(await mine(ann)).toEqual([candidateId])
})

test('a key has what its person sent, and nothing that a person is to own', async () => {
  const { ctx, ann, ben, sent, mine } = await newTeam(legal)
  const input = { name: 'desk', role: 'curator' as const, connectors: [], expiresAt: null }
  const { key } = await createApiKey(ctx, { ...ann, isAdmin: true }, input)
  const desk: Caller = { ...ann, id: `key:${key.id}`, name: 'desk' }
  const [below, own] = [await sent({ path: 'legal/a.md' }), await sent({}, desk)]
  await requestChanges(ctx, ben, own, { reason: 'Say where.' })
  expect(await mine(desk)).toEqual([own])
  expect(await mine(ann)).toEqual([below, own])
})

test('a person lists what their keys sent, and a key what it pushed, but no key what another sent', async () => {
  const { ctx, app, ann, sent } = await newTeam('')
  const input = { name: 'desk', role: 'curator' as const, connectors: [], expiresAt: null }
  const { key } = await createApiKey(ctx, { ...ann, isAdmin: true }, input)
  const desk: Caller = { ...ann, id: `key:${key.id}`, name: 'desk' }
  const [own, pushed, posted] = [
    await sent({}, ann),
    await sent({}, { ...desk, id: `git:${key.id}` }),
    await sent({}, desk),
  ]
  const listed = async (by: Caller, limit = 10) => {
    const { candidates, nextCursor } = await listSentCandidates(ctx, by, { limit })
    return [...candidates.map(({ candidateId }) => candidateId), ...(nextCursor === null ? [] : ['more'])]
  }
  expect(await listed(ann)).toEqual([posted, pushed, own])
  expect(await listed(ann, 2)).toEqual([posted, pushed, 'more'])
  expect(await listed(desk)).toEqual([posted, pushed])
  expect(await listed(app)).toEqual([])
  expect(await readSentCandidate(ctx, ann, posted)).toMatchObject({ candidateId: posted, content: expect.any(String) })
  await expect(readSentCandidate(ctx, desk, own)).rejects.toMatchObject({ code: 'not_found' })
})

test('counts, neighbours and pages of the list are of the same candidates', async () => {
  const { ctx, ann, sent, mine, kb } = await newTeam(legal)
  const ids = []
  for (let n = 0; n < 5; n++) {
    ids.push(await sent({ path: `legal/${n}.md` }))
    await sent({ path: `guides/${n}.md` })
  }
  expect(await mine(ann)).toEqual(ids)
  const page = await listQueue(ctx, ann, { for: 'me', status: 'pending', limit: 2 })
  expect(page.entries.map(({ id, awaiting }) => [id, awaiting?.owners])).toEqual(
    ids.slice(0, 2).map((id) => [id, [['Ann@example.com', 'ben@example.com']]]),
  )
  expect([page.counts.zone.none, page.counts.status.pending, page.forCaller]).toEqual([5, 5, 5])
  expect(await countForCaller(ctx, ann)).toBe(5)
  const rest = await listQueue(ctx, ann, { for: 'me', status: 'pending', limit: 3, after: page.next ?? '' })
  expect(rest.entries.map(({ id }) => id)).toEqual(ids.slice(2))
  const row = rest.entries[0]
  expect(row && (await neighboursOf(ctx, ann, row, { for: 'me', status: 'pending' }))).toEqual({
    ...{ previous: ids[1], next: ids[3], count: 5 },
  })
  expect(kb.projection.read.get`SELECT count(*) AS n FROM candidates`?.n).toBe(10)
})

test('whatever the rules and votes, a candidate is for those whose approval it lacks', async () => {
  const policies = fc.record({
    owned: fc.constantFrom('neurons', 'legal', 'neurons/legal/', 'legal/a.md', 'LEGAL'),
    tag: fc.constantFrom('contracts', 'news'),
    red: fc.integer({ min: 1, max: 3 }),
    own: fc.boolean(),
    people: fc.subarray(['ann', 'ben', 'cat'], { minLength: 1 }),
  })
  const about = fc.record(
    {
      path: fc.constantFrom('legal/a.md', 'legal/b.md', 'legality/a.md', 'guides/a.md'),
      tags: fc.subarray(['contracts', 'news/2026', 'ops']),
      actionZone: fc.constantFrom('red', 'yellow'),
    },
    { requiredKeys: [] },
  )
  const step = fc.record({
    about,
    by: fc.constantFrom('app', 'ann', 'ben'),
    voters: fc.subarray(['ann', 'ben', 'cat']),
  })
  await fc.assert(
    fc.asyncProperty(policies, fc.array(step, { minLength: 1, maxLength: 3 }), async (policy, steps) => {
      const { owned, tag, red, own, people } = policy
      const named = people.map((name) => `${name}@example.com`).join(', ')
      const team = await newTeam(
        `owners:\n  - { paths: [${owned}], people: [${named}] }\n  - { paths: [], tags: [${tag}], people: [ben@example.com] }\n` +
          `approvals: { red: ${red} }\nauthorMayApprove: ${own}\n`,
      )
      const callers: Record<string, Caller> = { app: team.app, ann: team.ann, ben: team.ben, cat: team.cat }
      const ids = []
      for (const { about, by, voters } of steps) {
        const id = await team.sent(about, callers[by])
        ids.push(id)
        for (const name of voters) await team.approve(callers[name] as Caller, id).catch(() => undefined)
      }
      for (const who of [team.ann, team.ben, team.cat]) {
        const expected = []
        for (const [at, id] of ids.entries()) {
          const { status, awaiting, zone, decisions } = await readCandidate(team.ctx, team.curator, id)
          const hasVoted = decisions.some(({ action, by }) => action === 'approve' && by === who.name)
          const isAuthor = !own && steps[at]?.by === who.name
          const isOne = awaiting?.owners.some((names) => names.includes(who.email)) || (zone === 'red' && red > 1)
          if (status === 'pending' && isOne && !hasVoted && !isAuthor && awaiting !== undefined) expected.push(id)
        }
        expect((await team.mine(who)).sort()).toEqual(expected.sort())
      }
    }),
    { numRuns: 12 },
  )
}, 120_000)
