import { expect, test } from 'vitest'
import { ValidationError } from '../../src/contract/errors.ts'
import { audienceClone } from '../../src/kb/clone/audience-clone.ts'
import { recordCandidate } from '../../src/kb/writing/commits.ts'
import { parseCandidate } from '../../src/markdown/file/candidate-file.ts'
import { readBlame } from '../../src/pages/blame/read-blame.ts'
import { readHistory } from '../../src/pages/read-history.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { listCandidates, listSentCandidates, readSentCandidate } from '../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { reviseCandidate } from '../../src/queue/revise-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { proposeUndo } from '../../src/review/propose-undo.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate, correction, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { anyCharacter, fc, runs } from '../support/properties.ts'

const ann = { id: 'u-17', name: 'Ann Lee' }
const metadata = (onBehalfOf: unknown, more: object = {}) => JSON.stringify({ ...more, onBehalfOf })
const sentFor = (onBehalfOf: unknown, changes: object = {}) => candidate({ metadata: metadata(onBehalfOf), ...changes })

function trailersOn({ gitDir }: TestBed, commit: string, key: string): string[] {
  const format = `--format=%(trailers:key=${key},valueonly)`
  return nativeGit(gitDir, ['log', '-1', format, commit]).split('\n').filter(Boolean)
}

test('the end user of a candidate is shown to curators and its sender, and stands in the commit of the approval', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator, reader, kbId } = bed
  const { candidateId } = await submitCandidate(ctx, app, sentFor(ann))
  await submitCandidate(ctx, app, sentFor({ id: 'u-18' }, { title: 'Other', content: 'Other.' }))
  await submitCandidate(ctx, app, candidate({ title: 'Nobody’s', content: 'Nobody’s.' }))
  expect(await readCandidate(ctx, curator, candidateId)).toMatchObject({ onBehalfOf: ann, createdBy: 'The app' })
  const listed = async (onBehalfOf: string) =>
    (await listCandidates(ctx, curator, { onBehalfOf, limit: 10 })).candidates.map(({ title }) => title)
  expect([await listed('u-17'), await listed('u-18'), await listed('u-1'), await listed('Ann Lee')]).toEqual([
    ['VIP escalation policy'],
    ['Other'],
    [],
    [],
  ])
  expect(await readSentCandidate(ctx, app, candidateId)).toMatchObject({ onBehalfOf: ann })
  const own = await listSentCandidates(ctx, app, { onBehalfOf: 'u-17', limit: 10 })
  expect(own.candidates.map((each) => each.candidateId)).toEqual([candidateId])

  const { seqId = '', commit = '' } = await approveCandidate(ctx, curator, candidateId, {})
  expect(trailersOn(bed, commit, 'On-Behalf-Of')).toEqual(['Ann Lee <u-17>'])
  expect(trailersOn(bed, commit, 'Approved-By')).toEqual(['The curator <key:curator-key>'])
  // The page does not tell it, and so nobody who reads the page.
  expect(nativeGit(bed.gitDir, ['log', '-p', '--format=', 'main'])).not.toMatch(/Ann Lee|u-17|onBehalf/)
  const kb = await ctx.kb(app.tenantId, 'handbook')
  const clone = await audienceClone(ctx, kb, 'tool')
  const told = [
    nativeGit(clone, ['cat-file', '--batch', '--batch-all-objects', '--unordered']),
    ...(await Promise.all(
      [reader, app].flatMap((caller) => [
        readNeuron(ctx, caller, { kb: 'handbook', seqId }),
        readHistory(ctx, caller, { kb: 'handbook', seqId, limit: 10 }),
        readBlame(ctx, caller, { kb: 'handbook', seqId }),
      ]),
    )),
  ]
  expect(JSON.stringify(told)).toContain('page the lead')
  expect(JSON.stringify(told)).not.toMatch(/Ann Lee|u-17|behalf/i)
  expect(kbId).toBe(kb.identity.id)
})

test('a text that cannot be an end user is refused and stores nothing; any other stays within its trailer', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator } = bed
  const wrong = [
    ...['Ann', 7, [], {}, { name: 'Ann' }, { id: 7 }, { id: '' }, { id: ' u' }, { id: 'u\n' }, { id: 'u\u2028v' }],
    ...[{ id: 'a\u202eb' }, { id: 'u'.repeat(201) }, { id: 'u', name: 'x'.repeat(201) }, { id: 'u', name: '' }],
    ...[{ id: 'u', name: 'x\n\nApproved-By: root <key:root>' }, { id: 'u> <key:root' }, { id: 'u', name: null }],
  ]
  for (const onBehalfOf of wrong) {
    const refused = await submitCandidate(ctx, app, sentFor(onBehalfOf)).catch((error) => error)
    expect(refused).toBeInstanceOf(ValidationError)
    expect(refused.fieldErrors.metadata[0]).toMatch(/^onBehalfOf /)
  }
  expect((await listCandidates(ctx, curator, { limit: 10 })).candidates).toEqual([])
  expect(await submitCandidate(ctx, app, sentFor(null))).toMatchObject({ status: 'pending' })

  const line = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(line, line, fc.uuid(), async (id, name, title) => {
      const input = sentFor({ id, name }, { title, content: title })
      const sent = await submitCandidate(ctx, app, input).catch((error: unknown) => {
        expect(error).toBeInstanceOf(ValidationError)
      })
      if (sent === undefined) return
      const { commit = '' } = await approveCandidate(ctx, curator, sent.candidateId, {})
      expect(trailersOn(bed, commit, 'Approved-By')).toEqual(['The curator <key:curator-key>'])
      expect(trailersOn(bed, commit, 'On-Behalf-Of')).toHaveLength(1)
      const found = await listCandidates(ctx, curator, { onBehalfOf: id, limit: 10 })
      expect(found.candidates.map(({ onBehalfOf }) => onBehalfOf)).toContainEqual({ id, name })
    }),
    { numRuns: runs(20) },
  )
  const emoji = { id: '🦦'.repeat(200), name: '👩‍👩‍👧'.repeat(40) }
  const { candidateId } = await submitCandidate(ctx, app, sentFor(emoji, { title: 'Otters', content: 'Otters.' }))
  const { commit = '' } = await approveCandidate(ctx, curator, candidateId, {})
  expect(trailersOn(bed, commit, 'On-Behalf-Of')).toEqual([`${emoji.name} <${emoji.id}>`])
})

test('the text of an end user names nobody, nor does a record from before', async () => {
  const { ctx, app, curator, kbId } = await newTestBed()
  const content = '---\nonBehalfOf: {id: u-18, name: Victim}\ntags: [a]\n---\nText.\n'
  const sent = await submitCandidate(ctx, app, candidate({ content }))
  expect(sent.warnings?.map(({ code }) => code)).toEqual(['reserved_keys'])
  expect(await readCandidate(ctx, curator, sent.candidateId)).not.toHaveProperty('onBehalfOf')
  const own = await submitCandidate(ctx, app, sentFor(ann, { title: 'Mine', content }))
  expect(await readCandidate(ctx, curator, own.candidateId)).toMatchObject({ onBehalfOf: ann })
  await reviseCandidate(ctx, app, own.candidateId, { content: content.replace('Text', 'Other text'), metadata: null })
  expect(await readCandidate(ctx, curator, own.candidateId)).toMatchObject({ version: 2, onBehalfOf: ann })

  const kb = await ctx.kb(app.tenantId, 'handbook')
  const old = candidateIdFor(kbId)
  await kb.write(async (staging) => {
    const [row] = kb.projection.write.all`SELECT blob FROM candidates WHERE id = ${own.candidateId}`
    const record = parseCandidate(await staging.readText(String(row?.blob)))
    const changes = { id: old, title: 'Old', content: 'Old.', metadata: '{"onBehalfOf":"Ann"}', decisions: [] }
    await recordCandidate(kb, staging, { ...record, ...changes }, 'Propose')
  })
  expect(await readCandidate(ctx, curator, old)).not.toHaveProperty('onBehalfOf')
  expect(await approveCandidate(ctx, curator, old, {})).toMatchObject({ status: 'approved' })
})

test('a version keeps the end user, names another, or none', async () => {
  const { ctx, app, curator } = await newTestBed()
  const { candidateId } = await submitCandidate(ctx, app, sentFor(ann))
  const revise = async (content: string, sent: string | null) => {
    await reviseCandidate(ctx, app, candidateId, { content, metadata: sent })
    const { version, onBehalfOf } = await readCandidate(ctx, curator, candidateId)
    return [version, onBehalfOf?.id]
  }
  expect(await revise('Two.', null)).toEqual([2, 'u-17'])
  expect(await revise('Three.', '{"tags":["a"]}')).toEqual([3, 'u-17'])
  // An answer that was lost.
  expect(await revise('Three.', '{"tags":["a"]}')).toEqual([3, 'u-17'])
  expect(await revise('Three.', metadata({ id: 'u-18' }))).toEqual([4, 'u-18'])
  expect((await listCandidates(ctx, curator, { onBehalfOf: 'u-17', limit: 10 })).candidates).toEqual([])
  await expect(revise('Three.', metadata({ id: '' }))).rejects.toThrow(ValidationError)
  expect(await revise('Five.', metadata(null))).toEqual([5, undefined])
})

test('what came on behalf of one end user of a key is taken back, and nothing of others', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator, reader } = bed
  const other = { ...app, id: 'key:other', name: 'Other app' }
  const taken = async (title: string, onBehalfOf: object | undefined, sender = app) => {
    const input = candidate({ title, content: title, ...(onBehalfOf && { metadata: metadata(onBehalfOf) }) })
    const { candidateId } = await submitCandidate(ctx, sender, input)
    return (await approveCandidate(ctx, curator, candidateId, {})).seqId ?? ''
  }
  const anns = await taken('Ann’s', ann)
  const bobs = await taken('Bob’s', { id: 'u-18', name: 'Bob' })
  await taken('Own', undefined)
  await taken('Ann of another app', ann, other)
  const changed = metadata(ann, { targetNeuron: bobs })
  const change = await submitCandidate(
    ctx,
    app,
    correction(bobs, 'Bob’s, by Ann', { title: 'Bob’s', metadata: changed }),
  )
  await approveCandidate(ctx, curator, change.candidateId, {})
  const undo = { by: 'key', writer: app.id.slice('key:'.length), since: '2020-01-01', dryRun: false } as const
  const asked = { ...undo, onBehalfOf: 'u-17' }
  expect((await proposeUndo(ctx, curator, 'handbook', { ...asked, onBehalfOf: 'u-1' })).reversals).toEqual([])
  const { reversals } = await proposeUndo(ctx, curator, 'handbook', asked)
  expect(reversals.map(({ seqId, action }) => [seqId, action])).toEqual([
    [anns, 'remove'],
    [bobs, 'change'],
  ])
  expect((await proposeUndo(ctx, curator, 'handbook', asked)).reversals).toEqual(reversals)
  const [first] = reversals
  expect(await readCandidate(ctx, curator, first?.candidateId ?? '')).toMatchObject({ createdBy: 'The curator' })
  for (const { candidateId } of reversals) await approveCandidate(ctx, curator, candidateId ?? '', {})
  expect((await readNeuron(ctx, reader, { kb: 'handbook', seqId: bobs })).content).toBe('Bob’s')
  const connector = { ...asked, by: 'connector', writer: 'api' } as const
  const ofAll = await proposeUndo(ctx, curator, 'handbook', { ...connector, dryRun: true })
  expect(ofAll.reversals.map(({ title }) => title)).toEqual(['Ann of another app'])
})

test('a merge, a rename and an equal text name the end user in their commits alone', async () => {
  const bed = await newTestBed()
  const { ctx, app, curator, gitDir } = bed
  const lines = ['one', 'two', 'three', 'four', 'five', 'six']
  const { candidateId } = await submitCandidate(ctx, app, sentFor(ann, { title: 'Page', content: lines.join('\n\n') }))
  const { seqId = '' } = await approveCandidate(ctx, curator, candidateId, {})
  const text = (at: number, line: string) => lines.with(at, line).join('\n\n')
  const based = (id: string) => metadata({ id }, { targetNeuron: seqId, baseVersion: 1 })
  const changes = await Promise.all(
    [
      correction(seqId, text(0, 'ONE'), { title: 'Page', metadata: based('first') }),
      correction(seqId, text(5, 'SIX'), { title: 'Renamed', metadata: based('second') }),
    ].map((input) => submitCandidate(ctx, app, input)),
  )
  const link = candidate({ title: 'Link', content: 'See [[Page]].', confidence: 1 })
  await submitCandidate(ctx, app, link)
  const named: string[][] = []
  for (const change of changes) {
    const { commit = '' } = await approveCandidate(ctx, curator, change.candidateId, {})
    named.push(trailersOn(bed, commit, 'On-Behalf-Of'))
  }
  expect(named).toEqual([['first <first>'], ['second <second>']])
  const { content } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  expect(content).toBe(lines.with(0, 'ONE').with(5, 'SIX').join('\n\n'))
  const again = { title: 'Renamed', content, confidence: 1 }
  const equal = await submitCandidate(ctx, app, sentFor({ id: 'third' }, again))
  expect(equal).toMatchObject({ status: 'approved', seqId, warnings: [{ code: 'unchanged' }] })
  expect(trailersOn(bed, equal.commit ?? '', 'On-Behalf-Of')).toEqual(['third <third>'])
  expect(nativeGit(gitDir, ['log', '-p', '--format=', 'main'])).not.toMatch(/u-17|behalf/i)
})
