import { expect, test } from 'vitest'
import { verify } from '../../src/operate/verify/verify.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { previewCandidate, submitCandidate } from '../../src/queue/submit-candidate.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const words = Array.from(
  { length: 80 },
  (_, at) => `word${String.fromCharCode(97 + (at % 26))}${at % 3 === 0 ? 'x' : ''}`,
)
const long = `Escalate every ticket of a customer with a contract.\n\n${words.join(' ')}`
const sure = (changes: object = {}) => candidate({ content: long, confidence: 1, ...changes })
const unchanged = (seqId: string | undefined) => [{ code: 'unchanged', message: expect.any(String), seqId }]
const similar = (seqId: string | undefined) => ({ code: 'similar', message: expect.any(String), seqId })

test('an equal text makes no second page and no version, and is approved with the Neuron that has it', async () => {
  const { ctx, app, curator, gitDir, reopen } = await newTestBed()
  const pages = () => nativeGit(gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons']).split('\n').length
  const first = await submitCandidate(ctx, app, sure({ metadata: '{"tags":["a","b"]}' }))
  const { seqId = '' } = first
  const before = pages()
  const again = await submitCandidate(ctx, app, sure({ content: `${long}\r\n`, metadata: '{"tags":["b"]}' }))
  expect(again).toMatchObject({ status: 'approved', seqId, warnings: unchanged(seqId) })
  expect(again.candidateId).not.toBe(first.candidateId)
  const noop = await submitCandidate(ctx, app, correction(seqId, long, { confidence: 1 }))
  expect(noop).toMatchObject({ status: 'approved', seqId, warnings: unchanged(seqId) })
  expect(pages()).toBe(before)
  const neuron = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  expect(neuron).toMatchObject({ version: 1 })
  for (const { candidateId, commit } of [again, noop]) {
    const read = await readCandidate(ctx, curator, candidateId)
    expect(read).toMatchObject({ status: 'approved', seqId, commit, decisions: [{ action: 'approve' }] })
    expect(read.before).toBe(read.after)
  }
  const main = nativeGit(gitDir, ['rev-parse', 'main'])
  const now = await reopen()
  expect(await readCandidate(now, curator, again.candidateId)).toMatchObject({ status: 'approved', seqId })
  expect(nativeGit(gitDir, ['rev-parse', 'main'])).toBe(main)
})

test('equal texts at once are one page, and verify finds nothing wrong', async () => {
  const { ctx, app } = await newTestBed()
  const sent = await Promise.all(Array.from({ length: 8 }, () => submitCandidate(ctx, app, sure())))
  expect(new Set(sent.map(({ seqId }) => seqId)).size).toBe(1)
  expect(sent.filter(({ warnings }) => warnings?.[0]?.code === 'unchanged')).toHaveLength(7)
  const { kbs } = await verify(ctx)
  expect(kbs.flatMap(({ problems }) => problems)).toEqual([])
})

test('a text with what the page lacks is no equal one; one below the threshold waits', async () => {
  const { ctx, app, curator } = await newTestBed()
  const { seqId = '' } = await submitCandidate(ctx, app, sure())
  const tagged = await submitCandidate(
    ctx,
    app,
    correction(seqId, long, { confidence: 1, metadata: JSON.stringify({ targetNeuron: seqId, tags: ['new'] }) }),
  )
  expect(tagged).toMatchObject({ status: 'approved', seqId })
  expect(await readNeuron(ctx, curator, { kb: 'handbook', seqId })).toMatchObject({ version: 2, tags: ['new'] })
  const further = await submitCandidate(ctx, app, sure({ metadata: '{"tags":["other"]}' }))
  expect(further).toMatchObject({ status: 'pending', warnings: [similar(seqId)] })
  const waiting = sure({ confidence: 0.1, metadata: '{"tags":["new"]}' })
  const { candidateId: _, ...sent } = await submitCandidate(ctx, app, waiting)
  expect(sent).toMatchObject({ status: 'pending', warnings: unchanged(seqId) })
  const { warnings } = await previewCandidate(ctx, app, sure({ metadata: '{"tags":["new"]}' }), {})
  expect(warnings).toEqual(unchanged(seqId))
  const secret = { title: 'Secret', content: 'Hidden.' }
  const hidden = await submitCandidate(ctx, app, sure({ ...secret, metadata: '{"tags":["internal"]}' }))
  const guess = await submitCandidate(ctx, app, sure({ ...secret, confidence: 0.1 }))
  expect([hidden.status, guess.warnings]).toEqual(['approved', undefined])
})

test('a sender is told of three at most: what it has proposed, then pages', async () => {
  const { ctx, app, curator } = await newTestBed()
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    const { candidateId } = await submitCandidate(ctx, curator, candidate({ title, content: long }))
    await approveCandidate(ctx, curator, candidateId, {})
  }
  const { candidateId } = await submitCandidate(ctx, app, candidate({ title: 'Five', content: long }))
  const again = await submitCandidate(ctx, app, candidate({ title: 'Six', content: long }))
  expect(again.warnings).toEqual([
    { code: 'similar', message: expect.any(String), candidateId },
    ...[similar(expect.any(String)), similar(expect.any(String))],
  ])
})

test('a text that is nearly that of another page is told, and waits where it is a copy', async () => {
  const { ctx, app, curator } = await newTestBed()
  const { seqId } = await submitCandidate(ctx, app, sure())
  const copy = await submitCandidate(ctx, app, sure({ title: 'Escalation', content: long.replace('every', 'any') }))
  expect(copy).toMatchObject({ status: 'pending', warnings: [similar(seqId)] })
  const { candidateId } = copy
  await approveCandidate(ctx, curator, candidateId, {})
  // Another number is another fact, and a short text is alike by chance: its sender is told of the equal ones.
  const other = await submitCandidate(ctx, app, sure({ title: 'Year', content: long.replace('every', '500') }))
  expect(other.status).toBe('approved')
  expect(other.warnings).toHaveLength(2)
  const short = { content: 'See the page of the team.', confidence: 1 }
  const one = await submitCandidate(ctx, app, candidate({ ...short, title: 'One' }))
  expect(one).toMatchObject({ status: 'approved' })
  for (const title of ['Two', 'Three']) {
    const sent = await submitCandidate(ctx, app, candidate({ ...short, title }))
    expect(sent).toMatchObject({ status: 'approved', warnings: expect.arrayContaining([similar(one.seqId)]) })
  }
})

test('a page that the sender may not see is neither equal nor told', async () => {
  const { ctx, app, curator } = await newTestBed()
  const hidden = await submitCandidate(ctx, curator, sure({ metadata: '{"tags":["internal"]}' }))
  const sent = await submitCandidate(ctx, app, sure())
  expect(sent).toMatchObject({ status: 'approved' })
  expect(sent.seqId).not.toBe(hidden.seqId)
  expect(JSON.stringify(sent.warnings ?? [])).not.toContain(String(hidden.seqId))
})

test('a hidden page takes no place from a page that the sender sees', async () => {
  const filler = `${long.split(/\s+/).toReversed().join(' ')} filler`
  const warningsBeside = async (hidden: object[]) => {
    const { ctx, app, curator } = await newTestBed()
    const pages = [{}, ...hidden, ...Array.from({ length: 19 }, (_, at) => ({ title: `F ${at}`, content: filler }))]
    for (const page of pages) {
      const { candidateId } = await submitCandidate(ctx, curator, candidate({ content: long, ...page }))
      await approveCandidate(ctx, curator, candidateId, {})
    }
    const { warnings } = await submitCandidate(ctx, app, candidate({ title: 'Guess', content: long }))
    return warnings?.map(({ code, seqId }) => [code, seqId])
  }
  const alone = [['similar', 'handbook_00000001']]
  expect(await warningsBeside([])).toEqual(alone)
  expect(await warningsBeside([{ title: 'Secret', metadata: '{"tags":["internal"]}' }])).toEqual(alone)
})

test('no more text is compared with a sent one than its bound allows, and none of another length', async () => {
  const { ctx, app, curator } = await newTestBed()
  const huge = Array.from({ length: 30_000 }, (_, at) => `word${String.fromCharCode(97 + (at % 26))} ${at}`).join(' ')
  const content = `${long} ${huge}`
  for (const title of ['One', 'Two', 'Three', 'Short']) {
    const text = title === 'Short' ? long : `${content} ${title}`
    const { candidateId } = await submitCandidate(ctx, curator, candidate({ title, content: text }))
    await approveCandidate(ctx, curator, candidateId, {})
  }
  const { warnings } = await submitCandidate(ctx, app, candidate({ title: 'Four', content }))
  expect(warnings?.map(({ code }) => code)).toEqual(['similar', 'similar'])
})
