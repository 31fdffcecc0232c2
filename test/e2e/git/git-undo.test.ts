import { expect, test } from 'vitest'
import { Clone, page } from './git-clone.ts'
import { candidates, soundProduct } from './git-support.ts'

test('what a key pushed is undone by the name of the key, 500 Neurons in each part', async () => {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  const undo = (more: object = {}) => {
    const body = { by: 'key', writer: 'curator', since: '2026-01-01T00:00:00Z', ...more }
    return product.request('POST', '/api/v1/knowledge-bases/handbook/undo', { as: product.tokens.curator, body })
  }
  await clone.commit(
    Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`neurons/${at}.md`, page(`Page ${at}`, 'text')])),
  )
  expect((await clone.push('main')).code).toBe(0)
  const { body } = await undo({ dryRun: true })
  expect([Object(body.reversals).length, body.queueUrl]).toEqual([500, null])
  await clone.git('pull', '--quiet')
  await clone.commit({ 'neurons/more.md': page('More', 'more') })
  expect((await clone.push('main')).code).toBe(0)
  const { body: whole } = await undo({ dryRun: true })
  expect([Object(whole.reversals).length, whole.queueUrl]).toEqual([501, null])
  expect(await candidates(product, 'pending')).toEqual([])
})
