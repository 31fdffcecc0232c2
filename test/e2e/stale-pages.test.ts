import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ganglion } from '../cli/support.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { tempDir } from '../support/temp.ts'
import { outsideWriter } from './git/outside-writer.ts'
import { startProduct } from './support.ts'

const main = 'refs/heads/main'
const seqId = 'handbook_00000001'

/** A product with a page of a VIP policy, and what `kb.yaml` has more. */
async function start(head: string, settings = '', now?: () => Date) {
  const product = await startProduct(now === undefined ? {} : { now })
  const { ctx, kbId, request, tokens } = product
  const writer = await outsideWriter(ctx, kbId)
  const text = `---\nseqId: ${seqId}\ntitle: VIP\n${head}---\n\nPage the lead of a VIP.\n`
  const files = new Map([
    ['neurons/prices/vip.md', text],
    ['kb.yaml', `${writer.read('kb.yaml')}\n${settings}`],
  ])
  const at = Math.floor((now?.() ?? new Date()).getTime() / 1000)
  await writer.publish(() => new NativeWriter(writer.gitDir).commit(main, files, { at }))
  const get = async (path: string) => (await request('GET', `/api/v1/${path}`, { as: tokens.curator })).body
  const post = (path: string, body: object = {}, as = tokens.curator) =>
    request('POST', `/api/v1/${path}`, { as, body })
  return { ...product, get, post }
}

test('a page past its date is marked in each answer, until somebody says that it is still true', async () => {
  const { get, post, gitDir } = await start(
    'owner: ann@example.com\nverified: { by: ann@example.com, at: 2025-01-01, until: 2025-02-01 }\n',
  )
  const marks = async () => {
    const neuron = await get(`neurons/handbook/${seqId}`)
    const { neurons } = await get('knowledge-bases/handbook/neurons')
    const { documents } = await get('knowledge-bases/handbook/search?q=lead')
    const { hits } = await get('search?q=lead&kb=handbook')
    const { chunks } = (await post('knowledge-bases/handbook/retrieve', { query: 'Who is paged for a VIP?' })).body
    const { citations } = (await post('chat', { knowledgeBaseId: 'handbook', message: 'Page the lead of a VIP' })).body
    const found: unknown[] = [neuron, neurons, documents, hits, chunks, citations].flat()
    expect(found).toHaveLength(6)
    return found.map((one) => (one as { stale?: true }).stale)
  }
  expect(await marks()).toEqual(Array.from({ length: 6 }, () => true))
  const listed = async (query: string) => (await get(`knowledge-bases/handbook/neurons?${query}`)).neurons
  expect(await listed('stale=true&owner=Ann%40example.com')).toMatchObject([{ seqId, owner: 'ann@example.com' }])
  expect(await listed('stale=true&owner=bob%40example.com')).toEqual([])

  const { status, body } = await post(`neurons/handbook/${seqId}/still-true`, { until: '2999-12-31' })
  expect([status, body.status]).toEqual([200, 'approved'])
  expect(await marks()).toEqual(Array.from({ length: 6 }, () => undefined))
  expect(await listed('stale=true')).toEqual([])
  const changed = nativeGit(gitDir, ['diff', '--unified=0', `${body.commit}^`, String(body.commit)]).match(
    /^[+-](?![+-]).*$/gm,
  )
  expect(changed?.every((line) => /^[+-](?:verified|candidate|id): /.test(line))).toBe(true)
  expect((await post(`neurons/handbook/${seqId}/still-true`, { until: '2999-12-31' })).body.commit).toBe(body.commit)
})

test('kb.yaml says how long pages of a path or tag hold; the shortest counts', async () => {
  let now = new Date('2026-11-26T12:00:00Z')
  const verify = 'verify: [{ paths: [prices], days: 30 }, { tags: [slow], days: 300 }]\n'
  const { get, post } = await start('tags: [slow]\n', verify, () => now)
  const isStale = async () => (await get(`neurons/handbook/${seqId}`)).stale
  expect(await isStale()).toBeUndefined()
  now = new Date('2026-12-26T23:00:00Z')
  expect(await isStale()).toBeUndefined()
  now = new Date('2026-12-27T00:30:00Z')
  expect(await isStale()).toBe(true)
  await post(`neurons/handbook/${seqId}/still-true`)
  expect(await get(`neurons/handbook/${seqId}`)).toMatchObject({ verified: { at: '2026-12-27', until: '2027-01-26' } })
  expect(await isStale()).toBeUndefined()
})

test('who says so must be a curator, of a day to come, and the owners’ approval is needed', async () => {
  const owners = 'owners: [{ paths: [prices], people: [legal@example.com] }]\n'
  const { post, tokens, url, get } = await start('', owners)
  const path = `neurons/handbook/${seqId}/still-true`
  expect((await post(path, {}, tokens.app)).status).toBe(403)
  expect((await post(path, { until: '2020-01-01' })).status).toBe(400)
  expect((await post('neurons/handbook/handbook_00000009/still-true')).status).toBe(404)
  const file = join(tempDir(), 'vip.md')
  writeFileSync(file, `---\nseqId: ${seqId}\n---\n`)
  const environment = { GANGLION_URL: url, GANGLION_KEY: tokens.curator }
  for (const [until, says] of [
    ['2020-01-01', 'The last day must not be past.'],
    ['tomorrow', '--until: must be a day such as 2026-11-26, or a time with its zone'],
  ] as const)
    expect((await ganglion(['still-true', file, '--kb', 'handbook', '--until', until], environment)).stderr).toContain(
      says,
    )
  const said = await ganglion(['still-true', file, '--kb', 'handbook'], environment)
  expect([said.code, said.stdout]).toEqual([0, expect.stringContaining('It needs the approval of legal@example.com.')])
  expect(await get(`neurons/handbook/${seqId}`)).not.toHaveProperty('verified')
})
