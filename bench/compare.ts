import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WireAnswer, WireRequest } from './support/http-load.ts'
import { writeNotes } from './support/imported-notes.ts'
import { summary, workFolder } from './support/measure.ts'
import { type MeasuredServer, measure, serveGanglion } from './support/measured-server.ts'
import { generateNotes } from './support/notes.ts'

const rounds = Number(process.env.COMPARE_ROUNDS ?? 7)
const neurons = Number(process.env.COMPARE_NEURONS ?? 2_000)
/** A figure that grew by this share in three rounds of four counts as slower. */
const tolerance = 1.05
const here = fileURLToPath(new URL('..', import.meta.url))

/** A revision that is installed: the knowledge base `bench` of its own data directory holds the generated notes. */
type Product = { root: string; dataDir: string; token: string; vault: string }
/** Microseconds of CPU by what they were spent on. */
type Figures = Record<string, number>
/** Figures of one round, from both revisions. */
type Round = { old: Figures; now: Figures }
/** Prepares what is measured, and gives one round of it. */
type Part = (product: Product) => Promise<{ round: () => Promise<Figures>; end: () => Promise<void> }>

const parts: Record<string, Part> = { import: importing, start: starting, requests: requesting, writes: writing }

/**
 * Runs parts of the product from another revision and from this checkout in turns, each from outside: its command line, its API. Prints
 * the ratio of each figure, new to old. Exit code 1 where something is slower.
 */
export async function compareWith(revision: string, wanted: readonly string[]): Promise<string[]> {
  const unknown = wanted.find((name) => !(name in parts))
  if (unknown !== undefined) throw new Error(`no part is called ${unknown}: ${Object.keys(parts).join(', ')}`)
  const other = installRevision(revision)
  const vault = writeNotes(generateNotes(neurons))
  const products = { old: await prepareProduct(other, vault), now: await prepareProduct(here, vault) }
  const lines = ['| µs of CPU, medians | old | new | new / old: median (quartiles) | |', '|---|---|---|---|---|']
  for (const [name, part] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const sides = { old: await part(products.old), now: await part(products.now) }
    const measured: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      // Each goes first in every other round, since the second finds a warmer machine.
      const order = round % 2 === 0 ? (['old', 'now'] as const) : (['now', 'old'] as const)
      const figures: Round = { old: {}, now: {} }
      for (const side of order) figures[side] = await sides[side].round()
      if (round > 0) measured.push(figures)
    }
    await sides.old.end()
    await sides.now.end()
    lines.push(...tellRatios(measured))
  }
  return lines
}

function tellRatios(measured: readonly Round[]): string[] {
  return Object.keys(measured[0]?.now ?? {}).map((figure) => {
    const pairs = measured.map(({ old, now }) => ({ old: old[figure] ?? Number.NaN, now: now[figure] ?? Number.NaN }))
    const old = summary(pairs.map((pair) => pair.old))
    const now = summary(pairs.map((pair) => pair.now))
    const ratio = summary(pairs.map((pair) => pair.now / pair.old))
    const isSlower = ratio.lowerQuartile > tolerance
    if (isSlower) process.exitCode = 1
    const spread = `${ratio.median.toFixed(2)} (${ratio.lowerQuartile.toFixed(2)}–${ratio.upperQuartile.toFixed(2)})`
    const verdict = isSlower ? '**slower**' : ratio.upperQuartile < 1 / tolerance ? 'faster' : ''
    const line = `| ${figure} | ${old.median.toFixed(0)} | ${now.median.toFixed(0)} | ${spread} | ${verdict} |`
    console.error(line)
    return line
  })
}

/** @returns a folder with the revision's files and its packages */
function installRevision(revision: string): string {
  const root = join(workFolder(), 'other')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
  git('worktree', 'add', '--quiet', '--detach', root, revision)
  process.on('exit', () => git('worktree', 'remove', '--force', root))
  const lockOf = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8')
  if (lockOf(root) === lockOf(here)) symlinkSync(join(here, 'node_modules'), join(root, 'node_modules'))
  else execFileSync('npm', ['ci', '--silent', '--no-audit', '--no-fund'], { cwd: root, stdio: 'inherit' })
  return root
}

async function prepareProduct(root: string, vault: string): Promise<Product> {
  const dataDir = join(workFolder(), 'data')
  await runProgram(root, ['kb', 'create', 'bench', '--tenant', 'bench', '--data', dataDir])
  await runProgram(root, ['import', vault, '--tenant', 'bench', '--kb', 'bench', '--data', dataDir])
  const key = ['key', 'create', '--tenant', 'bench', '--role', 'curator', '--json', '--data', dataDir]
  const { token } = JSON.parse((await runProgram(root, key)).output)
  return { root, dataDir, token, vault }
}

/** Runs a command to its end. */
async function runProgram(root: string, args: readonly string[]): Promise<{ output: string; cpu: number }> {
  const child = fork(join(root, 'src/main.js'), args, {
    execArgv: ['--import', new URL('support/tell-cpu.ts', import.meta.url).href],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let cpu = 0
  child.on('message', ({ user, system }: NodeJS.CpuUsage) => {
    cpu = user + system
  })
  const ended = once(child, 'exit')
  const output = (await child.stdout?.toArray())?.join('') ?? ''
  const [code] = await ended
  if (code !== 0) throw new Error(`ganglion ${args.join(' ')}: exit code ${code}`)
  return { output, cpu }
}

async function importing({ root, vault }: Product) {
  const round = async () => {
    const data = ['--tenant', 'bench', '--data', join(workFolder(), 'data')]
    await runProgram(root, ['kb', 'create', 'bench', ...data])
    const { cpu } = await runProgram(root, ['import', vault, '--kb', 'bench', ...data])
    return { [`import of ${neurons} notes`]: cpu }
  }
  return { round, end: async () => {} }
}

/** Starts on a copy of the data directory: with the index that an earlier run has left, and without it. */
async function starting(product: Product) {
  const dataDir = join(workFolder(), 'data')
  cpSync(product.dataDir, dataDir, { recursive: true })
  const headers = { authorization: `Bearer ${product.token}` }
  const started = async () => {
    const server = await serveGanglion(dataDir, product.root)
    await measure(server, [{ path: '/api/v1/knowledge-bases/bench/neurons?limit=1', headers }], { connections: 1 })
    const cpu = await server.cpu()
    await server.idle()
    const settled = await server.cpu()
    await server.stop()
    return { cpu, settled }
  }
  const round = async () => {
    rmSync(join(dataDir, 'index'), { recursive: true, force: true })
    const first = await started()
    const second = await started()
    return {
      'start, until a Neuron is listed': second.cpu,
      'start, until nothing is left to do': second.settled,
      [`first opening of ${neurons} Neurons, until one is listed`]: first.cpu,
      [`first opening of ${neurons} Neurons, index and all`]: first.settled,
    }
  }
  return { round, end: async () => {} }
}

async function requesting(product: Product) {
  const server = await serveGanglion(product.dataDir, product.root)
  const headers = { authorization: `Bearer ${product.token}` }
  const ask = async (requests: readonly WireRequest[], connections = 20) =>
    await measure(server, requests, { connections })
  const pages = (await seqIdsOf(server, headers)).map((seqId) => ({ path: `/api/v1/neurons/bench/${seqId}`, headers }))
  const repeated = (count: number, request: (n: number) => WireRequest) =>
    Array.from({ length: count }, (_, n) => request(n))
  const often = pages.slice(0, 200)
  const { answers } = await ask(often)
  const tagged = often.map((request, n) => ({
    ...request,
    headers: { ...headers, 'if-none-match': /\r\netag: (.*)/i.exec(answers[n]?.headers ?? '')?.[1] ?? '' },
  }))
  const search = (q: string) => ({
    path: `/api/v1/knowledge-bases/bench/search?${new URLSearchParams({ q })}`,
    headers,
  })
  let asked = 0
  await server.idle()
  const round = async () => {
    const queries = generateNotes(400, 100 + asked++).map(({ title }) => search(title.split(' ').slice(0, 2).join(' ')))
    return {
      '`GET /healthz`': (await ask(repeated(4_000, () => ({ path: '/healthz' })))).cpu,
      '`GET` a Neuron': (await ask(repeated(4_000, (n) => often[n % often.length] ?? { path: '/' }))).cpu,
      'the same with `If-None-Match`: 304': (
        await ask(repeated(4_000, (n) => tagged[n % tagged.length] ?? { path: '/' }))
      ).cpu,
      [`each of ${pages.length} Neurons`]: (await ask(pages)).cpu,
      'a search not asked before, one connection': (await ask(queries, 1)).cpu,
      'the same again': (await ask(queries, 1)).cpu,
    }
  }
  return { round, end: server.stop }
}

async function writing(product: Product) {
  const server = await serveGanglion(product.dataDir, product.root)
  const headers = { authorization: `Bearer ${product.token}` }
  const seqIds = await seqIdsOf(server, headers)
  const post = (path: string, body?: object): WireRequest => ({ method: 'POST', path: `/api/v1${path}`, headers, body })
  const submit = (fields: object) =>
    post('/queue/candidates', { knowledgeBaseId: 'bench', kind: 'external-feed', ...fields })
  const approve = ({ body }: WireAnswer) => post(`/queue/candidates/${JSON.parse(body).candidateId}/approve`)
  let seed = 1000
  await server.idle()
  const round = async () => {
    const notes = generateNotes(300, seed++).map(({ title, text }) => ({ title: `${title} ${seed}`, content: text }))
    const submitted = await measure(server, notes.map(submit), { connections: 50 })
    const approved = await measure(server, submitted.answers.map(approve), { connections: 50 })
    const edits = notes.slice(0, 50).map(({ content }, n) =>
      submit({
        kind: 'user-correction',
        title: `Edit ${n}`,
        content,
        confidence: 1,
        metadata: { targetNeuron: seqIds[n] },
      }),
    )
    // What follows the approvals, such as the index, is not a cost of the edits.
    await server.idle()
    const edited = await measure(server, edits, { connections: 1 })
    return {
      'submit, 50 in flight': submitted.cpu,
      'approve, 50 in flight': approved.cpu,
      'one edit approved by the policy, alone': edited.cpu,
    }
  }
  return { round, end: server.stop }
}

async function seqIdsOf(server: MeasuredServer, headers: Record<string, string>): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = new URLSearchParams({ limit: '100', ...(cursor !== '' && { cursor }) })
    const answer = await fetch(`${server.url}/api/v1/knowledge-bases/bench/neurons?${page}`, { headers })
    const { neurons, nextCursor } = (await answer.json()) as { neurons: { seqId: string }[]; nextCursor: string | null }
    found.push(...neurons.map(({ seqId }) => seqId))
    cursor = nextCursor ?? null
  }
  return found
}
