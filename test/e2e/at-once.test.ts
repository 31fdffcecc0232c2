import { afterAll, beforeAll, expect, test } from 'vitest'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { type Console, startConsole } from '../console/support.ts'
import { routesIn } from '../http/support/routes.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/person.ts'
import { runs } from '../support/properties.ts'
import { outsideWriter } from './git/outside-writer.ts'

/** Requests at once. */
const together = runs(8, 4)
const pages = 300

type Parameter = { name: string; in: string; required?: boolean; schema?: Schema; example?: unknown }
type Schema = { enum?: unknown[]; type?: string; examples?: unknown[]; anyOf?: Schema[] }
type Asker = { name: string; headers: Record<string, string> }

let started: Console
let candidateId: string
let askers: { keys: Asker[]; people: Asker[] }

beforeAll(async () => {
  started = await startConsole()
  const { ctx, kbId, tenantId } = started
  const writer = await outsideWriter(ctx, kbId)
  await writer.commit(
    new Map([
      ...Array.from({ length: pages }, (_, number): [string, string] => [
        `neurons/f${number % 7}/p${number}.md`,
        pageText(number),
      ]),
      ['neurons/f1/plan.png', 'plan'],
      ['tests/hours.yaml', 'tests: []\n'],
    ]),
  )
  const kb = await ctx.kb(tenantId, 'handbook')
  await kb.sync()
  const curator: Caller = { id: 'key:curator', name: 'Cleo', tenantId, role: 'curator', connectors: [] }
  const rest = { metadata: null, confidence: null, impactEstimate: null }
  const input = {
    knowledgeBaseId: 'handbook',
    kind: 'external-feed',
    title: 'Hours',
    content: 'Nine.',
    ...rest,
  } as const
  candidateId = (await submitCandidate(ctx, curator, input)).candidateId
  const keys = await Promise.all(
    (['reader', 'app', 'curator'] as const).map(async (role) => {
      const record = { tenantId, name: role, role, connectors: [], expiresAt: null }
      const { token } = await ctx.apiKeys.create(record, ctx.now())
      return { name: `${role} key`, headers: { authorization: `Bearer ${token}` } }
    }),
  )
  const people = await Promise.all(
    (['reader', 'curator', 'admin'] as const).map(async (role) => {
      const { cookie } = (await signIn(ctx, 'acme', role)).headers
      return { name: role, headers: { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' } }
    }),
  )
  askers = { keys, people }
  await eventually(async () => {
    const url = '/api/v1/knowledge-bases/handbook/search?q=topic'
    const { body } = await started.app.inject({ url, headers: keys[0]?.headers ?? {} })
    expect(JSON.parse(body)).not.toHaveProperty('behind')
  })
})

afterAll(() => started.close())

function pageText(number: number): string {
  const fields = {
    title: `Topic ${number}`,
    tags: [`t${number % 5}`, ...(number % 11 === 0 ? ['internal'] : [])],
    owner: 'ada@example.com',
    verified: { by: 'ada@example.com', at: '2019-01-01', until: number % 3 === 0 ? '2020-01-01' : '2099-01-01' },
  }
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  const links = [7, 13].map((by) => `[[Topic ${(number * by) % pages}]]`).join(' and ')
  return `---\nseqId: handbook_${String(number + 1).padStart(8, '0')}\n${lines.join('')}---\nSee ${links} ![[plan.png]].\n`
}

/** Values that are worth asking for, by parameters of queries. */
const samples: Readonly<Record<string, string[]>> = {
  ...{
    q: ['topic see'],
    tag: ['t1', 'nope'],
    owner: ['ada@example.com'],
    limit: ['50'],
    prefix: ['top'],
    depth: ['3'],
  },
  ...{
    kb: ['handbook'],
    question: ['Which topic?'],
    from: ['1'],
    to: ['2'],
    near: ['f1'],
    folder: ['f1'],
    text: ['topic'],
  },
}

function valuesOf({ name, schema = {}, example }: Parameter): string[] {
  const listed = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : [example ?? schema.examples?.[0]])
  return samples[name] ?? listed.flatMap((value) => (value === undefined ? [] : [String(value)]))
}

/** Every GET, with nothing but what is required, and with each parameter besides. */
async function everyGet(): Promise<{ url: string; isApi: boolean }[]> {
  const { app } = started
  const { paths } = JSON.parse((await app.inject('/openapi.json')).body)
  const filled: Record<string, string> = {
    kb: 'handbook',
    kbId: 'handbook',
    slug: 'handbook',
    seqId: 'handbook_00000002',
  }
  const found = new Map<string, boolean>()
  for (const { method, path } of routesIn(app.printRoutes({ commonPrefix: false }), paths)) {
    if (method !== 'GET' || endless.test(path)) continue
    const url = path
      .replace(
        /[:{](\w+)\}?/g,
        (_, name: string) => filled[name] ?? (name === 'path' ? 'neurons/f1/plan.png' : candidateId),
      )
      .replace('*', 'handbook_00000002')
    const parameters: Parameter[] = (paths[path]?.get?.parameters ?? []).filter(
      (each: Parameter) => each.in === 'query',
    )
    const required = parameters.flatMap((each) => (each.required ? [[each.name, valuesOf(each)[0] ?? '']] : []))
    const isApi = /^\/(?:api|openapi)/.test(path)
    const described = parameters.flatMap((each) => valuesOf(each).map((value) => [[each.name, value]]))
    const asPeople = [Object.entries(samples).map(([name, [value = '']]) => [name, value])]
    for (const more of [[], ...(isApi ? described : asPeople)]) {
      const query = new URLSearchParams([...required, ...more]).toString()
      found.set(query === '' ? url : `${url}?${query}`, isApi)
    }
  }
  return Array.from(found, ([url, isApi]) => ({ url, isApi }))
}

/** Streams that never end; what differs each time; and what ends the session or has a narrow limit. */
const endless = /\/events$|^\/(?:metrics|healthz|readyz|form-token|oauth|\.well-known)|sign-out/

/** An answer without what differs each time. */
function steady({ statusCode, body }: { statusCode: number; body: string }): string {
  return `${statusCode} ${body}`
    .replace(/nonce="[^"]*"|"(?:took|requestId)":[^,}]*/g, '')
    .replace(/name="(?:_csrf|_key|candidate)" value="[^"]*"/g, '')
}

test('every GET answers many callers at once as it answers one, for every audience', {
  timeout: 300_000,
}, async () => {
  const { app } = started
  const wrong: string[] = []
  let asked = 0
  for (const { url, isApi } of await everyGet()) {
    for (const { name, headers } of isApi ? askers.keys : askers.people) {
      const send = async () => steady(await app.inject({ method: 'GET', url, headers }))
      const alone = await send()
      const answers = await Promise.all(Array.from({ length: together }, send))
      asked++
      if (alone.startsWith('5')) wrong.push(`${name} GET ${url}: ${alone.slice(0, 200)}`)
      const other = answers.find((answer) => answer !== alone)
      if (other !== undefined) wrong.push(`${name} GET ${url}: ${firstDifference(alone, other)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(asked).toBeGreaterThan(300)
})

function firstDifference(one: string, other: string): string {
  let at = 0
  while (one[at] === other[at]) at++
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80))
  return `${around(one)} became ${around(other)}`
}
