import { setTimeout as delay } from 'node:timers/promises'
import { consoleRoutes } from '../src/console/console.ts'
import { buildServer } from '../src/http/server.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import type { ApiKeyRecord } from '../src/state/accounts/api-keys.ts'
import { signIn } from '../test/support/person.ts'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { summary } from './support/measure.ts'

type Sent = { method: 'GET' | 'POST' | 'PATCH'; url: string; headers: Record<string, string>; payload?: string }
type Measured = { name: string; size: number; active: number; send: () => Sent }

/** Texts that are dear to read, repeated up to a size. */
const units: Readonly<Record<string, string>> = {
  brackets: '[',
  emphasis: '*a _b',
  quotes: '> ',
  lists: '- a\n  ',
  links: '[[a|b]] [c](d) ',
  ligatures: '\uFDFA',
  mappings: '---\na: &b [*b]\n',
}
/** Other bodies, of JSON. */
const bodies: Readonly<Record<string, (size: number) => string>> = {
  'JSON brackets': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'JSON keys': (size) => `{${Array.from({ length: size / 10 }, (_, n) => `"${n.toString(36).padStart(5)}":0`)}}`,
  'JSON numbers': (size) => `[${'1,'.repeat(size / 2)}1]`,
  'JSON escapes': (size) => `{"query":"${'\\u0000'.repeat(size / 6)}"}`,
}
/** Bytes of requests; texts are no longer than a Neuron may be. */
const sizes = [4_000, 500_000, 2_000_000]
const texts = sizes.slice(0, 2)
const nowhere = '018f0000-0000-7000-8000-000000000000'
/** What would end the session, or never ends itself; and lint, which reads everything, and pauses every few milliseconds. */
const leftOut = /sign-out|sessions|password|\/events$|\/account\/tenant|\*|lint$/

/**
 * The time that requests take of the event loop, over all routes, by the size of a request and its answer: the dearest one, of which the
 * least of three measurements counts, against the median.
 */
export async function benchHostile(): Promise<string[]> {
  const { ctx, tenantId } = await importNotes(1_000)
  const { projection } = await ctx.kb(tenantId, 'bench')
  const seqId = String(projection.read.all`SELECT seq_id FROM neurons LIMIT 1`[0]?.seq_id)
  const curator: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
  const rest = { content: 'Nine to five.', metadata: null, confidence: null, impactEstimate: null }
  const waiting = { knowledgeBaseId: 'bench', kind: 'external-feed', title: 'Hours', ...rest } as const
  const { candidateId } = await submitCandidate(ctx, curator, waiting)
  const rates = { rateReads: 1e9, rateWrites: 1e9, rateChats: 1e9 }
  const server = await buildServer(ctx, { ...rates, pages: consoleRoutes })
  const { headers: session } = await signIn(ctx, 'bench', 'curator')
  const key: ApiKeyRecord = { tenantId, name: 'Bench', role: 'curator', connectors: [], expiresAt: null }
  const { token } = await ctx.apiKeys.create(key, ctx.now())
  const byKey = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
  const params: Record<string, string> = { kb: 'bench', kbId: 'bench', seqId, id: candidateId }

  async function measure(name: string, send: () => Sent): Promise<Measured> {
    const request = send()
    const before = performance.eventLoopUtilization()
    const { statusCode, rawPayload } = await server.inject(request)
    const { active } = performance.eventLoopUtilization(before)
    await delay(5) // what goes on after the answer counts for nobody
    const size = (request.payload ?? request.url).length + rawPayload.length
    return { name: `${name}: ${statusCode}`, size, active, send }
  }

  const measured: Measured[] = []
  const { paths, components } = JSON.parse((await server.inject('/openapi.json')).body)
  for (const { method, path } of routesIn(server.printRoutes({ commonPrefix: false }), paths)) {
    if (leftOut.test(path)) continue
    const url = path.replace(/[:{](\w+)\}?/g, (_, name: string) => params[name] ?? nowhere)
    const headers = /^\/(api|mcp)/.test(url) ? byKey : session
    const isForm = headers === session
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    const post = (payload: string): Sent => ({ method, url, headers: { ...headers, 'content-type': type }, payload })
    const described = JSON.stringify(paths[path]?.[method.toLowerCase()]?.requestBody ?? '')
    const schema = components.schemas[/schemas\/(\w+)/.exec(described)?.[1] ?? '']
    const fields = path === '/mcp' ? ['query', 'content'] : Object.keys(schema?.properties ?? { content: {} })
    const example = schema?.examples?.[0]
    const inKb = fields.includes('knowledgeBaseId') ? { knowledgeBaseId: 'bench' } : {}
    for (const [shape, unit] of Object.entries(units)) {
      const text = (size: number) => unit.repeat(size / Buffer.byteLength(unit))
      if (method === 'GET') {
        const query = new URLSearchParams({ kb: 'bench', q: text(500), prefix: text(100), text: text(100) })
        measured.push(await measure(`GET ${path}, ${shape}`, () => ({ method, url: `${url}?${query}`, headers })))
      } else if (isForm) {
        const body = (size: number) => ({ title: 'A', content: text(size / 3), comment: text(size / 50) })
        const form = (size: number) => new URLSearchParams({ _csrf: session['x-csrf-token'], ...body(size) }).toString()
        for (const size of texts) measured.push(await measure(`POST ${path}, ${shape}`, () => post(form(size))))
      } else {
        for (const [size, field] of texts.flatMap((size) => fields.map((field) => [size, field] as const))) {
          const filled = () => ({ ...example, ...inKb, [field]: text(size * 0.9) })
          const json = () => JSON.stringify(path === '/mcp' ? toolCall(field, filled()) : filled())
          measured.push(await measure(`${method} ${path}, ${field} of ${shape}`, () => post(json())))
        }
      }
    }
    for (const [shape, body] of method === 'GET' ? [] : Object.entries(bodies)) {
      for (const size of sizes) measured.push(await measure(`${method} ${path}, ${shape}`, () => post(body(size))))
    }
  }

  const lines = [
    '| request and answer | requests | median, ms | dearest, ms | ratio | which |',
    '|---|---|---|---|---|---|',
  ]
  let least = 0
  for (const size of sizes) {
    const ofSize = measured.filter((each) => each.size > least && each.size <= size * 1.2)
    least = size * 1.2
    const { median } = summary(ofSize.map(({ active }) => active))
    const dear: Measured[] = []
    for (const each of ofSize.toSorted((a, b) => b.active - a.active).slice(0, 20)) {
      const again = [each, await measure(each.name, each.send), await measure(each.name, each.send)]
      dear.push({ ...each, active: summary(again.map(({ active }) => active)).min })
    }
    const dearest = dear.reduce((a, b) => (b.active > a.active ? b : a))
    const aim = noteAim(`hostile: ≤ ${size / 1000} KB`, dearest.active / median, { atMost: 10 }, '× the median')
    const ratio = `${(dearest.active / median).toFixed(1)}× (${aim})`
    const cells = [
      `≤ ${size / 1000} KB`,
      ofSize.length,
      median.toFixed(1),
      dearest.active.toFixed(1),
      ratio,
      dearest.name,
    ]
    lines.push(`| ${cells.join(' | ')} |`)
  }
  await server.close()
  await ctx.close()
  return lines
}

/** The described routes, and the others, which Fastify prints as a tree. */
function routesIn(tree: string, paths: Readonly<Record<string, object>>): { method: Sent['method']; path: string }[] {
  const above: string[] = []
  const printed = tree.split('\n').map((line): [string, string[]] => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+) \(([^)]*)\)/.exec(line) ?? []
    above.splice(indent.length / 4, above.length, part)
    // A described route also refuses every other method.
    return [above.join('').replace(/\/{2,}/g, '/'), methods.includes('TRACE') ? [] : methods.split(', ')]
  })
  const described = Object.entries(paths).map(([path, operations]): [string, string[]] => [
    path,
    Object.keys(operations).map((method) => method.toUpperCase()),
  ])
  return [...described, ...printed].flatMap(([path, methods]) =>
    (['GET', 'POST', 'PATCH'] as const)
      .filter((method) => methods.includes(method))
      .map((method) => ({ method, path })),
  )
}

function toolCall(field: string, args: object): object {
  const name = { content: 'propose', q: 'search', query: 'retrieve' }[field] ?? 'ask'
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { kb: 'bench', ...args } } }
}
