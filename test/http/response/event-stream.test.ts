import { once } from 'node:events'
import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { EventStreams, type Resumption, type ServerSentEvent } from '../../../src/http/response/event-stream.ts'
import type { ZodFastify, ZodTypeProvider } from '../../../src/http/zod-compilers.ts'
import { listen, openConnection } from '../support/test-server.ts'

type Send = (event: ServerSentEvent | Resumption) => void

/** A server whose one route answers with what `produce` sends. */
async function streaming(
  produce: (send: Send, signal: AbortSignal, taken: () => Promise<void>) => Promise<void>,
  options: { heartbeat?: number; patience?: number } = {},
): Promise<{ app: ZodFastify; port: number; url: string }> {
  const app: ZodFastify = fastify().withTypeProvider<ZodTypeProvider>()
  const streams = new EventStreams(app, options)
  app.get('/', async (request, reply) =>
    streams.answer(request, reply, (send, taken) => produce(send, streams.signal(reply), taken)),
  )
  onTestFinished(() => app.close())
  const port = await listen(app)
  return { app, port, url: `http://127.0.0.1:${port}/` }
}

test('an event is its id, its kind and one line of JSON', async () => {
  const { url } = await streaming(async (send) => {
    send({ event: 'first', data: 'two\nlines' })
    send({ id: '2', event: 'second', data: { text: 'é' } })
  })
  expect(await (await fetch(url)).text()).toBe(
    'event: first\ndata: "two\\nlines"\n\nid: 2\nevent: second\ndata: {"text":"é"}\n\n',
  )
})

test('a quiet stream is kept open with comments', async () => {
  const { url } = await streaming(async (_, signal) => void (await once(signal, 'abort')), { heartbeat: 5 })
  const { body } = await fetch(url)
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.length >= 9) break
  }
  expect(text).toMatch(/^(?:: \n\n){3,}$/)
})

test('a client that never reads is dropped at 256 KB', async () => {
  let sent = 0
  const dropped = Promise.withResolvers<void>()
  const { port } = await streaming(async (send, signal) => {
    signal.addEventListener('abort', () => dropped.resolve())
    while (!signal.aborted) {
      send({ event: 'x', data: 'x'.repeat(1000) })
      sent += 1000
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  const { socket } = openConnection(port)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await dropped.promise
  socket.destroy()
  expect(sent).toBeGreaterThan(256 * 1024)
  // What the kernel's buffers of both ends took counts as sent.
  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

test('one event may be larger than what may wait', async () => {
  const { url } = await streaming(async (send) => send({ event: 'x', data: 'x'.repeat(1_000_000) }))
  expect((await (await fetch(url)).text()).length).toBeGreaterThan(1_000_000)
})

test('a stream ends when the server closes, with the error', async () => {
  const { app, url } = await streaming(async (send, signal) => {
    send({ event: 'open', data: null })
    if (!signal.aborted) await once(signal, 'abort')
    signal.throwIfAborted()
  })
  const { body } = await fetch(url)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  await reader?.read()
  const closed = app.close()
  expect((await reader?.read())?.value).toContain('event: error\ndata: {"error":"unavailable"')
  await closed
})

test('where a client goes on is told without an event', async () => {
  const { url } = await streaming(async (send) => send({ id: '41', retry: 100 }))
  expect(await (await fetch(url)).text()).toBe('retry: 100\nid: 41\n\n')
})

/** Sends without end; `over` resolves when the client has gone or was dropped. */
function flood(text: string) {
  const over = Promise.withResolvers<void>()
  const produce = async (send: Send, signal: AbortSignal, taken: () => Promise<void>) => {
    for (let id = 0; !signal.aborted; id++) {
      send({ id: String(id), event: 'x', data: text })
      await taken()
      await new Promise((resolve) => setImmediate(resolve))
    }
    over.resolve()
  }
  return { produce, over: over.promise }
}

test('a client that reads slowly is sent all, at its pace', async () => {
  const { produce } = flood('x'.repeat(100_000))
  const { url } = await streaming(produce)
  const { body } = await fetch(url)
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.length > 20_000_000) break
    if (text.length % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  expect(ids.length).toBeGreaterThan(190)
  expect(ids).toEqual(ids.map((_, index) => index))
})

test('a client that never reads is waited for no longer than the patience, and then dropped', async () => {
  const { produce, over } = flood('x'.repeat(100_000))
  const { port } = await streaming(produce, { patience: 20 })
  const { socket } = openConnection(port)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await over
  socket.destroy()
})
