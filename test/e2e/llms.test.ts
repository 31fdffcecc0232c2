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

- [VIP policy](${url}/handbook_00000001): handbook_00000001, policy, vip
- [On call](${url}/handbook_00000002): handbook_00000002
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

- [Top](${url}/handbook_00000003): handbook_00000003

## a\\_b

- [Call](${url}/handbook_00000002): handbook_00000002

## b

- [VIP](${url}/handbook_00000001): handbook_00000001
- [Desk](${url}/handbook_00000004): handbook_00000004
`)
})

test('a title or a tag is text, whatever is in it', async () => {
  const product = await startProduct()
  await commit(product, { x: { title: 'a](https://evil.example) <b> `c` # d\n## e', tags: ['[[x]]'] } })
  expect(await indexFor(product)).toBe(`${head}
## Neurons

- [a\\](https://evil.example) \\<b\\> \\\`c\\\` \\# d \\#\\# e](${url}/handbook_00000001): handbook_00000001, \\[\\[x\\]\\]
`)
})

test('what a caller may not see is not in the index', async () => {
  const product = await startProduct()
  await commit(product, { a: { title: 'Seen' }, 'secret/b': { title: 'Hidden', tags: ['internal'] } })
  for (const role of ['reader', 'app'] as const) {
    const text = await indexFor(product, role)
    expect([text.includes('Seen'), text.includes('Hidden'), text.includes('secret')]).toEqual([true, false, false])
  }
  expect(await indexFor(product, 'curator')).toContain('## secret\n\n- [Hidden]')
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
