import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueRef } from '../../src/kb/refs/kb-refs.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { candidatePath } from '../../src/rules/candidates/candidate.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import { type Browser, type Console, startConsole } from '../console/support.ts'
import { validateAnswer } from '../http/support/openapi-validate.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate } from '../kb/support/test-bed.ts'
import { eventually } from '../support/eventually.ts'
import { anyCharacter, fc, runs } from '../support/properties.ts'

let console_: Console
let person: Browser
const api = '/api/v1/knowledge-bases/handbook'
/** Milliseconds: the long form makes 10,000 requests of 3 to 6 ms of CPU, on a machine that may do much else. */
const timeout = runs(1_800_000, 180_000)

beforeAll(async () => {
  console_ = await startConsole()
  person = await console_.browser('curator', { name: 'Cleo' })
})
afterAll(() => console_.close())

/** Asks for a path as its kind of client does, and checks the answer against the description of the API. */
async function get(url: string): Promise<string> {
  const isPage = !url.startsWith('/api/')
  const { status, body, headers } = await person.get(url, isPage ? {} : { accept: 'application/json' })
  if (!isPage) {
    const answer = { method: 'GET', url, status, headers: headers as Record<string, string>, body }
    validateAnswer(console_.app, answer)
  }
  expect([url, status < 500 ? '' : body]).toEqual([url, ''])
  return body
}

const times = [
  '2026-01-08T09:12:44.000Z',
  '2026-01-08',
  '2026-02-30T00:00:00Z',
  '2026-01-08T09:12:44+02:00',
  'yesterday',
]
const text = fc.oneof(
  fc.constantFrom('', ' ', 'null', '~', 'x\ny', 'a: b', '[[handbook_00000001]]', '\u202eabc', 'x'.repeat(5000)),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
)
/** A value that the server writes, or now and then one that it does not. */
const mostly = (good: fc.Arbitrary<string>, other: fc.Arbitrary<string>) =>
  fc.oneof({ arbitrary: good, weight: 30 }, { arbitrary: other, weight: 1 })
const time = mostly(fc.constant(String(times[0])), fc.oneof(fc.constantFrom(...times), text))
const confidence = mostly(fc.constantFrom('0.5', '1', '0', '1e-7'), fc.constantFrom('1.5', '7e3', '1e999', 'x'))
const impact = mostly(fc.constantFrom('1', '0', '700'), fc.constantFrom('3.5', '99999999999999999999', '1e999', '-1'))
const number = fc.oneof(confidence, impact)
const target = fc.oneof(fc.constantFrom('handbook_00000001', 'handbook_99999999', 'other_1', 'x'), text)
const actor = fc.record({ id: fc.oneof(fc.constantFrom('key:x', 'user:y', 'policy'), text), name: text })
const decision = fc.record(
  {
    action: mostly(
      fc.constantFrom('dismiss', 'reopen', 'comment', 'revise', 'request-changes', 'assign'),
      fc.constant('other'),
    ),
    ...{ at: time, by: actor, reason: text, to: text },
  },
  { requiredKeys: ['action', 'at', 'by'] },
)
const metadata = fc.oneof(
  fc.constantFrom(
    '{}',
    '[]',
    '{"tags":["a",1]}',
    '{"targetNeuron":5}',
    '{"onBehalfOf":{"id":"x"}}',
    '{"model":{}}',
    '{',
  ),
  text,
)
const record = fc.record(
  {
    kind: mostly(fc.constantFrom('external-feed', 'user-correction', 'gap-detection', 'reader-feedback'), text),
    ...{ title: text, connector: text, createdAt: time, createdBy: actor },
    verdict: fc.record(
      {
        approve: mostly(fc.constantFrom('false', 'true'), text),
        zone: mostly(fc.constantFrom('red', 'yellow', 'green'), text),
        ...{ reason: text, warnings: fc.array(text, { maxLength: 2 }) },
      },
      { requiredKeys: ['approve', 'reason'] },
    ),
    ...{ confidence, impactEstimate: impact, target, base: text, mergeBase: text, frontMatter: text, metadata },
    removes: fc.constantFrom('true', 'false'),
    decisions: fc.array(decision, { maxLength: 3 }),
    tests: fc.array(
      fc.record({ path: fc.oneof(fc.constant('tests/a.yaml'), text), text }, { requiredKeys: ['path'] }),
      {
        maxLength: 1,
      },
    ),
  },
  { requiredKeys: ['kind', 'title', 'connector', 'createdAt', 'createdBy', 'verdict'] },
)

test('whatever records another tool writes to the queue, every answer is as its schema says', { timeout }, async () => {
  const { ctx, kbId } = console_
  const writer = new NativeWriter(ctx.directory.repository(kbId))
  const records = fc.sample(record, runs(2000, 150))
  const at = Date.parse('2026-01-08')
  const ids = records.map((_, n) => candidateIdFor(kbId, { msecs: at + n }))
  const files = records.map((one, n) => {
    const id = ids[n] ?? ''
    // JSON is YAML; the numbers are as the server writes them.
    return [candidatePath(id), `---\n${JSON.stringify({ id, ...one })}\n---\n\nHeron ${n}.\n`] as const
  })
  const sender = { id: 'key:x', name: 'X', tenantId: console_.tenantId, role: 'app', connectors: [] } as const
  await submitCandidate(ctx, sender, candidate({ title: 'First' })) // creates the ref
  writer.commit(queueRef, new Map(files))
  await get('/api/v1/queue/candidates?limit=100&kb=handbook')
  await eventually(async () => {
    const all: string[] = []
    for (const status of ['pending', 'approved', 'dismissed'])
      for (let cursor: string | null = ''; cursor !== null; ) {
        const url = `/api/v1/queue/candidates?kb=handbook&status=${status}&limit=100${cursor && `&cursor=${cursor}`}`
        const page = JSON.parse(await get(url))
        all.push(...page.candidates.map(({ candidateId }: { candidateId: string }) => candidateId))
        cursor = page.nextCursor
      }
    expect(all.length).toBeGreaterThan(records.length / 10)
  })
  for (const id of ids) {
    for (const url of [`/api/v1/queue/candidates/${id}`, `/queue/${id}`, `/api/v1/me/candidates/${id}`]) await get(url)
  }
  for (const url of ['/queue?status=any', '/activity', '/api/v1/me/candidates']) await get(url)
})

test('whatever kb.yaml says, every answer is as its schema says', { timeout }, async () => {
  const writer = new NativeWriter(console_.ctx.directory.repository(console_.kbId))
  const scalar = fc.oneof(number, text, fc.constantFrom('true', 'red', 'de', 'public', '0 3 * * *'))
  const value: fc.Arbitrary<unknown> = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('threshold', 'yellow', 'red', 'kinds', 'paths', 'tags', 'people', 'days', 'keys'),
      scalar,
    ),
    fc.array(
      fc.dictionary(fc.constantFrom('paths', 'people', 'query', 'neurons', 'days'), fc.array(scalar, { maxLength: 2 })),
      {
        maxLength: 2,
      },
    ),
  )
  const keys = [
    'title',
    'description',
    'language',
    'policy',
    'zones',
    'owners',
    'approvals',
    'authorMayApprove',
    'verify',
  ]
  const more = [
    'search',
    'synonyms',
    'pins',
    'publish',
    'onBreak',
    'defaultAudience',
    'inlineTags',
    'lint',
    'chat',
    'site',
    'fileTypes',
  ]
  const settings = fc.dictionary(fc.constantFrom(...keys, ...more), value, { maxKeys: 8 })
  const lists = ['', '/neurons', '/tags', '/tree', '/graph', '/search?q=heron', '/llms.txt', '/tests', '/settings']
  for (const one of fc.sample(settings, runs(100, 20))) {
    writer.commit('refs/heads/main', new Map([['kb.yaml', JSON.stringify(one)]]))
    await get('/api/v1/knowledge-bases')
    for (const path of lists) await get(`${api}${path}`)
    await get('/api/v1/queue/candidates?kb=handbook')
    for (const url of ['', '/tree', '/settings', '/search?q=heron', '/tests']) await get(`/kb/handbook${url}`)
  }
})
