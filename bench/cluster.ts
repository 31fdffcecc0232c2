import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ContextOptions, openContext } from '../src/app/open-context.ts'
import { createKnowledgeBase, operator } from '../src/kb/create-kb.ts'
import { importDirectory } from '../src/operate/import/import-directory.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { startBucket } from './support/bucket.ts'
import { load, type WireAnswer, type WireRequest } from './support/http-load.ts'
import { writeNotes } from './support/imported-notes.ts'
import { milliseconds, workFolder } from './support/measure.ts'
import { type MeasuredServer, startServer } from './support/measured-server.ts'
import { generateNotes } from './support/notes.ts'

const run = promisify(execFile)
const approvals = Number(process.env.CLUSTER_APPROVALS ?? 1_500)
const neurons = Number(process.env.CLUSTER_NEURONS ?? 10_000)
/** Milliseconds of each request to the bucket, about as long as in one region of a cloud. */
const latencyMs = Number(process.env.BUCKET_MS ?? 20)
/** Milliseconds until a connection of PostgreSQL that is idle has told what it has committed. */
const countedAfter = 11_000
const connections = 50
/** The first is a warm-up. */
const rounds = 2
const slugs = ['first', 'second', 'third']
const rates = { GANGLION_RATE_READS: '1000000', GANGLION_RATE_WRITES: '1000000', GANGLION_PORT: '0' }

type Approved = { perSecond: number; p50: number; p99: number }
type Spread = (n: number) => { kb: string; server: MeasuredServer }

/**
 * Approvals over HTTP, durable when they are answered: of one process with SQLite, of one node on PostgreSQL and a bucket, and of three
 * nodes with a knowledge base each, or with one for all. Then what a fresh node takes for a large knowledge base.
 */
export async function benchCluster(): Promise<string[]> {
  const alone = await onOneMachine()
  const postgres = await PostgresServer.start({ durable: true })
  await postgres.run('create database ganglion')
  const bucket = await startBucket(latencyMs)
  const shared = { database: postgres.address('ganglion'), objects: bucket.options }
  const token = await prepare({ dataDir: workFolder(), ...shared })
  const env = {
    ...rates,
    GANGLION_DATABASE: shared.database,
    GANGLION_OBJECTS: `s3://bench/?region=bench&endpoint=${bucket.options.endpoint}`,
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
  }
  const nodes = await Promise.all(slugs.map(() => serve(workFolder(), env)))
  const [one, ...others] = nodes
  if (one === undefined) throw new Error('no node')
  const committed = async () => {
    await delay(countedAfter)
    const [row] = await postgres.run("select xact_commit as n from pg_stat_database where datname = 'ganglion'")
    return Number(row?.n)
  }
  const before = { ...bucket.figures, transactions: await committed() }
  const single = await approve(token, () => ({ kb: 'first', server: one }))
  const each = (figure: number, of = approvals * rounds) => (figure / of).toFixed(2)
  const costs = [
    `${each(bucket.figures.puts - before.puts)} requests that put, ${each((bucket.figures.bytesPut - before.bytesPut) / 1024)} KB`,
    `${each((await committed()) - before.transactions)} transactions`,
  ]
  const untilReads = await committed()
  await load(
    one.url,
    Array.from({ length: approvals }, () => readOf(token)),
    { connections },
  )
  costs.push(`a read of a list: ${each((await committed()) - untilReads, approvals)} transactions`)
  const spread = await approve(token, (n) => ({ kb: slugs[n % 3] ?? '', server: nodes[n % 3] ?? one }))
  const hot = await approve(token, (n) => ({ kb: 'second', server: nodes[n % 3] ?? one }))
  const large = await coldNode(token, { shared, env })
  await Promise.all([one, ...others].map((node) => node.stop()))
  bucket.close()
  await postgres.remove()
  const row = (name: string, { perSecond, p50, p99 }: Approved) =>
    `| ${name} | ${perSecond.toFixed(0)} | ${p50.toFixed(0)} | ${p99.toFixed(0)} |`
  return [
    `| ${approvals} approvals, ${connections} in flight, ${latencyMs} ms for each request to the bucket | a second | p50, ms | p99, ms |`,
    '|---|---|---|---|',
    row('one process, SQLite', alone),
    row('one node', single),
    row('three nodes, a knowledge base each', spread),
    row('three nodes, one knowledge base', hot),
    '',
    `An approval of one node, with its submission: ${costs.join('; ')}.`,
    ...large,
  ]
}

async function onOneMachine(): Promise<Approved> {
  const dataDir = workFolder()
  const token = await prepare({ dataDir })
  const server = await serve(dataDir, rates)
  const approved = await approve(token, () => ({ kb: 'first', server }))
  await server.stop()
  return approved
}

/** Makes three knowledge bases, and a curator's key. */
async function prepare(options: ContextOptions): Promise<string> {
  const ctx = await openContext(options)
  for (const slug of slugs) await createKnowledgeBase(ctx, { tenant: 'bench', slug })
  const tenantId = (await ctx.tenants.find('bench'))?.id ?? ''
  const key = { tenantId, name: 'Bench', role: 'curator' as const, connectors: [], expiresAt: null }
  const { token } = await ctx.apiKeys.create(key, ctx.now())
  await ctx.close()
  return token
}

async function serve(dataDir: string, env: Readonly<Record<string, string>>): Promise<MeasuredServer> {
  const server = await startServer('../../src/main.js', ['serve', '--json', '--data', dataDir], env)
  await server.idle()
  return server
}

function readOf(token: string): WireRequest {
  return { path: '/api/v1/knowledge-bases/first/neurons?limit=1', headers: { authorization: `Bearer ${token}` } }
}

/** Submits as many candidates as are then approved, and as many before to warm up. */
async function approve(token: string, spread: Spread): Promise<Approved> {
  const headers = { authorization: `Bearer ${token}` }
  const submit = ({ title, text: content }: { title: string; text: string }, n: number): WireRequest => {
    const body = { kb: spread(n).kb, kind: 'external-feed', title, content }
    return { method: 'POST', path: '/api/v1/queue/candidates', headers, body }
  }
  const round = async (seed: number) => {
    const submitted = await send(generateNotes(approvals, seed).map(submit), spread)
    const begin = performance.now()
    const answers = await send(
      submitted.map(({ body }) => ({
        method: 'POST',
        path: `/api/v1/queue/candidates/${JSON.parse(body).candidateId}/approve`,
        headers,
      })),
      spread,
    )
    return { answers, seconds: (performance.now() - begin) / 1000 }
  }
  const seed = Math.floor(performance.now())
  let last = await round(seed)
  for (let n = 1; n < rounds; n++) last = await round(seed + n)
  const { answers, seconds } = last
  const times = answers.map(({ milliseconds: time }) => time).sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0
  return { perSecond: approvals / seconds, p50: at(0.5), p99: at(0.99) }
}

/** Sends each request to the server that it is meant for; all servers at once. */
async function send(requests: readonly WireRequest[], spread: Spread): Promise<WireAnswer[]> {
  const byServer = Map.groupBy(
    requests.map((request, n) => ({ request, n })),
    ({ n }) => spread(n).server,
  )
  const answers: WireAnswer[] = []
  const sending = [...byServer].map(async ([server, all]) => {
    const options = { connections: Math.ceil(connections / byServer.size) }
    const sent = await load(
      server.url,
      all.map(({ request }) => request),
      options,
    )
    for (const [index, answer] of sent.entries()) answers[all[index]?.n ?? 0] = answer
  })
  await Promise.all(sending)
  const failed = answers.find(({ status }) => status >= 400)
  if (failed !== undefined) throw new Error(`${failed.status}: ${failed.body}`)
  return answers
}

type Fresh = { shared: Pick<ContextOptions, 'database' | 'objects'>; env: Readonly<Record<string, string>> }

/** A knowledge base that another node has made is read for the first time, and cloned, through a node with an empty disk. */
async function coldNode(token: string, { shared, env }: Fresh): Promise<string[]> {
  const ctx = await openContext({ dataDir: workFolder(), ...shared })
  await createKnowledgeBase(ctx, { tenant: 'bench', slug: 'large' })
  const kb = await ctx.kb((await ctx.tenants.find('bench'))?.id ?? '', 'large')
  const vault = writeNotes(generateNotes(neurons))
  await importDirectory(kb, vault, { actor: operator, now: ctx.now })
  await ctx.close()
  const headers = { authorization: `Bearer ${token}` }
  const first = await serve(workFolder(), env)
  const read = await milliseconds(async () => {
    const answer = await fetch(`${first.url}/api/v1/knowledge-bases/large/neurons?limit=1`, { headers })
    if (!answer.ok) throw new Error(await answer.text())
    await answer.arrayBuffer()
  })
  await first.stop()
  const second = await serve(workFolder(), env)
  const remote = `${second.url.replace('//', `//any:${token}@`)}/git/bench/large.git`
  const clone = await milliseconds(() =>
    run('git', ['clone', '--quiet', '--bare', remote, join(workFolder(), 'clone')]),
  )
  await second.stop()
  const told = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return [
    '',
    `${neurons} Neurons through a node with an empty disk: the first read ${told(read)}, a clone ${told(clone)}.`,
  ]
}
