import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProduct } from '../support.ts'
import { beginOk, finalize, hash, send, status, text } from './upload-chunks.ts'

test('what was written but never told gives way, and what is lost is asked for again', async () => {
  const product = await startProduct()
  const id = await beginOk(product)
  const file = join(product.ctx.directory.uploads, id)
  await send(product, id, 0, text.subarray(0, 20))
  writeFileSync(file, 'torn by a crash, and longer than what is left of the file by far', { flag: 'a' })
  expect((await status(product, id)).body.bytesReceived).toBe(20)
  await send(product, id, 20, text.subarray(20, 30))
  truncateSync(file, 8)
  expect((await status(product, id)).body.bytesReceived).toBe(8)
  await send(product, id, 8, text.subarray(8))
  expect(await finalize(product, id)).toMatchObject({ status: 201, body: { contentHash: hash } })
})
