import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asset, island } from '../../../src/console/layout/asset.ts'
import { type Console, startConsole } from '../support.ts'

let console: Console
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console.close())

test('assets are kept for ever under the name of their content, and checked again under any other', async () => {
  const { app } = console
  for (const url of [asset('console.css'), asset('htmx.js'), asset('layout/icon.svg'), island('upload')]) {
    const { statusCode, headers, body } = await app.inject({ url })
    expect([statusCode, headers['cache-control'], body.length > 100]).toEqual([
      200,
      'public, max-age=31536000, immutable',
      true,
    ])
  }
  const old = await app.inject({ url: asset('console.css').replace(/[0-9a-f]{12}/, '000000000000') })
  expect([old.statusCode, old.headers['cache-control']]).toEqual([200, 'no-cache'])
})

test('a browser that takes brotli gets brotli', async () => {
  const { app } = console
  const url = asset('console.css')
  const plain = await app.inject({ url })
  const { headers, rawPayload } = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
  expect([headers['content-encoding'], headers.vary]).toEqual(['br', 'accept-encoding'])
  expect(brotliDecompressSync(rawPayload).toString()).toBe(plain.body)
})

test('the editor has at most 180 KB, compressed', async () => {
  const { statusCode, rawPayload } = await console.app.inject({ url: island('codemirror') })
  const size = gzipSync(rawPayload).length
  expect([statusCode, size > 50_000, size <= 180_000]).toEqual([200, true, true])
})

test.each(['console.ts', 'layout/page.ts', 'islands/tsconfig.json', '../cli/main.ts', '%2e%2e/main.ts', '__proto__'])(
  'nothing but assets is served: %s',
  async (name) => {
    const { app } = console
    expect((await app.inject({ url: `/assets/0/${name}` })).statusCode).toBe(404)
  },
)
