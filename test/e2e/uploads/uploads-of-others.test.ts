import { expect, test } from 'vitest'
import { startProduct } from '../support.ts'
import { beginOk, finalize, kb, send, status, text } from './upload-chunks.ts'

test('an upload is there for who began it and for curators, not for other keys', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  const input = { filename: 'layoffs.md', fileSize: text.length, metadata: { tags: ['internal'] } }
  const begun = await request('POST', `${kb}/documents/upload/init`, { as: tokens.curator, body: input })
  const id = String(begun.body.uploadId)
  const missing = await status(product, '0199a5c2-0000-7000-8000-000000000000')
  const asApp = [
    () => status(product, id),
    () => send(product, id, 0, text),
    () => finalize(product, id),
    () => request('DELETE', `/api/v1/uploads/${id}`, { as: tokens.app }),
  ]
  for (const ask of asApp) expect(await ask()).toMatchObject({ status: 404, text: missing.text })
  expect(await request('GET', `/api/v1/uploads/${id}`, { as: tokens.curator })).toMatchObject({
    status: 200,
    body: { filename: 'layoffs.md', bytesReceived: 0 },
  })
  const own = await beginOk(product)
  expect(await status(product, own)).toMatchObject({ status: 200 })
  expect(await request('GET', `/api/v1/uploads/${own}`, { as: tokens.curator })).toMatchObject({ status: 200 })
})
