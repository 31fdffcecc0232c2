import type { ApiKeyRecord } from '../src/state/accounts/api-keys.ts'
import { noteAim } from './support/aims.ts'
import type { WireAnswer, WireRequest } from './support/http-load.ts'
import { importNotes } from './support/imported-notes.ts'
import { inTurn, type Timing } from './support/measure.ts'
import { type Measured, type MeasuredServer, measure, serveGanglion, startServer } from './support/measured-server.ts'
import { generateNotes } from './support/notes.ts'

const neurons = Number(process.env.HTTP_NEURONS ?? 2_000)
/** Neurons of ordinary size that are read again and again. */
const often = 200
const rounds = 5
const requestsPerRound = 5_000
const connections = 50
const writes = 1_000

type NumberedRequest = (n: number) => WireRequest
type Row = (...cells: readonly string[]) => void

/**
 * CPU time of a server's process for each request, over real sockets, against bare `node:http` and bare Fastify with zod, which answer
 * everything with a Neuron; then writes with 50 in flight, which are on the disk when they are answered. Ganglion runs as `ganglion serve`
 * with its defaults, but for the rate limits. Its log goes to a file.
 */
export async function benchHttp(): Promise<string[]> {
  const { dataDir, token, neurons: rows } = await prepare()
  const headers = { authorization: `Bearer ${token}` }
  const lines: string[] = []
  const row: Row = (...cells) => {
    lines.push(`| ${cells.join(' | ')} |`)
    console.error(lines.at(-1))
  }
  const server = await serveGanglion(dataDir)
  await server.idle()
  const reads = rows.map(({ seqId }) => ({ path: `/api/v1/neurons/bench/${seqId}`, headers }))
  const first = await measure(server, reads, { connections })
  await compareReads(server, ordinary(reads, first.answers), row)

  lines.push('')
  row('Ganglion alone', 'CPU, µs a request', 'requests/s', 'p50, ms', 'p99, ms', 'aim')
  row('---', '---', '---', '---', '---', '---')
  const once = `\`GET\` each of ${neurons} Neurons once`
  tell(row, once, noteAim(`CPU: ${once}`, first.cpu, { atMost: 1_200 }, 'µs of CPU'), first)
  const queries = [...new Set(rows.map(({ title }) => title.split(' ').slice(0, 2).join(' ')))]
  const search = queries.map((q) => ({
    path: `/api/v1/knowledge-bases/bench/search?${new URLSearchParams({ limit: '5', q })}`,
    headers,
  }))
  const warmUp = search.splice(0, 500)
  await measure(server, warmUp, { connections: 1 })
  const asked = await measure(server, search, { connections: 1 })
  tell(
    row,
    'search, one request, 5 hits, not asked before',
    noteAim('CPU: search, not asked before', asked.cpu, { atMost: 700 }, 'µs of CPU'),
    asked,
  )
  const again = await measure(server, search, { connections: 1 })
  tell(row, 'the same again', noteAim('CPU: search, asked before', again.cpu, { atMost: 250 }, 'µs of CPU'), again)
  await measureWrites(server, headers, row)
  await server.stop()
  return lines
}

/** A data directory with generated notes and a curator's key. */
async function prepare() {
  const { ctx, dataDir, tenantId } = await importNotes(neurons)
  const key: ApiKeyRecord = { tenantId, name: 'Bench', role: 'curator', connectors: [], expiresAt: null }
  const { token } = await ctx.apiKeys.create(key, ctx.now())
  const { projection } = await ctx.kb(tenantId, 'bench')
  const rows = projection.read.all`SELECT seq_id, title FROM neurons ORDER BY seq_id`
  await ctx.close()
  return { dataDir, token, neurons: rows.map(({ seq_id, title }) => ({ seqId: String(seq_id), title: String(title) })) }
}

type Read = { request: WireRequest; answer: WireAnswer }

/** The requests whose answers are nearest to the median in size. */
function ordinary(requests: readonly WireRequest[], answers: readonly WireAnswer[]): Read[] {
  const reads = requests.flatMap((request, n) => {
    const answer = answers[n]
    return answer === undefined ? [] : [{ request, answer }]
  })
  reads.sort((a, b) => a.answer.body.length - b.answer.body.length)
  const begin = Math.floor((reads.length - often) / 2)
  return reads.slice(begin, begin + often)
}

async function compareReads(server: MeasuredServer, reads: readonly Read[], row: Row): Promise<void> {
  const body = reads[Math.floor(reads.length / 2)]?.answer.body ?? ''
  const node = await startServer('http-peer.ts', ['node'], { BODY: body })
  const fastify = await startServer('http-peer.ts', ['fastify'], { BODY: body })
  const bare = () => ({ path: '/' })
  row('CPU of the server, µs a request: median (min–max)', 'Ganglion', 'node:http', 'Fastify + zod', 'ratio', 'aim')
  row('---', '---', '---', '---', '---', '---')
  const compare = async (name: string, atMost: number, request: NumberedRequest) => {
    const { ours, ...peers } = await inTurn(rounds, {
      ours: () => cpuOf(server, request),
      node: () => cpuOf(node, bare),
      fastify: () => cpuOf(fastify, bare),
    })
    const ratio = ours.median / peers.fastify.median
    const aim = noteAim(`CPU: ${name}`, ratio, { atMost }, '× Fastify')
    row(name, whole(ours), whole(peers.node), whole(peers.fastify), `${ratio.toFixed(1)}×`, aim)
  }
  const again: NumberedRequest = (n) => reads[n % reads.length]?.request ?? bare()
  const tags = reads.map(({ answer }) => /\r\netag: (.*)/i.exec(answer.headers)?.[1] ?? '')
  const revalidate: NumberedRequest = (n) => {
    const { path, headers } = again(n)
    return { path, headers: { ...headers, 'if-none-match': tags[n % tags.length] ?? '' } }
  }
  await compare(`\`GET\` a Neuron of ${(body.length / 1024).toFixed(1)} KB`, 1.6, again)
  await compare('the same with `If-None-Match`: 304', 1.4, revalidate)
  await compare('`GET /healthz`', 1.3, () => ({ path: '/healthz' }))
  await node.stop()
  await fastify.stop()
}

async function cpuOf(server: MeasuredServer, request: NumberedRequest): Promise<number> {
  const requests = Array.from({ length: requestsPerRound }, (_, n) => request(n))
  return (await measure(server, requests, { connections })).cpu
}

async function measureWrites(server: MeasuredServer, headers: Record<string, string>, row: Row): Promise<void> {
  const submit = ({ title, text: content }: { title: string; text: string }) => {
    const body = { knowledgeBaseId: 'bench', kind: 'external-feed', title, content }
    return { method: 'POST', path: '/api/v1/queue/candidates', headers, body }
  }
  const approve = ({ body }: WireAnswer) => {
    const { candidateId } = JSON.parse(body)
    return { method: 'POST', path: `/api/v1/queue/candidates/${candidateId}/approve`, headers }
  }
  const submissions = generateNotes(2 * writes, 2).map(submit)
  const warmUp = await measure(server, submissions.slice(0, writes), { connections })
  const submitted = await measure(server, submissions.slice(writes), { connections })
  const aim = noteAim('CPU: submit a candidate', submitted.cpu, { atMost: 800 }, 'µs of CPU')
  tell(row, `submit a waiting candidate, ${connections} in flight`, aim, submitted)
  await measure(server, warmUp.answers.map(approve), { connections })
  const approved = await measure(server, submitted.answers.map(approve), { connections })
  tell(row, `approve, ${connections} in flight`, '', approved)
}

function tell(row: Row, name: string, aim: string, { cpu, perSecond, p50, p99 }: Measured): void {
  row(name, cpu.toFixed(0), perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), aim)
}

function whole({ median, min, max }: Timing): string {
  return `${median.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)})`
}
