import { afterAll, beforeAll, expect, test } from 'vitest'
import { NeuronPage } from '../../src/contract/neurons.ts'
import { type Browser, type Console, startConsole } from '../console/support.ts'
import { validateAnswer } from '../http/support/openapi-validate.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { seq } from '../kb/support/written-neurons.ts'
import { eventually } from '../support/eventually.ts'
import { anyCharacter, fc, runs } from '../support/properties.ts'

let console_: Console
let person: Browser
const api = '/api/v1/knowledge-bases/handbook'

beforeAll(async () => {
  console_ = await startConsole()
  person = await console_.browser('curator', { name: 'Cleo' })
})
afterAll(() => console_.close())

const days = ['2026-02-30', '2026-13-01', '2026-11-28', '0000-00-00', '2026-11-28T25:00Z', '9999-99-99', '2026-11-28 x']
const ids = [
  'not-an-id',
  '00000000-0000-0000-0000-000000000000',
  '019B9C9A-5F0E-7C41-8A3B-6D2F4E5A7B90',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
]
const scalar = fc.oneof(
  fc.constantFrom(
    ...days,
    ...ids,
    'handbook_00000001',
    'x_1',
    '~',
    'null',
    'true',
    '1e999',
    '-0',
    '.nan',
    '!!binary QQ==',
  ),
  fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 12 }),
)
const inFlow = scalar.map((text) => (/^["\w.-]*$/.test(text) ? text : JSON.stringify(text)))
const mapOf = (...keys: string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...keys), inFlow), { maxLength: 5 })
    .map((entries) => `{ ${[...new Map(entries)].map(([key, value]) => `${key}: ${value}`).join(', ')} }`)
const listOf = (item: fc.Arbitrary<string>) => fc.array(item, { maxLength: 3 }).map((all) => `[${all.join(', ')}]`)
const verified = fc
  .tuple(fc.constantFrom(...days), fc.constantFrom(...days), inFlow, inFlow)
  .map(
    ([at, until, by, edition]) =>
      `{ by: ${by}, at: ${JSON.stringify(at)}, until: ${JSON.stringify(until)}, edition: ${edition} }`,
  )
const reference = mapOf('id', 'filename', 'sha256', 'page', 'slide', 'sheet', 'time', 'x')
const shapes: Record<string, fc.Arbitrary<string>> = {
  verified: fc.oneof(verified, mapOf('by', 'at', 'until', 'edition')),
  sources: listOf(reference),
  edges: listOf(mapOf('type', 'target')),
  ...{ tags: listOf(inFlow), aliases: listOf(inFlow), audience: listOf(fc.constantFrom('public', 'tool', 'x')) },
  ...Object.fromEntries(
    ['id', 'title', 'candidate', 'connector', 'sourceUrl', 'metadata', 'owner', 'note', 'noteShared', 'own'].map(
      (key) => [key, scalar],
    ),
  ),
}
const any = fc.oneof(scalar, inFlow, listOf(inFlow), mapOf('a', 'type', 'at', 'id'))
const frontMatter = fc
  .tuple(
    ...Object.entries(shapes).map(([key, shape]) =>
      fc.option(
        fc.oneof({ arbitrary: shape, weight: 3 }, any).map((value) => `${key}: ${value.replace(/\r?\n/g, ' ')}\n`),
        { nil: '' },
      ),
    ),
  )
  .map((lines) => lines.join(''))
const times = [1_700_000_000, 0, 253_402_300_799, 253_402_300_800, 9_000_000_000_000_000]

test('whatever front matter main has, every answer is as its schema says', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const [head, ...others] = fc.sample(frontMatter, runs(2000, 120))
  const texts = [
    `verified: {by: x, at: 2026-01-01, until: 2026-02-30}\n${head}`,
    `verified: {by: Cleo, at: ${today}}\ncandidate: nope\n`,
    `verified: {by: Cleo, at: ${today}}\n`,
    ...others,
  ]
  const gitDir = console_.ctx.directory.repository(console_.kbId)
  const writer = new NativeWriter(gitDir)
  const files = texts.map(
    (text, n) =>
      [`neurons/${n % 7}/p${n}.md`, `---\nseqId: ${seq(n + 1)}\n${text}---\n\nHeron [[p${n + 1}]] text.\n`] as const,
  )
  for (const [at, seconds] of times.entries()) {
    writer.commit('refs/heads/main', new Map(files.filter((_, n) => n % times.length === at)), { at: seconds })
  }
  writer.commit('refs/heads/main', new Map(files.slice(0, 40).map(([path, text]) => [path, `${text}More.\n`])))
  const get = async (url: string, isPage = false) => {
    const { status, body, headers } = await person.get(url, isPage ? {} : { accept: 'application/json' })
    const text = headers as Record<string, string>
    if (!isPage) validateAnswer(console_.app, { method: 'GET', url, status, headers: text, body })
    expect([url, status < 500]).toEqual([url, true])
    return { status, body }
  }
  const known: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await get(`${api}/neurons?limit=100${cursor && `&cursor=${cursor}`}`)
    const page = NeuronPage.parse(JSON.parse(body))
    known.push(...page.neurons.map(({ seqId }) => seqId))
    cursor = page.nextCursor
  }
  expect(known).toHaveLength(texts.length)
  await eventually(async () => expect((await get(`${api}/search?q=heron&limit=100`)).body).toContain('"documents":[{'))
  const lists = [
    'neurons?stale=true&limit=100',
    'neurons?sort=-updatedAt&limit=100',
    'tags',
    'tree',
    'graph?limit=1000',
    'llms.txt',
    'tests',
  ]
  const tenant = [
    '/api/v1/knowledge-bases',
    '/api/v1/queue/candidates?limit=100&kb=handbook',
    '/api/v1/search?q=heron&limit=100&facets=true',
  ]
  for (const url of [...lists.map((path) => `${api}/${path}`), ...tenant]) await get(url)
  for (const url of ['', '/tree', '/tags', '/stale', '/findings', '/search?q=heron', '/graph', '/graph/data'])
    await get(`/kb/handbook${url}`, true)
  for (const url of ['/', '/activity?kb=handbook', '/queue', '/palette?q=p1']) await get(url, true)
  for (const seqId of known) await get(`/api/v1/neurons/handbook/${seqId}`)
  for (const seqId of known.slice(0, runs(2000, 30))) {
    await get(`/api/v1/neurons/handbook/${seqId}/blame`)
    for (const part of ['', '/history', '/edit']) await get(`/kb/handbook/neurons/${seqId}${part}`, true)
    const url = `/api/v1/neurons/handbook/${seqId}/still-true`
    const { statusCode, headers, body } = await console_.app.inject({ method: 'POST', url, headers: person.headers })
    const answer = { method: 'POST', url, status: statusCode, headers: headers as Record<string, string>, body }
    validateAnswer(console_.app, answer)
    expect([url, body, statusCode < 500]).toEqual([url, body, true])
  }
  for (const path of ['retrieve', 'chat']) {
    const url = path === 'chat' ? '/api/v1/chat' : `${api}/retrieve`
    const payload = { kb: 'handbook', query: 'heron', message: 'heron text?', topK: 20 }
    const { statusCode, headers, body } = await console_.app.inject({
      method: 'POST',
      url,
      headers: person.headers,
      payload,
    })
    validateAnswer(console_.app, {
      method: 'POST',
      url,
      status: statusCode,
      headers: headers as Record<string, string>,
      body,
    })
    expect([url, statusCode]).toEqual([url, 200])
  }
})
