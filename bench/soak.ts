import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { defaultFileTypes } from '../src/contract/documents.ts'
import { docxFile, pptxFile, xlsxFile } from './extract/office-files.ts'
import { layOut, textPdf } from './extract/pdf-file.ts'
import { blocksOf } from './extract/prose.ts'
import { tableRows } from './extract/text-files.ts'
import { workFolder } from './support/measure.ts'
import { generateNotes } from './support/notes.ts'

type Document = { name: string; bytes: Uint8Array<ArrayBuffer> }
type Sample = { minute: number; uploads: number; rss: number; heap: number; external: number }

const Started = z.object({ url: z.string(), curatorToken: z.string(), appToken: z.string() })
const Created = z.object({ id: z.string() })
const Submitted = z.object({ candidateId: z.string() })
const main = fileURLToPath(new URL('../src/main.js', import.meta.url))
const uploaders = 3
const sampleMs = 15_000
const over = new Set(['success', 'failed'])
const pause = { upload: 250, read: 100, edit: 2_000 }
/** The share of the run, and of the growth in it, that is not judged: caches and indexes fill at first. */
const warmUp = 0.4

/**
 * The memory of a server that works without a break: Sources are uploaded, each again and again as its next edition, so that the
 * knowledge base stays as large as it is; candidates are decided, questions asked, event streams opened and closed.
 * `SOAK_MINUTES` says for how long (2), `SOAK_FOLDER` where documents are (generated ones).
 */
export async function benchSoak(): Promise<string[]> {
  const minutes = Number(process.env.SOAK_MINUTES ?? 2)
  const folder = process.env.SOAK_FOLDER
  const documents = folder === undefined ? generated() : documentsIn(folder)
  const { server, ...started } = await startServer(join(workFolder(), 'data'))
  process.on('exit', () => server.kill('SIGKILL'))
  const api = new Api(started)
  const stop = AbortSignal.timeout(minutes * 60_000)
  const samples: Sample[] = []
  const sampling = setInterval(async () => {
    const sample = await measure(server, started.url, (samples.length + 1) * (sampleMs / 60_000), api.uploads)
    samples.push(sample)
    if (samples.length % (60_000 / sampleMs) === 0) console.log(rowOf(sample))
  }, sampleMs)
  console.log('| minute | uploads | RSS, MB | heap, MB | external, MB |\n|---|---|---|---|---|')
  const queue = endless(documents)
  const upload = async () => {
    const { value } = queue.next()
    if (value !== undefined) await api.upload(value)
  }
  const loops = [
    ...Array.from({ length: uploaders }, () => repeat(upload, pause.upload, stop)),
    repeat(() => api.read(), pause.read, stop),
    repeat(() => api.edit(), pause.edit, stop),
    repeat(() => api.follow(), pause.edit, stop),
  ]
  await Promise.all(loops)
  clearInterval(sampling)
  const busy = samples.at(-1)
  await delay(Math.min(60_000, minutes * 10_000))
  const idle = await measure(server, started.url, minutes, api.uploads)
  server.kill('SIGTERM')
  await once(server, 'exit')
  return [
    '',
    ...judgement(samples),
    `Busy ${busy?.rss ?? 0} MB, idle ${idle.rss} MB, ${api.uploads} uploads, ${api.busyAnswers} answers of 503.`,
  ]
}

/** Client. An unsuccessful answer ends the run, except 503, which is retried and counted. */
class Api {
  readonly #url: string
  readonly #headers: { app: Record<string, string>; curator: Record<string, string> }
  uploads = 0
  busyAnswers = 0
  #round = 0

  constructor({ url, appToken, curatorToken }: z.infer<typeof Started>) {
    this.#url = `${url}/api/v1`
    this.#headers = { app: bearer(appToken), curator: bearer(curatorToken) }
  }

  /** Uploads a document and waits until it is ingested. */
  async upload({ name, bytes }: Document): Promise<void> {
    const form = new FormData()
    form.append('file', new File([bytes], name))
    const path = '/knowledge-bases/demo/documents/upload?force=true&replace=true'
    const { id } = Created.parse(await this.#ask('app', path, { method: 'POST', body: form }))
    this.uploads++
    const status = z.object({ status: z.string(), archivedAt: z.string().nullable() })
    for (;;) {
      const source = status.parse(await this.#ask('curator', `/documents/${id}`))
      if (over.has(source.status) || source.archivedAt !== null) return
      await delay(200)
    }
  }

  async read(): Promise<void> {
    const words = ['document', 'chart', 'letters', 'table of contents', 'kala', 'the invoice'][this.#round++ % 6] ?? ''
    const body = { knowledgeBaseId: 'demo', query: words, message: `What about ${words}?` }
    await this.#ask('app', `/search?kb=demo&q=${encodeURIComponent(words)}`)
    await this.#ask('app', '/chat', json(body))
  }

  /** Proposes a Neuron and dismisses it. */
  async edit(): Promise<void> {
    const content = `Round ${this.#round}.\n\n${'A line of a page. '.repeat(500)}`
    const candidate = { knowledgeBaseId: 'demo', kind: 'external-feed', title: `Page ${this.#round}`, content }
    const { candidateId } = Submitted.parse(await this.#ask('app', '/queue/candidates', json(candidate)))
    await this.#ask('curator', `/queue/candidates/${candidateId}`)
    await this.#ask('curator', `/queue/candidates/${candidateId}/dismiss`, json({ reason: 'soak' }))
  }

  /** Opens an event stream and leaves. */
  async follow(): Promise<void> {
    const gone = new AbortController()
    const answer = await fetch(`${this.#url}/events`, { headers: this.#headers.app, signal: gone.signal })
    await answer.body?.getReader().read()
    gone.abort()
  }

  async #ask(as: 'app' | 'curator', path: string, init: RequestInit = {}): Promise<unknown> {
    const answer = await fetch(`${this.#url}${path}`, { ...init, headers: { ...this.#headers[as], ...init.headers } })
    const text = await answer.text()
    if (answer.status === 503) {
      this.busyAnswers++
      await delay(1_000)
      return this.#ask(as, path, init)
    }
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` }
}

function json(body: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

async function startServer(dataDir: string) {
  const limits = ['READS', 'WRITES', 'CHATS'].map((name) => [`GANGLION_RATE_${name}`, '1000000'])
  const env = { ...process.env, GANGLION_LOG_LEVEL: 'warn', ...Object.fromEntries(limits) }
  const args = [main, 'serve', '--json', '--port', '0', '--data', dataDir]
  const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data')
  return { server, ...Started.parse(JSON.parse(String(line))) }
}

/** Bytes of the process, as Linux counts them, and of its main heap. */
async function measure({ pid }: ChildProcess, url: string, minute: number, uploads: number): Promise<Sample> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const megabytes = (name: string) => Math.round(Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1]) / 2 ** 20)
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return {
    ...{ minute, uploads, rss: Math.round(Number(rss) / 1024) },
    heap: megabytes('nodejs_heap_size_used_bytes'),
    external: megabytes('nodejs_external_memory_bytes'),
  }
}

function rowOf({ minute, uploads, rss, heap, external }: Sample): string {
  return `| ${minute} | ${uploads} | ${rss} | ${heap} | ${external} |`
}

/** The growth behind the warm-up, by the means of its first and its last third, which single peaks do not move much. */
function judgement(samples: readonly Sample[]): string[] {
  const judged = samples.slice(Math.floor(samples.length * warmUp))
  const third = Math.floor(judged.length / 3)
  const mean = (some: readonly Sample[]) => Math.round(some.reduce((sum, { rss }) => sum + rss, 0) / some.length)
  const [first, last] = [mean(judged.slice(0, third)), mean(judged.slice(-third))]
  const growth = Math.round((last / first - 1) * 100)
  return [`RSS behind the warm-up: ${first} MB, at the end ${last} MB (${growth} %; aim: within 10 %).`]
}

async function repeat(work: () => Promise<void>, ms: number, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await work()
    await delay(ms)
  }
}

function* endless(documents: readonly Document[]): Generator<Document> {
  for (;;) yield* documents
}

function documentsIn(folder: string): Document[] {
  const known = new Set<string>(defaultFileTypes)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && known.has(extname(entry.name).slice(1).toLowerCase()))
    .map(({ parentPath, name }) => ({
      name: `${basename(parentPath)}-${name}`,
      bytes: new Uint8Array(readFileSync(join(parentPath, name))),
    }))
}

/** Some of each family of formats. */
function generated(): Document[] {
  const blocks = blocksOf(60_000)
  const notes = generateNotes(30).map(({ title, text }) => ({
    name: `${title}.md`,
    bytes: new Uint8Array(Buffer.from(text)),
  }))
  const files: [string, Uint8Array][] = [
    ['report.docx', docxFile(blocks)],
    ['talk.pptx', pptxFile(blocks)],
    ['table.xlsx', xlsxFile(tableRows(4_000))],
    ['book.pdf', textPdf(layOut(blocks, 200))],
  ]
  return [...notes, ...files.map(([name, bytes]) => ({ name, bytes: new Uint8Array(bytes) }))]
}
