import { setTimeout as delay } from 'node:timers/promises'
import { consoleRoutes } from '../src/console/console.ts'
import { buildServer } from '../src/http/server.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import type { ApiKeyRecord } from '../src/state/accounts/api-keys.ts'
import { routesIn } from '../test/http/support/routes.ts'
import { signIn } from '../test/support/person.ts'
import { benchDelays } from './delays.ts'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { summary } from './support/measure.ts'

type Sent = { method: 'GET' | 'POST' | 'PATCH'; url: string; headers: Record<string, string>; payload?: string }
/** `plain`: the same request with plain words, if it is one with a text. */
type Measured = { name: string; plain: string; size: number; active: number; send: () => Sent }

/** Texts that are dear to read, repeated up to a size. */
const units: Readonly<Record<string, string>> = {
  words: 'The office is open from nine to five. ',
  brackets: '[',
  emphasis: '*a _b',
  quotes: '> ',
  lists: '- a\n  ',
  links: '[[a|b]] [c](d) ',
  ligatures: '\uFDFA',
  mappings: '---\na: &b [*b]\n',
}
/** Hostile bodies of JSON. */
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
/** Routes that would end the session or never end, and lint, which reads everything and pauses every few milliseconds. */
const leftOut = /sign-out|sessions|password|\/events$|\/account\/tenant|\*|lint$/

/**
 * The CPU time that requests take of the event loop's thread, over all routes, by the size of a request and its answer: the one
 * that is dearest against the same request with plain words, or against the median where that is more, as a request that is
 * refused takes next to nothing. The least of three measurements counts.
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

  async function measure(name: string, send: () => Sent, shape = ''): Promise<Measured> {
    const request = send()
    const before = process.threadCpuUsage()
    const { statusCode, rawPayload } = await server.inject(request)
    let [used, count] = [usedSince(before), 1]
    // The system may count in ticks of 4 ms.
    for (; used < 25 && count < 50; count++) {
      await server.inject(send())
      used = usedSince(before)
    }
    const active = used / count
    await delay(5) // what goes on after the answer counts for nobody
    const size = (request.payload ?? request.url).length + rawPayload.length
    return { name: `${name}${shape === '' ? '' : ` ${shape}`}: ${statusCode}`, plain: name, size, active, send }
  }

  /** Milliseconds. */
  async function leastOf({ name, send, active }: Measured): Promise<number> {
    return Math.min(active, (await measure(name, send)).active, (await measure(name, send)).active)
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
        measured.push(
          await measure(`GET ${path}, query of`, () => ({ method, url: `${url}?${query}`, headers }), shape),
        )
      } else if (isForm) {
        const body = (size: number) => ({ title: 'A', content: text(size / 3), comment: text(size / 50) })
        const form = (size: number) => new URLSearchParams({ _csrf: session['x-csrf-token'], ...body(size) }).toString()
        for (const size of texts)
          measured.push(await measure(`POST ${path}, ${size} of`, () => post(form(size)), shape))
      } else {
        for (const [size, field] of texts.flatMap((size) => fields.map((field) => [size, field] as const))) {
          const filled = () => ({ ...example, ...inKb, [field]: text(size * 0.9) })
          const json = () => JSON.stringify(path === '/mcp' ? toolCall(field, filled()) : filled())
          measured.push(await measure(`${method} ${path}, ${field} with ${size} of`, () => post(json()), shape))
        }
      }
    }
    for (const [shape, body] of method === 'GET' ? [] : Object.entries(bodies)) {
      for (const size of sizes) measured.push(await measure(`${method} ${path}, ${shape}`, () => post(body(size))))
    }
  }

  const lines = [
    '| request and answer | requests | median, ms | against, ms | dearest, ms | ratio | which |',
    '|---|---|---|---|---|---|---|',
  ]
  let least = 0
  for (const size of sizes) {
    const ofSize = measured.filter((each) => each.size > least && each.size <= size * 1.2)
    least = size * 1.2
    const { median } = summary(ofSize.map(({ active }) => active))
    const wordsOf = (each: Measured) =>
      measured.find(({ name, plain }) => plain === each.plain && name.includes(' words: '))
    const dear: (Measured & { against: number; ratio: number })[] = []
    const roughly = (each: Measured) => each.active / Math.max(median, wordsOf(each)?.active ?? 0)
    for (const each of ofSize.toSorted((a, b) => roughly(b) - roughly(a)).slice(0, 20)) {
      const active = await leastOf(each)
      const words = wordsOf(each)
      const against = Math.max(median, words === undefined ? 0 : await leastOf(words))
      dear.push({ ...each, active, against, ratio: active / against })
    }
    const dearest = dear.reduce((a, b) => (b.ratio > a.ratio ? b : a))
    const aim = noteAim(`hostile: ≤ ${size / 1000} KB`, dearest.ratio, { atMost: 10 }, '× plain words')
    const ratio = `${dearest.ratio.toFixed(1)}× (${aim})`
    const cells = [
      `≤ ${size / 1000} KB`,
      ofSize.length,
      median.toFixed(1),
      dearest.against.toFixed(1),
      dearest.active.toFixed(1),
      ratio,
      dearest.name,
    ]
    lines.push(`| ${cells.join(' | ')} |`)
  }
  await server.close()
  await ctx.close()
  return [...lines, '', ...(await benchDelays())]
}

/** Milliseconds. */
function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

function toolCall(field: string, args: object): object {
  const name = { content: 'propose', q: 'search', query: 'retrieve' }[field] ?? 'ask'
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { kb: 'bench', action: 'new', title: 'A', ...args } },
  }
}
