import { expect, test } from 'vitest'
import type { KeyLimits } from '../../../src/contract/administration.ts'
import { mcpClient, textOf } from '../../http/support/mcp-client.ts'
import { Clone } from './git-clone.ts'
import { approve, approved, candidates, correctionOf, soundProduct, submitted } from './git-support.ts'

const queue = '/api/v1/queue/candidates'

/** A product with an app's and a curator's key of the same limits. */
async function limited(limits: Partial<KeyLimits>) {
  const product = await soundProduct()
  const tokens = []
  for (const role of ['app', 'curator'] as const) {
    const token = await product.newKey('acme', role)
    const [key] = (await product.ctx.apiKeys.list()).slice(-1)
    const set = { pending: null, approved: null, paths: [], tags: [], ...limits }
    await product.ctx.apiKeys.limit(key?.id ?? '', set, key?.tenantId ?? '')
    tokens.push(token)
  }
  const [app = '', curator = ''] = tokens
  const agent = await mcpClient(product.url, app)
  const submit = (title: string, more: object = {}) =>
    product.request('POST', queue, {
      as: app,
      body: { kb: 'handbook', kind: 'external-feed', title, content: 'Text.', ...more },
    })
  const propose = (args: Record<string, unknown>) =>
    agent.callTool({ name: 'propose', arguments: { kb: 'handbook', action: 'new', content: 'Text.', ...args } })
  return { product, curator, submit, propose }
}

test('a key may have so many candidates waiting, over HTTP and the protocol together', async () => {
  const { product, submit, propose } = await limited({ pending: 2 })
  const first = await submit('One')
  expect(first.status).toBe(201)
  expect((await propose({ title: 'Two' })).isError).not.toBe(true)
  expect(await submit('Three')).toMatchObject({
    status: 429,
    body: { error: 'queue_full', message: '2 candidates of this key wait already.' },
  })
  const refused = await propose({ title: 'Three' })
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('queue_full')])
  expect(await candidates(product, 'pending')).toHaveLength(2)
  expect(await submitted(product, 'Of another key', 'Text.')).toMatch(/^[0-9a-f-]{36}$/)
  await approve(product, String(first.body.candidateId))
  expect((await submit('Three')).status).toBe(201)
})

test('what the policy approves and main does not take counts among those that wait', async () => {
  const { product, submit } = await limited({ pending: 1 })
  const page = await approved(product, 'Page', 'Text. %%A comment.%%')
  const correct = (content: string) =>
    submit('Page', { kind: 'user-correction', confidence: 1, content, metadata: { targetNeuron: page } })
  expect((await correct('One.')).body.status).toBe('pending')
  expect(await correct('Two.')).toMatchObject({ status: 429, body: { error: 'queue_full' } })
  expect(await candidates(product, 'pending')).toHaveLength(1)
})

test('what the policy would approve beyond the budget of a day waits, and a preview says so', async () => {
  const { submit, propose } = await limited({ approved: 1 })
  expect((await submit('One', { confidence: 1 })).body.status).toBe('approved')
  const preview = await propose({ title: 'Two', confidence: 1, preview: true })
  const reason = "the key's budget of 1 a day is used up"
  expect(preview.structuredContent).toMatchObject({ verdict: { approve: false, reason } })
  expect((await submit('Two', { confidence: 1 })).body.status).toBe('pending')
})

test('a key proposes to its folders and tags alone', async () => {
  const { product, submit } = await limited({ paths: ['guides'], tags: ['vip'] })
  const foreign = await approved(product, 'Payroll', 'Text.')
  const refusal = { status: 403, body: { error: 'insufficient_role' } }
  expect(await submit('Anywhere')).toMatchObject(refusal)
  expect(await submit('Near', { metadata: { path: 'guides-old/a.md' } })).toMatchObject(refusal)
  expect(await submit('Payroll', { ...correctionOf(foreign), content: 'Mine.' })).toMatchObject(refusal)
  const tagged = { kind: 'user-correction', metadata: { targetNeuron: foreign, tags: ['vip'] } }
  expect(await submit('Payroll', tagged)).toMatchObject(refusal)
  const asVote = { kind: 'reader-feedback', metadata: { path: 'payroll/a.md', tags: ['internal'] } }
  expect(await submit('No vote', asVote)).toMatchObject(refusal)
  expect(await submit('No vote', { kind: 'reader-feedback' })).toMatchObject(refusal)
  expect(await candidates(product, 'pending')).toEqual([])
  expect((await submit('In a folder', { metadata: { path: 'guides/a.md' } })).status).toBe(201)
  expect((await submit('With a tag', { metadata: { tags: ['vip'] } })).status).toBe(201)
})

test.each(['guides/v1.draft/a', 'guides/.hidden/a', 'guides/a.md/b.md/c', 'guides', 'guides.md', '../guides.md'])(
  'a key brings no page elsewhere by a path that the page does not get: %s',
  async (path) => {
    const { submit, propose, product } = await limited({ paths: ['guides'] })
    const wish = { confidence: 1, metadata: { path } }
    const answers = [await submit('Over HTTP', wish), (await propose({ title: 'By MCP', path, confidence: 1 })).isError]
    const pages = await product.request('GET', '/api/v1/knowledge-bases/handbook/neurons', {
      as: product.tokens.curator,
    })
    const paths = (pages.body.neurons as { path: string }[]).map((page) => page.path)
    const isRefused = /^(?:\.\.\/)?guides(?:\.md)?$/.test(path)
    expect(paths).toEqual(
      isRefused ? [] : [expect.stringMatching(/^neurons\/guides\//), expect.stringMatching(/^neurons\/guides\//)],
    )
    expect(answers).toEqual(
      isRefused
        ? [expect.objectContaining({ status: 403 }), true]
        : [expect.objectContaining({ status: 201 }), undefined],
    )
  },
)

test('what a key pushes, for review or to main, is held to its limits, too', async () => {
  const { product, curator } = await limited({ pending: 1, paths: ['guides'] })
  const clone = await Clone.of(product, curator)
  const pushed = async (path: string, ref: string) => {
    await clone.git('fetch', '--quiet', 'origin', 'main')
    await clone.git('reset', '--quiet', '--hard', 'origin/main')
    clone.write(`neurons/${path}`, `# ${path}\n`)
    await clone.git('add', '--all')
    await clone.git('commit', '--quiet', '--message', path)
    const { code, stderr } = await clone.run('push', 'origin', `HEAD:${ref}`)
    return { code, stderr }
  }
  const outside = 'This key may only propose pages in guides.'
  for (const ref of ['main', 'refs/for/main']) {
    expect(await pushed('payroll.md', ref)).toEqual({ code: 1, stderr: expect.stringContaining(outside) })
  }
  expect(await pushed('guides/one.md', 'refs/for/main')).toMatchObject({ code: 0 })
  const second = await pushed('guides/two.md', 'refs/for/main')
  expect(second).toEqual({ code: 1, stderr: expect.stringContaining('1 candidates of this key wait already.') })
  expect(await candidates(product, 'pending')).toHaveLength(1)
  expect(await pushed('guides/three.md', 'main')).toMatchObject({ code: 0 })
})

test('a push to main is held to the folders, whichever candidate it names and whatever file it changes', async () => {
  const { product, curator } = await limited({ paths: ['guides'] })
  const wish = {
    kb: 'handbook',
    kind: 'external-feed',
    title: 'Mine',
    content: 'Text.',
    metadata: { path: 'guides/a.md' },
  }
  const { body } = await product.request('POST', queue, { as: curator, body: wish })
  const clone = await Clone.of(product, curator)
  const pushed = async (files: Record<string, string>) => {
    await clone.git('reset', '--quiet', '--hard', 'origin/main')
    for (const [path, text] of Object.entries(files)) clone.write(path, text)
    await clone.git('add', '--all')
    await clone.git('commit', '--quiet', '--message', 'Change')
    return clone.run('push', 'origin', 'HEAD:main')
  }
  const refused = { code: 1, stderr: expect.stringContaining('This key may only propose pages in guides.') }
  expect(
    await pushed({ 'neurons/payroll/a.md': `---\ncandidate: ${body.candidateId}\n---\n\n# Mine\n` }),
  ).toMatchObject(refused)
  const settings = await clone.git('show', 'HEAD:kb.yaml')
  expect(await pushed({ 'kb.yaml': `${settings}\n# Mine\n` })).toMatchObject(refused)
  expect(await pushed({ 'neurons/guides/b.md': '# B\n', 'neurons/guides/b.svg': '<svg/>' })).toMatchObject({ code: 0 })
})

test('a file that a key changes without a page is held to its folders, too', async () => {
  const { product, curator } = await limited({ paths: ['guides'] })
  const add = (question: string) =>
    product.request('POST', '/api/v1/knowledge-bases/handbook/tests', { as: curator, body: { question } })
  expect((await add('What is the fee?')).status).toBe(200)
  expect(await add('Who pays it?')).toMatchObject({ status: 403, body: { error: 'insufficient_role' } })
})
