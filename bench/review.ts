import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type OpenContext, openContext } from '../src/app/open-context.ts'
import { consoleRoutes } from '../src/console/console.ts'
import { buildServer } from '../src/http/server.ts'
import { countPending } from '../src/kb/projection/candidate-index.ts'
import { finishErasure, prepareErasure } from '../src/operate/erase/erase.ts'
import { approveCandidate } from '../src/queue/decide-candidate.ts'
import { submitCandidate } from '../src/queue/submit-candidate.ts'
import type { Caller } from '../src/rules/access/caller.ts'
import { signIn } from '../test/support/person.ts'
import { benchAnswerTests } from './answer-tests.ts'
import { benchPreviews } from './previews.ts'
import { importNotes } from './support/imported-notes.ts'
import { inTurn, milliseconds, show, workFolder } from './support/measure.ts'

const neurons = 10_000
const pending = 10_000
const rounds = 100
const versions = 100
/** 200 sentences, of which each version changes one and moves one. */
const pageOf = (n: number) => {
  const lines = Array.from({ length: 200 }, (_, at) => `Sentence ${at} is of version ${n - ((n + 200 - at) % 200)}.`)
  return [...lines.slice(n), ...lines.slice(0, n)].join('\n\n')
}

/** The queue's pages with as many candidates as may wait. */
export async function benchReview(): Promise<string[]> {
  const { ctx, tenantId } = await importNotes(neurons)
  const app: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'app', connectors: [] }
  const kb = await ctx.kb(tenantId, 'bench')
  const [first] = kb.projection.read.all`SELECT title, blob FROM neurons LIMIT 1`
  const content = (await kb.repository.readText(String(first?.blob))).slice(0, 3_000)
  const targets = kb.projection.read.all`SELECT seq_id FROM neurons LIMIT 1000`.map(({ seq_id }) => String(seq_id))
  const submit = (n: number) =>
    submitCandidate(ctx, app, {
      knowledgeBaseId: 'bench',
      kind: n % 3 === 0 ? 'user-correction' : 'external-feed',
      title: `Candidate ${n}`,
      content: `Of ${n}.\n\n${content}`,
      metadata: JSON.stringify({
        tags: [`tag-${n % 50}`],
        ...(n % 3 === 0 ? { targetNeuron: targets[n % targets.length] } : {}),
        ...(n % 10 === 0 ? { actionZone: 'red' } : {}),
      }),
      confidence: 0.4,
      impactEstimate: (n % 97) + 1,
    })
  const approved = async (title: string, content: string, metadata?: object) => {
    const kind = metadata === undefined ? 'external-feed' : 'user-correction'
    const { candidateId } = await submitCandidate(ctx, app, {
      ...{ knowledgeBaseId: 'bench', kind, title, content, confidence: null, impactEstimate: null },
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
    })
    return approveCandidate(ctx, { ...app, role: 'curator' }, candidateId, {})
  }
  const created = await approved('Page 0', pageOf(0))
  const long = 'seqId' in created ? created.seqId : ''
  for (let n = 1; n < versions; n++) await approved('Page 0', pageOf(n), { targetNeuron: long })
  const clones = await benchClones(ctx, tenantId, async (n) => void (await approved(`Approved ${n}`, content)))
  const previews = await benchPreviews(ctx, tenantId)
  const tests = await benchAnswerTests(ctx, tenantId)
  const ids: string[] = []
  const room = pending - countPending(kb.projection.read) // what was previewed waits, too
  for (let n = 0; n < room; n += 250) {
    const receipts = await Promise.all(Array.from({ length: Math.min(250, room - n) }, (_, at) => submit(n + at)))
    ids.push(...receipts.map(({ candidateId }) => candidateId))
  }
  const server = await buildServer(ctx, { rateReads: 1_000_000, rateWrites: 1_000_000, pages: consoleRoutes })
  const { headers: all } = await signIn(ctx, 'bench', 'curator')
  const { 'x-csrf-token': token, ...headers } = { ...all, accept: 'text/html' }
  const get = async (url: string) => {
    const answer = await server.inject({ url, headers })
    if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`)
    return answer.body
  }
  const post = async (url: string, fields: Record<string, string>) => {
    const payload = new URLSearchParams({ _csrf: token, ...fields }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const { statusCode, headers: sent } = await server.inject({
      method: 'POST',
      url,
      headers: { ...headers, ...type },
      payload,
    })
    if (statusCode !== 303) throw new Error(`${url}: ${statusCode}`)
    return String(sent.location)
  }
  const pick = (n: number) => ids[(n * 7919) % ids.length] ?? ''
  const rows: string[] = []
  const measure = async (name: string, work: (n: number) => Promise<unknown>) => {
    const times: number[] = []
    for (let n = 0; n < rounds + 10; n++) times.push(await milliseconds(() => work(n)))
    const sorted = times.slice(10).sort((a, b) => a - b)
    const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
    rows.push(`| ${name} | ${at(0.5)} | ${at(0.95)} |`)
    console.log(rows.at(-1))
  }
  await measure(`blame of a page of ${versions} versions`, () => get(`/kb/bench/neurons/${long}/blame`))
  await measure('list', () => get('/queue'))
  await measure('list, by words', (n) => get(`/queue?text=candidate+${n}`))
  await measure('list, by words that all have', () => get('/queue?text=candidate'))
  await measure('list, by tag and kind', (n) => get(`/queue?tag=tag-${n % 50}&kind=user-correction`))
  await measure('list, nothing found', () => get('/queue?connector=nobody'))
  let next = '/queue'
  await measure('list, page after page', async () => {
    const body = await get(next)
    next = (/<a [^>]*rel="next" href="([^"]*)"/.exec(body)?.[1] ?? '/queue').replaceAll('&amp;', '&')
  })
  for (const show of ['rendered', 'lines', 'split', 'sides'])
    await measure(`candidate, ${show}`, (n) => get(`/queue/${pick(n)}?show=${show}`))
  await measure('candidate, in a filter by words', (n) => get(`/queue/${pick(n)}?text=candidate`))
  await measure('similar pages', (n) => get(`/queue/${pick(n)}/similar`))
  const decideAll = async (verb: 'approve' | 'dismiss') => {
    let at = (await get('/queue')).match(/href="(\/queue\/[0-9a-f-]{36})" dir="auto" data-open/)?.[1] ?? ''
    let body = await get(at)
    const parts: number[] = []
    await measure(`${verb}, and the next candidate`, async () => {
      // What conflicts by now cannot be approved as it is.
      const way = body.includes('id="conflict-title"') ? 'dismiss' : verb
      const form = body.match(new RegExp(`action="([^"]*/${way}[^"]*)"[^]*?name="seen" value="([^"]*)"`))
      const action = form?.[1]?.replaceAll('&amp;', '&') ?? `${at.split('?')[0]}/dismiss`
      const seen = form?.[2] ?? /name="seen" value="([^"]*)"/.exec(body)?.[1] ?? ''
      const posting = performance.now()
      at = await post(action, { seen })
      parts.push(performance.now() - posting)
      body = await get(at)
    })
    parts.sort((a, b) => a - b)
    console.log(
      `   of which the decision: ${parts[Math.floor(parts.length / 2)]?.toFixed(1)} / ${parts[Math.floor(parts.length * 0.95)]?.toFixed(1)}`,
    )
  }
  await decideAll('approve')
  await decideAll('dismiss')
  await server.close()
  await ctx.close()
  const erasure = await benchErasure()
  return ['| ms | median | p95 |', '|---|---|---|', ...rows, '', ...clones, '', ...previews, '', ...tests, '', erasure]
}

/** Clones over HTTP, of a curator and of a reader who sees every Neuron. */
async function benchClones(
  ctx: OpenContext,
  tenantId: string,
  approveOne: (n: number) => Promise<void>,
): Promise<string[]> {
  const server = await buildServer(ctx, { rateReads: 1_000_000, rateWrites: 1_000_000 })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const urlOf = async (role: 'curator' | 'reader') => {
    const key = { tenantId, name: role, role, connectors: [], expiresAt: null }
    const { token } = await ctx.apiKeys.create(key, new Date())
    return `${address.replace('://', `://any:${token}@`)}/git/bench/bench.git`
  }
  const [curator, reader] = [await urlOf('curator'), await urlOf('reader')]
  const [{ id } = { id: '' }] = await ctx.knowledgeBases.list(tenantId)
  const git = promisify(execFile)
  let count = 0
  const clone = async (url: string) => {
    const folder = join(workFolder(), `${count++}.git`)
    const time = await milliseconds(() => git('git', ['clone', '--quiet', '--bare', url, folder]))
    const { stdout } = await git('git', ['-C', folder, 'ls-tree', '-r', '--name-only', 'main', 'neurons'], {
      maxBuffer: 1 << 28,
    })
    if (stdout.split('\n').length <= neurons) throw new Error(`${folder} lacks Neurons`)
    return time
  }
  const times = await inTurn(7, {
    "curator's": () => clone(curator),
    "reader's, first": () => {
      rmSync(join(ctx.directory.index(id), 'clones'), { recursive: true, force: true })
      return clone(reader)
    },
    "reader's, nothing has changed": () => clone(reader),
    "reader's, after one approval": async () => {
      await approveOne(count)
      return clone(reader)
    },
  })
  await server.close()
  const rows = Object.entries(times).map(([name, time]) => `| ${name} | ${show(time)} |`)
  rows.forEach((row) => void console.log(row))
  return [`| clone of ${neurons} Neurons | ms: median (min–max) |`, '|---|---|', ...rows]
}

/** Erasing one page and one text. */
async function benchErasure(): Promise<string> {
  const { ctx, tenantId, kbId } = await importNotes(neurons)
  const app: Caller = { id: 'key:bench', name: 'Bench', tenantId, role: 'curator', connectors: [] }
  for (let n = 0; n < versions; n++) {
    const { candidateId } = await submitCandidate(ctx, app, {
      ...{ knowledgeBaseId: 'bench', kind: 'external-feed', title: `Later ${n}`, content: `Of ${n}.` },
      ...{ metadata: null, confidence: null, impactEstimate: null },
    })
    await approveCandidate(ctx, app, candidateId, {})
  }
  const kb = await ctx.knowledgeBases.find(tenantId, kbId)
  if (kb === undefined) throw new Error('There is no knowledge base.')
  const { projection } = await ctx.kb(tenantId, kbId)
  const seqId = String(projection.read.get`SELECT seq_id FROM neurons LIMIT 1`?.seq_id)
  const request = { neurons: [seqId], texts: ['Of 42.'], sources: [], people: [], decidedBy: [] }
  const preparing = await milliseconds(() => prepareErasure(ctx, kb, request))
  await ctx.close()
  const again = await openContext({ dataDir: ctx.directory.root, finishes: 'erasure' })
  const finishing = await milliseconds(() => finishErasure(again))
  await again.close()
  const row = `erasure from ${neurons} Neurons and ${versions} later commits: ${preparing.toFixed(0)} ms beside, ${finishing.toFixed(0)} ms to put in place`
  console.log(row)
  return row
}
