import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ForgeHttp } from '../../src/forge/forge-http.ts'
import { listening } from '../support/listening.ts'

/** A list of so many pages, with an item each. */
async function pages(count: number) {
  const apiUrl: string = await listening(
    createServer((request, response) => {
      const page = Number(new URL(request.url ?? '/', 'http://forge').searchParams.get('page') ?? 1)
      const link = page < count ? { link: `<${apiUrl}/items?page=${page + 1}>; rel="next"` } : {}
      response.writeHead(200, link).end(JSON.stringify([page]))
    }),
  )
  return new ForgeHttp({ apiUrl, headers: {}, authorize: async () => ({}) })
}

test('a list is read to its end, and one that is too long is an error instead of a part of it', async () => {
  const all = await (await pages(200)).list('/items', z.number())
  expect([all.length, all.at(-1)]).toEqual([200, 200])
  await expect((await pages(201)).list('/items', z.number())).rejects.toMatchObject({
    code: 'unexpected',
    message: '/items has more than 200 pages',
  })
  expect(await (await pages(201)).list('/items', z.number(), (last) => last === 3)).toEqual([1, 2, 3])
})

test.each([
  [403, 'Repository was archived so is read-only.', /is archived; bring it back/, 'refused'],
  [423, 'acme/handbook is archived', /is archived; bring it back/, 'refused'],
  [301, 'Moved Permanently', /renamed or moved; link it again/, 'gone'],
])('an answer of %i, %s, says what to do', async (status, message, told, code) => {
  const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify({ message })))
  const http = new ForgeHttp({ apiUrl: await listening(server), headers: {}, authorize: async () => ({}) })
  await expect(http.get('/items', z.number())).rejects.toMatchObject({ code, message: expect.stringMatching(told) })
})

test('what a server reset is read once more, and never written twice', async () => {
  const methods: (string | undefined)[] = []
  const server = createServer((request, response) => {
    if (methods.push(request.method) === 2) response.end('[1]')
    else request.socket.resetAndDestroy()
  })
  const http = new ForgeHttp({ apiUrl: await listening(server), headers: {}, authorize: async () => ({}) })
  expect(await http.get('/items', z.array(z.number()))).toEqual([1])
  const lost = { code: 'unreachable' }
  await expect(http.get('/items', z.array(z.number()))).rejects.toMatchObject(lost)
  await expect(http.send('POST', '/items', {}, z.array(z.number()))).rejects.toMatchObject(lost)
  expect(methods).toEqual(['GET', 'GET', 'GET', 'GET', 'POST'])
})
