import { setTimeout as delay } from 'node:timers/promises'
import { consoleRoutes } from '../src/console/console.ts'
import { buildServer } from '../src/http/server.ts'
import type { ApiKeyRecord } from '../src/state/accounts/api-keys.ts'
import { signIn } from '../test/support/person.ts'
import { noteAim } from './support/aims.ts'
import { importNotes } from './support/imported-notes.ts'
import { longestTurn } from './support/measure.ts'

type Sent = { method: 'GET' | 'POST'; url: string; headers: Record<string, string>; payload?: string }
type Answer = { statusCode: number; rawPayload: Buffer; json: () => Record<string, unknown> }

/** Bytes of the largest page. */
const largest = 500_000
/** Maximum CPU time of a turn of the event loop, in milliseconds. */
const maxTurn = 250

/** Texts of pages that are dear to read, by name. */
const texts: Readonly<Record<string, string>> = {
  footnotes: numbered(20_000, (n) => `a[^${n}]\n\n[^${n}]: b\n`),
  'short lines': 'a.\n'.repeat(largest / 3),
  headings: '# a\n'.repeat(largest / 4),
  'all headings': '#\n'.repeat(largest / 2),
  'wiki links': '[[a]] '.repeat(largest / 6),
  'other wiki links': numbered(20_000, (n) => `[[Note ${n}]] `),
  'Markdown links': '[a](b.md) '.repeat(largest / 10),
  lists: '- a\n'.repeat(largest / 4),
  'nested lists': numbered(60, (n) => `${' '.repeat(2 * n)}- a\n`).repeat(120),
  tables: `|a|b|\n|-|-|\n${'|c|d|\n'.repeat(largest / 6)}`,
  code: '`a` '.repeat(largest / 4),
  tags: numbered(60_000, (n) => `#t${n} `),
  words: numbered(60_000, (n) => `word${n} `),
}

function numbered(count: number, part: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => part(number))
    .join('')
    .slice(0, largest)
}

/**
 * Measures how long others wait while the dearest requests are answered: the longest turn of the event loop, in CPU time of its thread, over requests that write or read
 * the largest pages, several of the same at once, and reads of the whole graph.
 */
export async function benchDelays(): Promise<string[]> {
  const { ctx, tenantId } = await importNotes(3_000)
  const rates = { rateReads: 1e9, rateWrites: 1e9, rateChats: 1e9 }
  const server = await buildServer(ctx, { ...rates, pages: consoleRoutes })
  const keyOf = async (role: 'reader' | 'app' | 'curator') => {
    const record: ApiKeyRecord = { tenantId, name: role, role, connectors: [], expiresAt: null }
    const { token } = await ctx.apiKeys.create(record, ctx.now())
    return { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
  }
  const [reader, app, curator] = [await keyOf('reader'), await keyOf('app'), await keyOf('curator')]
  const { headers: session } = await signIn(ctx, 'bench', 'curator')
  const browser = { ...session, accept: 'text/html' }
  const rows: { name: string; status: string; ms: number; bytes: number; held: number }[] = []

  async function measure(name: string, send: () => Sent, together = 1): Promise<Answer> {
    await delay(50)
    const held = longestTurn()
    const begin = performance.now()
    const answers: Answer[] = await Promise.all(Array.from({ length: together }, () => server.inject(send())))
    const ms = performance.now() - begin
    await delay(200) // what goes on after the answer holds others up as well
    const bytes = Math.max(...answers.map(({ rawPayload }) => rawPayload.length))
    const status = [...new Set(answers.map(({ statusCode }) => statusCode))].join(' ')
    rows.push({ name, status, ms, bytes, held: held() })
    return answers[0] as Answer
  }

  const api = '/api/v1'
  const get = (url: string, headers: Record<string, string> = reader) => ({ method: 'GET', url, headers }) as const
  const post = (url: string, body: object, headers: Record<string, string>): Sent => ({
    ...{ method: 'POST', url, payload: JSON.stringify(body) },
    headers: { ...headers, 'content-type': 'application/json' },
  })
  const tool = (name: string, args: object) =>
    post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, reader)
  const candidate = { knowledgeBaseId: 'bench', kind: 'external-feed', confidence: 1 }
  await measure('nothing', () => get('/healthz', {}))
  for (const [shape, content] of Object.entries(texts)) {
    const made = await measure(`${shape}: submit`, () =>
      post(`${api}/queue/candidates`, { ...candidate, title: `Dear ${shape}`, content }, app),
    )
    const { seqId, candidateId } = made.json()
    if (typeof seqId !== 'string') continue
    const waiting = await measure(`${shape}: submit to wait`, () =>
      post(
        `${api}/queue/candidates`,
        { ...candidate, confidence: 0, title: `Other ${shape}`, content: `${content.slice(0, -20)} other` },
        app,
      ),
    )
    await measure(`${shape}: read`, () => get(`${api}/neurons/bench/${seqId}`))
    await measure(`${shape}: blame`, () => get(`${api}/neurons/bench/${seqId}/blame`))
    await measure(`${shape}: blame eight times at once`, () => get(`${api}/neurons/bench/${seqId}/blame`), 8)
    await measure(`${shape}: graph around`, () => get(`${api}/knowledge-bases/bench/graph?around=${seqId}&depth=3`))
    for (const path of ['', '/edit', '/history', '/blame']) {
      await measure(`${shape}: console page ${path}`, () => get(`/kb/bench/neurons/${seqId}${path}`, browser))
    }
    await measure(`${shape}: console, decided candidate`, () => get(`/queue/${candidateId}`, browser))
    const { candidateId: other } = waiting.json()
    await measure(`${shape}: console, waiting candidate`, () => get(`/queue/${other}`, browser))
    await measure(`${shape}: waiting candidate`, () => get(`${api}/queue/candidates/${other}`, curator))
    await measure(`${shape}: preview`, () => get(`/preview/${other}/`, browser))
    await measure(`${shape}: approve`, () => post(`${api}/queue/candidates/${other}/approve`, {}, curator))
    await measure(`${shape}: correct`, () =>
      post(
        `${api}/queue/candidates`,
        {
          ...candidate,
          kind: 'user-correction',
          title: 'x',
          content: content.toUpperCase(),
          metadata: { targetNeuron: seqId },
        },
        curator,
      ),
    )
    await measure(`${shape}: blame of two versions`, () => get(`${api}/neurons/bench/${seqId}/blame`))
    await measure(`${shape}: MCP fetch`, () => tool('fetch', { id: seqId, kb: 'bench', seqId }))
    await measure(`${shape}: retrieve with blame`, () =>
      post(`${api}/knowledge-bases/bench/retrieve`, { query: 'word1 Note 1 a b', blame: true }, reader),
    )
  }
  const seqId = String(
    (await ctx.kb(tenantId, 'bench')).projection.read.get`SELECT seq_id FROM neurons LIMIT 1`?.seq_id,
  )
  await measure('graph, first', () => get(`${api}/knowledge-bases/bench/graph?limit=1000`))
  await measure('graph, ten at once', () => get(`${api}/knowledge-bases/bench/graph?limit=1000`), 10)
  await measure('MCP links, depth 5', () => tool('links', { kb: 'bench', seqId, depth: 5, limit: 1000 }))
  await measure('MCP links, ten at once', () => tool('links', { kb: 'bench', seqId, depth: 5, limit: 1000 }), 10)
  await measure('list, ten at once', () => get(`${api}/knowledge-bases/bench/neurons?stale=true&limit=100`), 10)
  await measure('llms.txt, ten at once', () => get(`${api}/knowledge-bases/bench/llms.txt`), 10)
  await server.close()
  await ctx.close()
  const worst = rows.reduce((one, other) => (other.held > one.held ? other : one))
  const aim = noteAim(`hostile: delay of others (${worst.name})`, worst.held, { atMost: maxTurn }, 'ms of CPU')
  return [
    '| request | status | answer, ms | answer, KB | delay of others, ms |',
    '|---|---|---|---|---|',
    ...rows
      .toSorted((a, b) => b.held - a.held)
      .map(
        (row) =>
          `| ${[row.name, row.status, row.ms.toFixed(0), (row.bytes / 1000).toFixed(0), row.held.toFixed(0)].join(' | ')} |`,
      ),
    '',
    `The longest delay of others: ${worst.held.toFixed(0)} ms (${aim}).`,
  ]
}
