import { expect, test } from 'vitest'
import { GanglionError, ValidationError } from '../../../src/contract/errors.ts'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { bundleOf } from '../../../src/kb/projection/candidate-queue.ts'
import { openBlankPage, openPage } from '../../../src/pages/write/open-page.ts'
import { removePage, type WriteOptions, writePage } from '../../../src/pages/write/write-page.ts'
import type { PageWrite } from '../../../src/pages/write/written-page.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { neuronText, seq, writtenBed } from '../../kb/support/written-neurons.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const body = '\nPage the lead.\n\nThen call.\n'
const page = `---\nseqId: ${seq(1)}\n# who decides\ntitle: "VIP policy"\ntags: [policy] # first\naudience: [tool]\n---\n${body}`

/** A bed with one page, and a person who writes there. */
async function newWriter(text = page, others: Record<string, string> = {}) {
  const bed = await writtenBed({ 'vip.md': text, ...others })
  const { ctx, curator } = bed
  const open = (at?: string, number = 1) => openPage(ctx, curator, { kb: 'handbook', seqId: seq(number), at })
  const write = (it: PageWrite, options: Partial<WriteOptions> = {}, as: Caller = curator) =>
    writePage(ctx, as, it, {
      ...{ kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: true },
      ...options,
    })
  const file = (path = 'neurons/vip.md') => bed.native.read('refs/heads/main', path)
  const commit = bed.write
  return { ...bed, commit, open, write, file }
}

async function versionOf({ open }: { open: () => ReturnType<typeof openPage> }) {
  return { seqId: seq(1), base: (await open()).commit }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error) =>
      error instanceof GanglionError ? error.code : error instanceof ValidationError ? 'invalid' : `${error}`,
  )
}

test('the limits of a key hold for a revision, also for one with a note', async () => {
  const bed = await newWriter()
  const { ctx, curator } = bed
  const record = { tenantId: curator.tenantId, name: 'Desk', role: 'curator' as const, connectors: [], expiresAt: null }
  const { key } = await ctx.apiKeys.create(record, new Date())
  const candidateId = candidateIdFor(bed.kbId)
  const as = { ...curator, id: `key:${key.id}` }
  const target = await versionOf(bed)
  const write = (content: string, note?: string) =>
    codeOf(bed.write({ target, changes: { content } }, { candidateId, note, publish: false }, as))
  expect(await write('Page nobody.')).toBe('done')
  const limits = { pending: null, approved: null, paths: ['neurons/drafts'], tags: [] }
  await ctx.apiKeys.limit(key.id, limits, curator.tenantId)
  expect(await write('Page all.')).toBe('insufficient_role')
  expect(await write('Page all.', 'Sure.')).toBe('insufficient_role')
})

test('a curator publishes a change: one candidate and one approval, both under their name', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  const changes = { title: 'VIP rule', content: 'Page the lead.\r\n\r\nThen call twice.' }
  const outcome = await bed.write({ target, changes }, { note: 'Once is not enough.' })
  expect(outcome).toMatchObject({ status: 'approved', seqId: seq(1) })
  const text = bed.file()
  expect(text).toMatch(/^---\nseqId: handbook_00000001\n# who decides\ntitle: VIP rule\ntags: \[policy\] # first\n/)
  expect(text).toMatch(/---\n\nPage the lead\.\n\nThen call twice\.\n$/)
  const record = await readCandidate(bed.ctx, bed.curator, outcome.candidateId)
  expect(record).toMatchObject({ status: 'approved', connector: 'console', kind: 'user-correction' })
  expect(record.createdBy).toBe('The curator')
  expect(record.decisions).toEqual([
    { action: 'comment', at: expect.any(String), by: 'The curator', reason: 'Once is not enough.' },
    { action: 'approve', at: expect.any(String), by: 'The curator' },
  ])
  expect((await bed.read(1))?.title).toBe('VIP rule')
})

test('a proposal waits, and another curator approves it', async () => {
  const bed = await newWriter()
  const before = bed.file()
  const outcome = await bed.write(
    { target: await versionOf(bed), changes: { tags: ['policy', 'vip'] } },
    { publish: false },
  )
  expect(outcome).toEqual({ candidateId: expect.any(String), status: 'pending' })
  expect(bed.file()).toBe(before)
  await approveCandidate(bed.ctx, bed.curator, outcome.candidateId, {})
  expect(bed.file()).toContain('tags: [policy, vip] # first\n')
})

test.each(['reader', 'app'] as const)('a %s writes nothing and opens nothing', async (role) => {
  const bed = await newWriter()
  const { ctx } = bed
  const as = bed[role]
  const target = await versionOf(bed)
  const options = { kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: true }
  expect(await codeOf(bed.write({ target, changes: { content: 'x' } }, {}, as))).toBe('insufficient_role')
  expect(await codeOf(removePage(ctx, as, target, options))).toBe('insufficient_role')
  expect(await codeOf(openPage(ctx, as, { kb: 'handbook', seqId: seq(1) }))).toBe('insufficient_role')
  expect(await codeOf(openBlankPage(ctx, as, { kb: 'handbook' }))).toBe('insufficient_role')
})

test('a new page stands where it is wished, or where the server puts it', async () => {
  const bed = await newWriter()
  const changes = {
    title: 'On-call: <b>who</b> 🙂',
    content: 'A\r\nB',
    edges: [{ type: 'cites' as const, target: 'VIP policy' }],
  }
  await bed.write({ path: 'teams/On call', changes })
  expect(bed.file('neurons/teams/On call.md')).toMatch(/title: "On-call: <b>who<\/b> 🙂"\n(.*\n)*---\n\nA\nB\n$/)
  const { seqId } = Object(await bed.write({ changes: { title: 'Untold', content: '' } }))
  expect((await openPage(bed.ctx, bed.curator, { kb: 'handbook', seqId })).path).toMatch(
    /^neurons\/\d{4}\/\d\d\/untold\.md$/,
  )
})

test.each([
  ['a path that another page has', { path: 'VIP' }, 'path'],
  ['a folder where a page is', { path: 'vip.md/x' }, 'path'],
  ['a page where a folder is', { path: 'a' }, 'path'],
  ['no title', { changes: { title: ' \u202e ' } }, 'title'],
])('%s is refused, and nothing is written', async (_, write, field) => {
  const bed = await newWriter(page, { 'a.md/deep.md': neuronText(2, { title: 'Deep' }) })
  const queue = () => bed.native.git('for-each-ref', 'refs/ganglion/queue')
  const before = queue()
  await expect(bed.write({ changes: { title: 'New', content: '' }, ...write })).rejects.toMatchObject({
    fieldErrors: { [field]: [expect.any(String)] },
  })
  expect(queue()).toBe(before)
})

test('what others changed meanwhile is merged', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  await bed.write({ target, changes: { content: 'Page the lead at once.\n\nThen call.', tags: ['policy', 'now'] } })
  const outcome = await bed.write({ target, changes: { content: 'Page the lead.\n\nThen call twice.' } })
  expect(outcome.status).toBe('approved')
  expect(bed.file()).toMatch(/tags: \[policy, now\] # first\n(.*\n)*\nPage the lead at once\.\n\nThen call twice\.\n$/)
})

test('a conflict keeps what was typed on the queue, says what both sides have, and is solved by writing again', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  const candidateId = candidateIdFor(bed.kbId)
  await bed.write({ target, changes: { content: 'Page the boss.\n\nThen call.' } })
  const outcome = await bed.write({ target, changes: { content: 'Page nobody.\n\nThen call.' } }, { candidateId })
  expect(outcome).toMatchObject({
    candidateId,
    status: 'pending',
    refusal: {
      code: 'merge_conflict',
      conflicts: [{ current: expect.stringContaining('the boss'), proposed: expect.stringContaining('nobody') }],
    },
  })
  expect(bed.file()).toContain('Page the boss.')
  expect((await readCandidate(bed.ctx, bed.curator, candidateId)).content).toContain('Page nobody.')

  const latest = await versionOf(bed)
  const solved = { target: latest, changes: { content: 'Page the boss or nobody.\n\nThen call.' } }
  expect(await bed.write(solved, { candidateId })).toMatchObject({ candidateId, status: 'approved' })
  expect(bed.file()).toContain('Page the boss or nobody.')
  const { decisions } = await readCandidate(bed.ctx, bed.curator, candidateId)
  expect(decisions.map(({ action }) => action)).toEqual(['revise', 'approve'])
})

test('a proposal on an old version says at once that it conflicts, and waits', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  await bed.write({ target, changes: { title: 'A' } })
  const outcome = await bed.write({ target, changes: { title: 'B' } }, { publish: false })
  expect(outcome).toMatchObject({ status: 'pending', refusal: { code: 'merge_conflict' } })
})

test('what is sent twice is written once', async () => {
  const bed = await newWriter()
  const write = { target: await versionOf(bed), changes: { content: 'Twice.' } }
  const options = { candidateId: candidateIdFor(bed.kbId) }
  const [first, second] = await Promise.all([bed.write(write, options), bed.write(write, options)])
  expect(second).toEqual(first)
  expect(await bed.write(write, options)).toEqual(first)
  const other = await bed.write({ ...write, target: await versionOf(bed), changes: { content: 'Thrice.' } }, options)
  expect(other).toMatchObject({ status: 'approved' })
  expect(other.candidateId).not.toBe(options.candidateId)
})

test('a dismissed proposal that is sent again is proposed anew', async () => {
  const bed = await newWriter()
  const write = { target: await versionOf(bed), changes: { content: 'Again.' } }
  const options = { candidateId: candidateIdFor(bed.kbId), publish: false }
  await bed.write(write, options)
  await dismissCandidate(bed.ctx, bed.curator, options.candidateId, {})
  expect((await bed.write(write, options)).candidateId).not.toBe(options.candidateId)
})

test("nobody writes over another's proposal, nor under an id of another knowledge base", async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  const options = { candidateId: candidateIdFor(bed.kbId), publish: false }
  await bed.write({ target, changes: { content: 'Mine.' } }, options)
  const other = { ...bed.curator, id: 'user:other' }
  expect(await codeOf(bed.write({ target, changes: { content: 'Theirs.' } }, options, other))).toBe('not_found')
  expect(await codeOf(bed.write({ changes: { title: 'New', content: '' } }, options))).toBe('not_found')
  const foreign = { candidateId: candidateIdFor('019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f') }
  expect(await codeOf(bed.write({ target, changes: { content: 'x' } }, foreign))).toBe('not_found')
})

test('a write that changes nothing, or is made upon no version, is refused', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  const { content, title } = await bed.open()
  expect(await codeOf(bed.write({ target, changes: { content: content.replaceAll('\n', '\r\n'), title } }))).toBe(
    'invalid',
  )
  expect(await codeOf(bed.write({ target: { ...target, base: 'f'.repeat(40) }, changes: { content: 'x' } }))).toBe(
    'invalid',
  )
})

test('CRLF, a mark at the start and what stands around the fields stay as they were', async () => {
  const text = `\uFEFF---\r\nmine: kept # so\r\nseqId: ${seq(1)}\r\ntags:\r\n  - a # first\r\n---\r\nOne.\r\nTwo.`
  const bed = await newWriter(text)
  await bed.write({ target: await versionOf(bed), changes: { content: 'One.\r\n2.\r\nمرحبا 🙂' } })
  expect(bed.file()).toMatch(
    /^\uFEFF---\r\nmine: kept # so\r\nseqId: handbook_00000001\r\ntags:\r\n {2}- a # first\r\n/,
  )
  expect(bed.file()).toMatch(/---\r\nOne\.\r\n2\.\r\nمرحبا 🙂\n$/)
})

test('an audience is set, emptied and given back to the knowledge base', async () => {
  const bed = await newWriter()
  const set = async (audience: string[] | null) => {
    await bed.write({ target: await versionOf(bed), changes: { audience } })
    return (await bed.open()).audience
  }
  expect(await set(['public', 'student'])).toEqual(['public', 'student'])
  expect(await set([])).toEqual([])
  expect(await bed.read(1, bed.app)).toBeUndefined()
  expect(await set(null)).toBeUndefined()
})

test('a rename moves the page and keeps the links to it whole', async () => {
  const bed = await newWriter(page, { 'a.md': neuronText(2, {}, '[[VIP policy]] [[vip]]\n') })
  await bed.write({ target: await versionOf(bed), path: 'rules/vip rule', changes: { title: 'VIP rule' } })
  expect((await bed.open()).path).toBe('neurons/rules/vip rule.md')
  expect((await bed.open()).aliases).toEqual(['VIP policy', 'vip'])
  expect((await bed.read(2))?.unresolved).toEqual([])
})

test('a move is refused where somebody else has moved the page meanwhile', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  await bed.write({ target, path: 'first', changes: {} })
  await expect(bed.write({ target, path: 'second', changes: {} })).rejects.toMatchObject({
    fieldErrors: { path: ['was changed by somebody else, to neurons/first.md'] },
  })
})

test('a page is removed as its remover saw it, and a text that was typed meanwhile waits', async () => {
  const bed = await newWriter()
  const target = await versionOf(bed)
  const options = () => ({ kb: 'handbook', candidateId: candidateIdFor(bed.kbId), publish: true })
  await bed.write({ target, changes: { content: 'Changed.' } })
  expect(await removePage(bed.ctx, bed.curator, target, options())).toMatchObject({
    status: 'pending',
    refusal: { code: 'merge_conflict' },
  })
  const latest = await versionOf(bed)
  const outcome = await removePage(bed.ctx, bed.curator, latest, options())
  expect(outcome.status).toBe('approved')
  expect(await bed.read(1)).toBeUndefined()
  expect(await codeOf(bed.open())).toBe('not_found')
  expect((await bed.open(latest.base)).content).toBe('Changed.')
  expect(await bed.write({ target: latest, changes: { content: 'Too late.' } })).toMatchObject({
    status: 'pending',
    refusal: { code: 'target_not_found' },
  })
  expect(await bed.read(1)).toBeUndefined()
})

test('front matter that cannot be read is not edited', async () => {
  const bed = await newWriter(`---\nseqId: ${seq(1)}\nmine: [\n---\nText.\n`)
  expect((await bed.open()).problems).toEqual([expect.any(String)])
  expect(await codeOf(bed.write({ target: await versionOf(bed), changes: { content: 'x' } }))).toBe('target_unreadable')
})

test('what a push could not have is not written either', async () => {
  const bed = await newWriter()
  const content = 'A\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n'
  await expect(bed.write({ target: await versionOf(bed), changes: { content } })).rejects.toMatchObject({
    fieldErrors: { content: [expect.stringContaining('Line 2: ')] },
  })
})

test('pages are one entry of the queue where one was opened to go with the other, which waits and is of the same person', async () => {
  const { ctx, curator, write } = await newWriter()
  const [own, other] = ['own', 'other'].map((name) => ({ ...curator, id: `user:${name}`, name }))
  const propose = async (title: string, mate?: string, as = own ?? curator) => {
    const { candidateId } = await openBlankPage(ctx, as, { kb: 'handbook', mate })
    await write({ changes: { title, content: 'x' } }, { candidateId, publish: false }, as)
    return candidateId
  }
  const first = await propose('First')
  const second = await propose('Second', first)
  const [alone, foreign] = [await propose('Alone'), await propose('Foreign', first, other)]
  const third = await propose('Third', second)
  const { read } = (await ctx.kb(curator.tenantId, 'handbook')).projection
  const membersOf = (id: string) => {
    const row = findCandidate(read, id)
    return row === undefined ? [] : bundleOf(read, row).map((mate) => mate.id)
  }
  expect(new Set(membersOf(first))).toEqual(new Set([first, second, third]))
  for (const id of [alone, foreign]) expect(membersOf(id)).toEqual([id])
})
