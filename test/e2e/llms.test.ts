import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { type Product, startProduct } from './support.ts'

const bases = '/api/v1/knowledge-bases'

/** Commits Neurons to main, by path below `neurons/`; numbers are given in their order. */
async function commit(
  { ctx, kbId }: Product,
  pages: Record<string, { title?: string; tags?: string[] }>,
): Promise<void> {
  const files = Object.entries(pages).map(([path, { title = path, tags = [] }], index): [string, string] => {
    const seqId = `handbook_${String(index + 1).padStart(8, '0')}`
    const fields = { seqId, title, tags }
    const yaml = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    return [`neurons/${path}.md`, `---\n${yaml.join('\n')}\n---\nPage the lead.\n`]
  })
  await (await outsideWriter(ctx, kbId)).commit(new Map(files))
}

async function indexFor({ request, tokens }: Product, role: 'reader' | 'app' | 'curator' = 'reader'): Promise<string> {
  const { status, headers, text } = await request('GET', `${bases}/handbook/llms.txt`, { as: tokens[role] })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  return text
}

const head = `# handbook

> A knowledge base of curated pages, called Neurons. Retrieve what bears on a question with \
\`POST /api/v1/knowledge-bases/handbook/retrieve\`, search with \`GET /api/v1/knowledge-bases/handbook/search?q=\`, and cite a \
Neuron by its seqId, like [handbook_00000001].
`
const url = '/api/v1/neurons/handbook'

test('an index tells how to ask, and lists the Neurons with where to read them', async () => {
  const product = await startProduct()
  expect(await indexFor(product)).toBe(head)
  await commit(product, {
    'b/vip': { title: 'VIP policy', tags: ['policy', 'vip'] },
    'b/on-call': { title: 'On call' },
  })
  expect(await indexFor(product)).toBe(`${head}
## Neurons

- [VIP policy](${url}/handbook_00000001.md): handbook_00000001, policy, vip
- [On call](${url}/handbook_00000002.md): handbook_00000002
`)
})

test('Neurons in several folders stand below their names', async () => {
  const product = await startProduct()
  await commit(product, {
    'b/deep/vip': { title: 'VIP' },
    'a_b/call': { title: 'Call' },
    top: { title: 'Top' },
    'b/desk': { title: 'Desk' },
  })
  expect(await indexFor(product)).toBe(`${head}
## Neurons

- [Top](${url}/handbook_00000003.md): handbook_00000003

## a\\_b/

- [Call](${url}/handbook_00000002.md): handbook_00000002

## b/

- [VIP](${url}/handbook_00000001.md): handbook_00000001
- [Desk](${url}/handbook_00000004.md): handbook_00000004
`)
})

test('a title or a tag is text, whatever is in it', async () => {
  const product = await startProduct()
  await commit(product, { x: { title: 'a](https://evil.example) <b> `c` # d\n## e', tags: ['[[x]]'] } })
  expect(await indexFor(product)).toBe(`${head}
## Neurons

- [a&#93;(https://evil.example) \\<b\\> \\\`c\\\` \\# d \\#\\# e](${url}/handbook_00000001.md): handbook_00000001, &#91;&#91;x&#93;&#93;
`)
})

/** Reads a listing as the reference implementation of llmstxt.org does, which is no parser of Markdown. */
function listed(text: string): Record<string, { title: string; url: string }[]> {
  const [, ...sections] = text.split(/^##\s*(.*?)$/m)
  const link = /-\s*\[(?<title>[^\]]+)\]\((?<url>[^)]+)\)(?::\s*(?<desc>.*))?/g
  const pairs = sections.flatMap((name, index) =>
    index % 2 === 0
      ? [[name, Array.from((sections[index + 1] ?? '').matchAll(link), ({ groups }) => ({ ...groups }))]]
      : [],
  )
  return Object.fromEntries(pairs)
}

test('an index has the form of llmstxt.org for readers that are no parsers of Markdown', async () => {
  const product = await startProduct()
  await commit(product, {
    top: { title: 'a](https://evil.example) [b' },
    'Optional/a': { title: 'v1.2.md' },
    'Neurons/b': { title: 'Übersicht: 北京.' },
    'More/c': { title: 'C # [x]' },
  })
  const text = await indexFor(product)
  expect(text).toMatch(/^# [^\n]+\n\n> [^\n]+\n\n## /)
  const link = (title: string, number: number) => ({ title, url: `${url}/handbook_0000000${number}.md` })
  expect(listed(text)).toMatchObject({
    Neurons: [link('a&#93;(https://evil.example) &#91;b', 1)],
    'Optional/': [link('v1.2.md', 2)],
    'Neurons/': [link('Übersicht: 北京.', 3)],
    'More/': [link('C \\# &#91;x&#93;', 4)],
  })
})

test('each link of an index leads to the Markdown of its page', async () => {
  const product = await startProduct()
  const titles = ['v1.2.md', 'Übersicht: 北京.', 'C # [x]', 'A *b*']
  await commit(product, {
    a: { title: 'v1.2.md' },
    'b.md': { title: 'Übersicht: 北京.' },
    c: { title: 'C # [x]' },
    d: { title: 'A *b*' },
  })
  const links = Object.values(listed(await indexFor(product))).flat()
  const pages = await Promise.all(links.map((link) => product.request('GET', link.url, { as: product.tokens.reader })))
  expect(pages.map(({ status, headers }) => [status, headers.get('content-type')])).toEqual(
    titles.map(() => [200, 'text/markdown; charset=utf-8']),
  )
  expect(pages.map(({ text }) => text)).toEqual(
    ['v1.2.md', 'Übersicht: 北京.', 'C \\# &#91;x&#93;', 'A \\*b\\*'].map((title) => `# ${title}\n\nPage the lead.\n`),
  )
  expect(pages.map(({ headers }) => headers.get('content-disposition'))).toEqual([
    'inline; filename=a.md',
    'inline; filename=b.md.md',
    'inline; filename=c.md',
    'inline; filename=d.md',
  ])
})

test('the Markdown of a page has a tag, ranges and earlier versions', async () => {
  const product = await startProduct()
  await commit(product, { a: { title: 'First' } })
  const path = `${url}/handbook_00000001.md`
  const get = (more = '', headers: Record<string, string> = {}, method = 'GET') =>
    product.request(method, path + more, { as: product.tokens.reader, headers })
  const first = await get()
  const etag = first.headers.get('etag') ?? ''
  expect(first.headers.get('cache-control')).toBe('private, no-cache')
  const same = await get('', { 'if-none-match': etag })
  expect([same.status, same.text]).toEqual([304, ''])
  const head = await get('', {}, 'HEAD')
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(first.text.length)])
  expect([(await get('', { range: 'bytes=2-6' })).text, (await get('', { range: 'bytes=999-' })).status]).toEqual([
    'First',
    416,
  ])

  const { commit: before } = (await product.request('GET', path.slice(0, -3), { as: product.tokens.reader })).body
  await commit(product, { a: { title: 'Second' } })
  expect(await get('', { 'if-none-match': etag })).toMatchObject({ status: 200, text: '# Second\n\nPage the lead.\n' })
  expect((await get(`?at=${before}`)).text).toBe(first.text)
  expect([(await get('?at=x')).status, (await get('?at=0000000')).status]).toEqual([400, 404])
  expect((await get('', {}, 'POST')).status).toBe(405)
})

test('a title that opens the text is not repeated', async () => {
  const product = await startProduct()
  const text = '---\nseqId: handbook_00000001\n---\n# The *plan*\n\nText.\n'
  await (await outsideWriter(product.ctx, product.kbId)).commit(new Map([['neurons/plan.md', text]]))
  const page = await product.request('GET', `${url}/handbook_00000001.md`, { as: product.tokens.reader })
  expect(page.text).toBe('# The *plan*\n\nText.\n')
})

test('the Markdown of a hidden page is as absent as the page', async () => {
  const product = await startProduct()
  const { request, tokens, ctx, newKey } = product
  await commit(product, { a: { title: 'Seen' }, b: { title: 'Hidden', tags: ['internal'] } })
  await createKnowledgeBase(ctx, { tenant: 'other', slug: 'own' })
  const stranger = await newKey('other', 'curator')
  const hidden = `${url}/handbook_00000002`
  for (const as of [tokens.reader, tokens.app, stranger]) {
    const absent = await request('GET', `${url}/handbook_00000009`, { as })
    for (const path of [hidden, `${hidden}.md`, `${url}/handbook_00000009.md`, `${hidden}.md.md`, `${url}/.md`]) {
      for (const query of ['', '?at=0000000']) {
        const { status, text } = await request('GET', path + query, { as })
        expect([path, status, text]).toEqual([path, 404, absent.text])
      }
    }
  }
  expect((await request('GET', `${hidden}.md`, { as: tokens.curator })).text).toContain('# Hidden')
  const nobody = await request('GET', `${hidden}.md`)
  expect([nobody.status, nobody.text]).toEqual([401, (await request('GET', hidden)).text])
})

test('what a caller may not see is not in the index', async () => {
  const product = await startProduct()
  await commit(product, { a: { title: 'Seen' }, 'secret/b': { title: 'Hidden', tags: ['internal'] } })
  for (const role of ['reader', 'app'] as const) {
    const text = await indexFor(product, role)
    expect([text.includes('Seen'), text.includes('Hidden'), text.includes('secret')]).toEqual([true, false, false])
  }
  expect(await indexFor(product, 'curator')).toContain('## secret/\n\n- [Hidden]')
})

test('a long index ends at 5,000 Neurons, and says where the rest is', async () => {
  const product = await startProduct()
  const paths = Array.from({ length: 5003 }, (_, index) => [`n${index}`, index < 2 ? { tags: ['internal'] } : {}])
  await commit(product, Object.fromEntries(paths))
  const text = await indexFor(product)
  expect(text.match(/^- \[n\d+\]/gm)).toHaveLength(5000)
  expect(text).toContain('- [n5001](')
  expect(text).not.toContain('[n5002]')
  const more = /## More\n\n- \[The next Neurons\]\(([^)]+)\): [^\n]+\n$/.exec(text)?.[1] ?? ''
  const rest = await product.request('GET', more, { as: product.tokens.reader })
  expect(rest.body).toMatchObject({ neurons: [{ seqId: 'handbook_00005003' }], nextCursor: null })
})

test('another tenant’s knowledge base has the same answer as one that is not there', async () => {
  const { request, tokens, ctx, kbId, newKey } = await startProduct()
  await createKnowledgeBase(ctx, { tenant: 'other', slug: 'own' })
  const stranger = await newKey('other', 'curator')
  const missing = await request('GET', `${bases}/nothing/llms.txt`, { as: stranger })
  expect(missing.status).toBe(404)
  for (const kb of ['handbook', kbId, 'A', '..%2f']) {
    expect((await request('GET', `${bases}/${kb}/llms.txt`, { as: stranger })).text).toBe(missing.text)
  }
  expect((await request('GET', `${bases}/${kbId}/llms.txt`, { as: tokens.reader })).status).toBe(200)
  expect((await request('GET', `${bases}/handbook/llms.txt`)).status).toBe(401)
})
