import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { followMainOnly, holdUp } from '../../kb/support/half-opened.ts'
import { startProduct, stateOf } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approved, candidates, neuron, submitted } from './git-support.ts'

test('a push that comes while the candidates of a first opening are followed waits for them, and lands', async () => {
  const first = await startProduct()
  const seqId = await approved(first, 'Open page', 'It is read at once.')
  await submitted(first, 'Waiting page', 'It waits for a curator.')
  const clone = await Clone.of(first, first.tokens.curator)
  const { letGo } = holdUp(await followMainOnly(first))

  const product = await startProduct({ restored: first.dataDir, shared: stateOf(first.ctx) })
  await clone.moveTo(product, product.tokens.curator)
  await clone.commit({ 'neurons/pushed.md': page('Pushed page', 'It came by a push.') })
  const pushing = clone.push('main')
  const settled = vi.fn()
  pushing.then(settled)
  await delay(500)
  expect(await neuron(product, seqId)).toMatchObject({ status: 200, body: { title: 'Open page' } })
  expect(settled).not.toHaveBeenCalled()

  letGo()
  expect(await pushing).toMatchObject({ code: 0, stderr: expect.stringContaining('Pushed page') })
  expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Waiting page' }])
  expect(await candidates(product, 'approved')).toMatchObject([{ title: 'Open page' }, { title: 'Pushed page' }])
})
