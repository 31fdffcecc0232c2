import { expect, test } from 'vitest'
import { feedbackCandidate, submitFeedback } from '../../src/chat/submit-feedback.ts'
import type { Citation, FeedbackInput } from '../../src/contract/chat.ts'
import { GanglionError } from '../../src/contract/errors.ts'
import { ParserPool } from '../../src/markdown/pool/parser-pool.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { readCandidate } from '../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { parseMetadata, readMetadata } from '../../src/rules/candidates/metadata.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, newTestBed, type TestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { fc } from '../support/properties.ts'

const up: FeedbackInput = { vote: 'up', question: 'Who is paged?', answer: 'The lead. [handbook_00000001]' }
const down: FeedbackInput = { ...up, vote: 'down', reason: 'It is two leads.' }

async function addNeuron({ ctx, curator }: TestBed, title: string, tags: string[] = []) {
  const metadata = JSON.stringify({ tags })
  const { candidateId } = await submitCandidate(ctx, curator, candidate({ title, metadata }))
  const { seqId } = await approveCandidate(ctx, curator, candidateId, {})
  const { documentId, path } = await readNeuron(ctx, curator, { kb: 'handbook', seqId })
  return { seqId, citation: { documentId: documentId ?? '', path, filename: path.split('/').at(-1) ?? '' } }
}

async function submitted(bed: TestBed, feedback: FeedbackInput) {
  const { candidateId } = await submitFeedback(bed.ctx, bed.app, 'handbook', feedback)
  const detail = await readCandidate(bed.ctx, bed.curator, candidateId)
  return { ...detail, metadata: JSON.parse(detail.metadata ?? '{}') }
}

test('feedback waits in the queue as a bundle that a curator can read', async () => {
  const bed = await newTestBed()
  const { seqId, citation } = await addNeuron(bed, 'VIP escalation policy')
  const detail = await submitted(bed, {
    ...down,
    answer: 'The lead. [handbook_00000001]\n\n- at once',
    citations: [citation, { documentId: 'gone', path: 'neurons/gone.md', filename: 'gone_[1].md' }],
    sessionId: 'session',
    turnId: 'turn',
    category: 'wrong-info',
    pageUrl: 'https://example.org/help?a=[[b]]',
  })
  expect(detail).toMatchObject({
    kind: 'reader-feedback',
    status: 'pending',
    title: 'Feedback: Who is paged?',
    confidence: 0.3,
    connector: 'reader-feedback',
    zone: 'yellow',
    metadata: {
      connector: 'reader-feedback',
      vote: 'down',
      category: 'wrong-info',
      question: 'Who is paged?',
      reason: 'It is two leads.',
      citations: [citation.documentId, 'gone'],
      conversationId: 'session',
      sourceTurnId: 'turn',
      pageUrl: 'https://example.org/help?a=[[b]]',
    },
  })
  expect(detail.content).toBe(`- Vote: down
- Category: wrong-info
- Page: <https://example.org/help?a=[[b]]>

## Reason

> It is two leads.

## Question

> Who is paged?

## Answer

> The lead. [handbook_00000001]
>
> - at once

## Citations

- [[${seqId}|VIP escalation policy]]
- gone\\_\\[1\\].md
`)
})

test('a page that should be cited is in the bundle, by its title where readers of it may know that', async () => {
  const bed = await newTestBed()
  const open = await addNeuron(bed, 'VIP escalation policy')
  const hidden = await addNeuron(bed, 'Salaries of the board', ['internal'])
  const said = await submitted(bed, { ...down, shouldCite: open.seqId })
  expect(said.metadata.shouldCite).toBe(open.seqId)
  expect(said.content).toContain(`\n\n## Should cite\n\n- [[${open.seqId}|VIP escalation policy]]\n`)
  const { candidateId } = await submitFeedback(bed.ctx, bed.curator, 'handbook', { ...down, shouldCite: hidden.seqId })
  const { content } = await readCandidate(bed.ctx, bed.curator, candidateId)
  expect(content.split('\n').at(-2)).toBe(`- ${hidden.seqId.replace('_', '\\_')}`)
  const liked = await submitted(bed, { ...up, shouldCite: open.seqId })
  expect([liked.content, liked.metadata.shouldCite]).toEqual([expect.not.stringContaining('Should'), undefined])
})

test('a flag is for a curator in any case', async () => {
  const detail = await submitted(await newTestBed(), { ...down, vote: 'flag' })
  expect(detail).toMatchObject({ status: 'pending', zone: 'red', confidence: 0.3, metadata: { actionZone: 'red' } })
})

test('a vote up waits for a curator in the zone of the template, and has no reason', async () => {
  const detail = await submitted(await newTestBed(), { ...up, reason: 'I like it.' })
  expect(detail).toMatchObject({ status: 'pending', confidence: 0.9, zone: 'yellow' })
  expect(detail.content + JSON.stringify(detail.metadata)).not.toContain('I like it.')
})

test('where the policy approves a vote up, readers do not find it', async () => {
  const bed = await newTestBed()
  const { citation } = await addNeuron(bed, 'VIP escalation policy')
  const native = new NativeWriter(bed.gitDir)
  const settings = native.read('refs/heads/main', 'kb.yaml').replace('    reader-feedback: yellow\n', '')
  native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  const { status, seqId = '' } = await submitted(bed, { ...up, citations: [citation] })
  expect(status).toBe('approved')
  const read = (caller: Caller) => readNeuron(bed.ctx, caller, { kb: 'handbook', seqId })
  await expect(read(bed.app)).rejects.toThrow('There is nothing here.')
  expect(await read(bed.curator)).toMatchObject({
    title: 'Feedback: Who is paged?',
    links: [{ target: 'handbook_00000001' }],
  })
})

test.each([undefined, '', ' \n\t'])('a negative vote with the reason %j is refused', async (reason) => {
  const { ctx, app } = await newTestBed()
  const { reason: _reason, ...without } = down
  for (const vote of ['down', 'flag'] as const) {
    const feedback = { ...without, vote, ...(reason === undefined ? {} : { reason }) }
    await expect(submitFeedback(ctx, app, 'handbook', feedback)).rejects.toThrow(
      new GanglionError('reason_required_for_negative_vote'),
    )
  }
})

test('a citation is found by its document, its seqId or its path; a hidden Neuron is not named', async () => {
  const bed = await newTestBed()
  const open = await addNeuron(bed, 'VIP [escalation|policy]')
  const hidden = await addNeuron(bed, 'Salaries of the board', ['internal'])
  const nothing = { documentId: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90', path: '', filename: 'a.md' }
  const found = async (citation: Citation) =>
    (await submitted(bed, { ...up, citations: [citation] })).content.split('\n').at(-2)
  const link = `- [[${open.seqId}|VIP escalation policy]]`
  expect(await found({ ...nothing, documentId: open.citation.documentId })).toBe(link)
  expect(await found({ ...nothing, documentId: open.seqId })).toBe(link)
  expect(await found({ ...nothing, path: open.citation.path })).toBe(link)
  expect(await found(nothing)).toBe('- a.md')
  expect(await found({ ...hidden.citation, filename: 'a.md' })).toBe('- a.md')
  expect(await found({ ...nothing, documentId: hidden.seqId })).toBe('- a.md')
})

test('a knowledge base of another tenant is not found', async () => {
  const { ctx, app } = await newTestBed()
  const stranger = { ...app, tenantId: (await ctx.tenants.ensure('other', new Date())).id }
  await expect(submitFeedback(ctx, stranger, 'handbook', up)).rejects.toThrow(new GanglionError('not_found'))
})

const line = fc.oneof(
  fc.constantFrom('# Heading', '---', '```', '[[VIP]]', '![[VIP]]', '\\[[VIP]]', '[[[VIP]]]', '<!--', '> [[VIP]]', ''),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)
const text = fc
  .array(line, { minLength: 1, maxLength: 8 })
  .chain((lines) => fc.constantFrom('\n', '\r\n', '\r').map((end) => lines.join(end)))
  .filter((value) => value !== '' && value.isWellFormed() && !value.includes('\0'))

test('no text of a reader makes a heading, a link or front matter', async () => {
  const parser = new ParserPool()
  try {
    await fc.assert(
      fc.asyncProperty(text, text, text, text, async (question, answer, reason, name) => {
        const feedback: FeedbackInput = { vote: 'down', question, answer, reason, pageUrl: name.slice(0, 500) }
        const { content, title } = feedbackCandidate('kb', feedback, [
          { filename: name },
          { filename: name, neuron: { seqId: 'handbook_00000042', title: name } },
        ])
        expect((await parser.links(content)).links.map(({ target }) => target)).toEqual(['handbook_00000042'])
        expect(content.match(/^#.*/gm)).toEqual(['## Reason', '## Question', '## Answer', '## Citations'])
        expect(content.startsWith('- Vote: down\n')).toBe(true)
        expect(title).not.toMatch(/[\r\n]/)
      }),
      { numRuns: 200 },
    )
  } finally {
    await parser.close()
  }
})

test('the largest feedback fits into a candidate and its metadata', () => {
  for (const fill of ['"', '\\', '€', '🙂', '\u0001', '\n', '[']) {
    const whole = (size: number) => fill.repeat(size)
    const { metadata, content, title } = feedbackCandidate(
      'kb',
      {
        vote: 'flag',
        question: whole(2000),
        answer: whole(50_000),
        reason: whole(2000),
        citations: Array.from({ length: 100 }, () => ({
          documentId: whole(200),
          path: whole(5000),
          filename: whole(1000),
        })),
        sessionId: whole(100),
        turnId: whole(100),
        category: 'other',
        pageUrl: whole(500),
      },
      Array.from({ length: 100 }, () => ({ filename: whole(1000) })),
    )
    expect(readMetadata(parseMetadata(metadata).data).connector).toBe('reader-feedback')
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(512 * 1024)
    expect([...title].length).toBeLessThanOrEqual(500)
  }
})

test('the same idempotency key gives the first answer again, whatever a cited Neuron is called by then', async () => {
  const bed = await newTestBed()
  const { ctx } = bed
  const tenantId = bed.app.tenantId
  const { key } = await ctx.apiKeys.create(
    { tenantId, name: 'app', role: 'app', connectors: [], expiresAt: null },
    new Date(),
  )
  const app = { ...bed.app, id: `key:${key.id}` }
  const { seqId, citation } = await addNeuron(bed, 'VIP escalation policy')
  const feedback = { ...down, citations: [citation] }
  const once = { idempotencyKey: 'once' }
  const first = await submitFeedback(ctx, app, 'handbook', feedback, once)
  const rename = candidate({ kind: 'user-correction', metadata: JSON.stringify({ targetNeuron: seqId }) })
  const { candidateId } = await submitCandidate(ctx, bed.curator, rename)
  await approveCandidate(ctx, bed.curator, candidateId, { title: 'Renamed' })
  expect(await submitFeedback(ctx, app, 'handbook', feedback, once)).toEqual(first)
  await expect(submitFeedback(ctx, app, 'handbook', { ...feedback, vote: 'flag' }, once)).rejects.toThrow(
    new GanglionError('idempotency_key_reused'),
  )
})
