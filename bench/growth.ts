import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openContext } from '../src/app/open-context.ts'
import { noteAim } from './support/aims.ts'
import { importAnew } from './support/imported-notes.ts'
import { inTurn, milliseconds, summary, workFolder } from './support/measure.ts'
import { serveGanglion } from './support/measured-server.ts'
import { generateNotes } from './support/notes.ts'

const sizes = (process.env.GROWTH ?? '1000,10000').split(',').map(Number)
const repeats = 30
/** Queries: words of titles that other notes have. */
const queries = generateNotes(6 * repeats, 2).map(({ title }) => title.split(' ').slice(0, 2).join(' '))
const run = promisify(execFile)

/** Figures by name; seconds, milliseconds or megabytes as the name says. */
type Figures = Record<string, number>

/** Maximum growth of each figure from one size to the next, which is ten times as large. */
const bounds: Readonly<Record<string, number>> = {
  'import, s': 10.5,
  'bytes that it writes, MB': 10.5,
  'first read after a start, ms': 1.5,
  'until a search answers, s': 10.5,
  'read not read before, p50, ms': 1.2,
  'new search, p50, ms': 1.3,
  'retrieve, p50, ms': 1.5,
  'submission approved by policy, p50, ms': 1.2,
  'correction, p50, ms': 1.2,
  'push of one edit, ms': 1.3,
}

/**
 * Measures every cost as a knowledge base grows: an import into an empty one, then `ganglion serve` with its defaults (but for its rate
 * limits), one request at a time. `GROWTH=1000,10000,100000` sets the sizes.
 */
export async function benchGrowth(): Promise<string[]> {
  const all: Figures[] = []
  for (const size of sizes) all.push(await measureSize(size))
  const names = Object.keys(all[0] ?? {})
  const rows = names.map((name) => {
    const values = all.map((figures) => figures[name] ?? Number.NaN)
    const [before = Number.NaN, last = Number.NaN] = values.slice(-2)
    const bound = bounds[name]
    const aim =
      bound === undefined ? '' : noteAim(`growth: ${name}`, last / before, { atMost: bound }, '× the size before')
    return `| ${[name, ...values.map((value) => value.toFixed(1)), `${(last / before).toFixed(2)}×`, aim].join(' | ')} |`
  })
  const head = ['', ...sizes.map((size) => `${size} Neurons`), 'the last two', 'aim']
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows]
}

async function measureSize(size: number): Promise<Figures> {
  const written = bytesWritten()
  const { dataDir, tenantId, kbId, importing } = await importAnew(size)
  const figures: Figures = {
    'import, s': importing / 1000,
    'bytes that it writes, MB': (bytesWritten() - written) / 1e6,
    'bytes that it leaves, MB': (await bytesIn(dataDir)) / 1e6,
  }
  const { token, seqIds, gitDir } = await prepare(dataDir, tenantId, kbId)
  const server = await serveGanglion(dataDir)
  const ask = async (path: string, body?: object, method = body === undefined ? 'GET' : 'POST') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await answer.text()
    if (!answer.ok && answer.status !== 503) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`)
    return answer.status
  }
  const neuron = (seqId: string) => `/api/v1/neurons/bench/${seqId}`
  const search = (q: string) => `/api/v1/knowledge-bases/bench/search?${new URLSearchParams({ q })}`
  const p50 = async (work: (n: number) => Promise<unknown>) => {
    const times: number[] = []
    for (let n = 0; n < repeats; n++) times.push(await milliseconds(() => work(n)))
    return summary(times).median
  }
  const step = Math.floor(seqIds.length / (4 * repeats))
  const some = (n: number, kind: number) => seqIds[(4 * n + kind) * step] ?? ''

  figures['first read after a start, ms'] = await milliseconds(() => ask(neuron(some(0, 0))))
  figures['until a search answers, s'] =
    (await milliseconds(async () => {
      while ((await ask(search('anything'))) === 503) await delay(50)
    })) / 1000
  await server.idle()
  figures['read not read before, p50, ms'] = await p50((n) => ask(neuron(some(n, 1))))
  for (const query of queries.slice(2 * repeats)) await ask(search(query))
  figures['new search, p50, ms'] = await p50((n) => ask(search(queries[n] ?? '')))
  const retrieve = '/api/v1/knowledge-bases/bench/retrieve'
  figures['retrieve, p50, ms'] = await p50((n) => ask(retrieve, { query: queries[repeats + n] }))
  const candidate = (n: number, more: object) => ({
    ...{ knowledgeBaseId: 'bench', kind: 'external-feed', title: `A page ${n} of the bench`, confidence: 1 },
    ...{ content: `Its text number ${n} tells of ${queries[n]}.`, ...more },
  })
  const submit = (n: number, more: object) => ask('/api/v1/queue/candidates', candidate(n, more))
  figures['submission approved by policy, p50, ms'] = await p50((n) => submit(n, {}))
  figures['correction, p50, ms'] = await p50((n) =>
    submit(n, { kind: 'user-correction', metadata: { targetNeuron: some(n, 2) } }),
  )
  Object.assign(figures, await measureGit(server.url.replace('://', `://any:${token}@`), gitDir))
  await server.stop()
  return figures
}

async function measureGit(url: string, gitDir: string): Promise<Figures> {
  const folder = workFolder()
  const desk = join(folder, 'desk')
  const git = (cwd: string, ...args: string[]) =>
    run('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', ...args], { cwd, maxBuffer: 1 << 30 })
  const remote = `${url}/git/bench/bench.git`
  let clones = 0
  const clone = (from: string) =>
    milliseconds(() => git(folder, 'clone', '--quiet', '--bare', from, `clone-${clones++}.git`))
  const { file, http } = await inTurn(3, { file: () => clone(`file://${gitDir}`), http: () => clone(remote) })
  await git(folder, 'clone', '--quiet', remote, desk)
  const pages = (await git(desk, 'ls-files', 'neurons')).stdout.split('\n')
  const { push } = await inTurn(5, {
    push: async () => {
      writeFileSync(join(desk, pages[clones++] ?? ''), `\nEdit ${clones}.\n`, { flag: 'a' })
      await git(desk, 'commit', '--quiet', '--all', '-m', 'Edit')
      const time = await milliseconds(() => git(desk, 'push', '--quiet', 'origin', 'main'))
      await git(desk, 'pull', '--quiet')
      return time
    },
  })
  return {
    'push of one edit, ms': push.median,
    'clone over `file://`, ms': file.median,
    'clone over HTTP, ms': http.median,
  }
}

async function prepare(dataDir: string, tenantId: string, kbId: string) {
  const ctx = await openContext({ dataDir })
  const key = { tenantId, name: 'Bench', role: 'curator', expiresAt: null } as const
  const { token } = await ctx.apiKeys.create({ ...key, connectors: [] }, ctx.now())
  const { projection } = await ctx.kb(tenantId, 'bench')
  const seqIds = projection.read.all`SELECT seq_id FROM neurons ORDER BY seq_id`.map(({ seq_id }) => String(seq_id))
  const gitDir = ctx.directory.repository(kbId)
  await ctx.close()
  return { token, seqIds, gitDir }
}

/** Returns the bytes that this process has written. */
function bytesWritten(): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
