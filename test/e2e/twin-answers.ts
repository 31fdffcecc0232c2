import { expect } from 'vitest'
import { consoleRoutes } from '../../src/console/console.ts'
import { readEvents } from '../../src/events/read-events.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { EmbeddingModel } from '../../src/models/embeddings.ts'
import { kbSearch } from '../../src/search/kb/kb-search.ts'
import { sourceTexts } from '../../src/sources/ingest/source-texts.ts'
import { fakeEmbeddings, vectorsBy } from '../models/support/fake-embeddings.ts'
import { project } from '../models/support/project.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/person.ts'
import { fc, runs } from '../support/properties.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { type Product, startProduct } from './support.ts'
import { browseAll, readAll, type Twin, writeAll } from './twin-probes.ts'

const words = ['alert', 'alarm', 'rota', 'roster', 'desk', 'lead', 'zqalpha', 'zqbeta']
const names = ['Rota plan', 'Desk', 'Zq notes']

const Text = fc.array(fc.constantFrom(...words, ...names.map((name) => `[[${name}]]`)), { minLength: 1, maxLength: 12 })
const Page = fc.record({
  title: fc.constantFrom(...names, ...words),
  aliases: fc.subarray(names, { maxLength: 2 }),
  tags: fc.subarray(['plan', 'team']),
  text: Text.map((parts) => parts.join(' ')),
  until: fc.constantFrom('', '2020-01-01', '2099-01-01'),
})
type Page = typeof Page extends fc.Arbitrary<infer Value> ? Value : never
/** Ways to hide a page: from an app, and some from an audience that it may request. */
const Hiding = fc.constantFrom(
  { tags: ['internal'] },
  { tags: ['internal/hr', 'plan'] },
  { audience: ['curator'] },
  { audience: [] },
)
const Case = fc.record({
  open: fc.array(Page, { minLength: 3, maxLength: 6 }),
  hidden: fc.array(fc.tuple(Page, Page, Hiding), { minLength: 2, maxLength: 5 }),
  sources: fc.tuple(Text, Text).filter(([one, other]) => one.join() !== other.join()),
})
type Case = typeof Case extends fc.Arbitrary<infer Value> ? Value : never

const seqIdOf = (number: number) => `twin_${String(number).padStart(8, '0')}`

function fileOf(
  number: number,
  { title, aliases, tags, text, until }: Page,
  more: Record<string, unknown> = {},
): string {
  const checked = { verified: { by: 'ada@example.com', at: '2019-01-01', until }, owner: 'ada@example.com' }
  const fields = { seqId: seqIdOf(number), title, aliases, tags, ...(until !== '' && checked), ...more }
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  return `---\n${lines.join('')}---\n${text}\n`
}

/** Twin 0 and 1 hide other contents; twin 2 hides those of twin 0 and has deleted them since. */
async function newTwin(product: Product, tenant: string, twin: 0 | 1 | 2, data: Case, engine: string): Promise<Twin> {
  const { ctx, request } = product
  const { id: kbId } = await createKnowledgeBase(ctx, { tenant, slug: 'twin' })
  const tokens = {
    reader: await product.newKey(tenant, 'reader'),
    app: await product.newKey(tenant, 'app'),
    curator: await product.newKey(tenant, 'curator'),
  }
  const browser = async (role: 'reader' | 'curator') =>
    (await signIn(ctx, tenant, role, { email: `${role}@${tenant}.example` })).headers
  const people = { reader: await browser('reader'), curator: await browser('curator') }
  // What is there before it is opened is no news.
  await ctx.kb((await ctx.tenants.find(tenant))?.id ?? '', 'twin')
  const writer = await outsideWriter(ctx, kbId)
  const write = (files: [string, string | null][]) => writer.commit(new Map(files))
  // Beside hidden pages, which alone embed them, and not in every twin.
  const embedded = twin === 1 ? 'other.png' : 'secret.png'
  const hiddenOf = (more: (hiding: Record<string, unknown>) => Record<string, unknown>) =>
    data.hidden.map((pages, index): [string, string] => {
      const page = pages[twin === 1 ? 1 : 0]
      const isSecond = data.hidden.findIndex((other) => other[twin === 1 ? 1 : 0].title === page.title) < index
      return [
        `neurons/pages/${page.title}${isSecond ? index : ''}.md`,
        fileOf(data.open.length + 1 + index, { ...page, text: `${page.text} ![[${embedded}]]` }, more(pages[2])),
      ]
    })
  const openPages = data.open.map((page, index): [string, string] => [
    `neurons/open/${index}.md`,
    fileOf(
      index + 1,
      index === 1 ? { ...page, text: `${page.text} ![[plan.png]] ![[secret.png]]` } : page,
      index === 0 ? { audience: ['public', 'student'] } : {},
    ),
  ])
  const settings = writer.read('kb.yaml')
  const commit = await write([
    ['kb.yaml', `${settings.replace('rewriteLinks: false', 'rewriteLinks: true')}\nsearch:\n  engine: ${engine}\n`],
    ['neurons/open/plan.png', 'plan'],
    ['neurons/pages/plan.png', `plan ${twin}`],
    [`neurons/pages/${embedded}`, 'secret'],
    ...openPages,
    ...hiddenOf(() => ({})),
  ])
  await write(hiddenOf((hiding) => hiding))
  const files = ['pages/secret.png', 'pages/other.png', 'pages/plan.png', 'open/plan.png', 'open/secret.png'].map(
    (path) => `neurons/${path}`,
  )
  // The same number of pushes, which everybody is told of.
  const again = hiddenOf((hiding) => ({ ...hiding, note: 'Again.' }))
  await write(twin === 2 ? again.map(([path]) => [path, null]) : again)

  const bytes = data.sources.map((parts) => parts.join(' '))
  const own = bytes[twin === 1 ? 1 : 0] ?? ''
  const hiddenSource = await addSource(product, tokens.curator, own, { name: 'secret-0.md', tags: ['internal'] })
  await addSource(product, tokens.curator, 'The rota of the desk.', { name: 'open.md', tags: [] })
  if (twin === 2) await request('DELETE', `/api/v1/documents/${hiddenSource}`, { as: tokens.curator })
  const count = data.open.length + data.hidden.length
  const seqIds = Array.from({ length: count + 1 }, (_, index) => seqIdOf(index + 1))
  return { tokens, people, seqIds, commit, names, words, bytes, files, hiddenSource }
}

/** A Source whose text was read. */
async function addSource(
  { ctx, request }: Product,
  as: string,
  text: string,
  { name, tags }: { name: string; tags: string[] },
) {
  const form = new FormData()
  form.append('metadata', JSON.stringify({ tags }))
  form.append('file', new Blob([text]), name)
  const { body } = await request('POST', '/api/v1/knowledge-bases/twin/documents/upload', { as, body: form })
  const source = await ctx.sources.get(String(body.id))
  if (source === undefined) throw new Error('There is no Source.')
  await sourceTexts(ctx).keep(source, { title: undefined, markdown: text, anchors: [], warnings: [] })
  await ctx.sources.change(source.id, ['ready'], { status: 'success', extractedAt: ctx.now().toISOString() })
  ctx.events.wake(source.tenantId)
  return source.id
}

/** Returns all events that an app sees, without their numbers. */
async function eventsOf({ ctx }: Product, tenant: string): Promise<string[]> {
  const { id: tenantId = '' } = (await ctx.tenants.find(tenant)) ?? {}
  const kb = await ctx.kb(tenantId, 'twin')
  await eventually(async () => {
    const { main: head, queue } = kb.projection.heads(kb.projection.read)
    expect(await ctx.events.loggedHeads(kb.identity.id)).toEqual({ main: head, queue })
  })
  const caller = { tenantId, role: 'app', id: 'key:another', name: 'another', connectors: [] } as const
  const { events } = await readEvents(ctx, caller, { kb: 'twin', lastEventId: 0 }, new AbortController().signal)
  const { value } = await events.next()
  // How those of the queue and of main mix is a matter of time.
  return (value ?? []).map(({ kind, seqId, status }) => JSON.stringify({ kind, seqId, status })).sort()
}

/** Waits until every chunk has its vector. */
async function embedAll({ ctx }: Product, tenant: string): Promise<[]> {
  const { id = '' } = (await ctx.tenants.find(tenant)) ?? {}
  const search = kbSearch(await ctx.kb(id, 'twin'), ctx)
  await search.follow()
  await search.embedder?.run()
  expect(search.embedder?.progress).toMatchObject({ lacking: 0, embedded: expect.any(Number) })
  return []
}

/** Asserts that knowledge bases which differ only in what is hidden answer alike at every door. */
export async function expectTwinsAlike(engine: string): Promise<void> {
  const server = await fakeEmbeddings(vectorsBy(project))
  const embeddings = { url: server.url, model: 'fake-1', apiKey: undefined }
  // Slow machines have time for each question, so that all are answered in the same way.
  const options = { failed: () => {}, questionTimeoutMs: 60_000 }
  // What is listed by its time has the same order in each twin, however long the writes took.
  const now = new Date()
  const product = await startProduct({
    now: () => now,
    pages: consoleRoutes,
    embeddingModel: new EmbeddingModel(embeddings, options),
  })
  let tried = 0
  await fc.assert(
    fc.asyncProperty(Case, async (data) => {
      tried++
      const transcripts: string[][] = []
      const curators: { api: string[]; browser: string[] }[] = []
      for (const number of [0, 1, 2] as const) {
        const tenant = `twin-${engine}-${tried}-${number}`
        const twin = await newTwin(product, tenant, number, data, engine)
        await embedAll(product, tenant)
        transcripts.push([
          ...(await readAll(product, twin, twin.tokens.reader)),
          ...(await browseAll(product, twin, twin.people.reader)),
          ...(await writeAll(product, twin)),
          ...(await embedAll(product, tenant)),
          ...(await readAll(product, twin, twin.tokens.app)),
          ...(await browseAll(product, twin, twin.people.reader)),
          ...(await eventsOf(product, tenant)),
        ])
        curators.push({
          api: await readAll(product, twin, twin.tokens.curator),
          browser: await browseAll(product, twin, twin.people.curator),
        })
      }
      expect(transcripts[1]).toEqual(transcripts[0])
      expect(transcripts[2]).toEqual(transcripts[0])
      // What was asked does look at what is hidden.
      for (const door of ['api', 'browser'] as const) {
        expect(curators[1]?.[door]).not.toEqual(curators[0]?.[door])
        expect(curators[2]?.[door]).not.toEqual(curators[0]?.[door])
      }
    }),
    { numRuns: runs(2, 1), endOnFailure: true },
  )
}
