import type { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { Ganglion } from '../../packages/client/src/ganglion.ts'
import { mcpClient } from '../http/support/mcp-client.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { fc } from '../support/properties.ts'
import { startProduct } from './support.ts'

const queue = '/api/v1/queue/candidates'
const subjects = 6
const rounds = 40
/** Word that the curator asks for, and the reason of a withdrawal. */
const [unit, wrong] = ['milligrams', 'withdrawn by its sender']

/** Sender that closes its loops: one round of work, whatever of it is lost on the way. */
type Sender = { name: string; work: () => Promise<void> }

/** Drops the outcome of a request whose connection was cut: the next round looks what became of it. */
const orCut = <Result>(request: Promise<Result>) => request.catch(() => undefined)

async function allOf<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

test('three agents and two apps over a line that breaks: every loop closes, and nothing is doubled', async () => {
  const { url, newKey, tokens, request, ctx, kbId } = await startProduct({ rateWrites: 100_000 })
  const draws = fc.sample(fc.record({ share: fc.nat(99), bytes: fc.nat(400) }), { numRuns: 5_000 })
  let drawn = 0
  const proxy = await flakyProxy(url, () => {
    const { share = 99, bytes = 0 } = draws[drawn++ % draws.length] ?? {}
    return share < 10 ? { request: bytes } : share < 25 ? { response: bytes } : undefined
  })
  const titleOf = (name: string, n: number) => `Dose ${n} of ${name}`
  const textOf = (title: string, more = '') => `The ${title.toLowerCase()} is ${title.length}.${more}`
  const isWrong = (title: string) => title.startsWith('Dose 5')

  const agent = async (name: string): Promise<Sender> => {
    const key = await newKey('acme', 'app', ['mcp'])
    let client: Client | undefined
    const call = async (tool: string, args: object) => {
      client ??= await orCut(mcpClient(proxy, key))
      const result = await orCut(
        client?.callTool({ name: tool, arguments: { ...args } }, { timeout: 1_000 }) ?? Promise.reject(),
      )
      return result === undefined || result.isError === true ? undefined : Object(result.structuredContent)
    }
    const work = async () => {
      const asked = await call('my_candidates', { state: 'changes_requested' })
      for (const { candidateId, version, title } of asked?.candidates ?? [])
        await call('revise_proposal', { candidateId, version, content: textOf(title, ` It is in ${unit}.`) })
      // propose is not idempotent, so an agent looks first.
      const known = await call('my_candidates', { limit: 100 })
      if (known === undefined) return
      const sent = new Map(Object(known).candidates.map((each: { title: string }) => [each.title, each]))
      const next = Array.from({ length: subjects }, (_, n) => titleOf(name, n)).find((title) => !sent.has(title))
      if (next !== undefined)
        await call('propose', { kb: 'handbook', action: 'new', title: next, content: textOf(next) })
      for (const { candidateId, version, title, status } of Object(known).candidates)
        if (status === 'pending' && isWrong(title)) await call('withdraw_proposal', { candidateId, version })
    }
    return { name, work }
  }

  const app = async (name: string): Promise<Sender> => {
    const client = new Ganglion({ url: proxy, key: await newKey('acme', 'app'), retries: 1, timeout: 1_000 })
    let next = 0
    const work = async () => {
      const asked = (await orCut(allOf(client.me.candidates({ state: 'changes_requested' })))) ?? []
      for (const { candidateId, title } of asked) {
        const read = await orCut(client.me.candidate(candidateId).withResponse())
        const ifMatch = read?.response.headers.get('etag') ?? undefined
        const content = textOf(title, ` It is in ${unit}.`)
        if (read !== undefined) await orCut(client.candidates.revise(candidateId, { content }, { ifMatch }))
      }
      const title = titleOf(name, next)
      const candidate = { knowledgeBaseId: 'handbook', kind: 'external-feed', title, content: textOf(title) } as const
      const options = { idempotencyKey: title.replaceAll(' ', '-') }
      if (next < subjects && (await orCut(client.candidates.submit(candidate, options))) !== undefined) next++
      const waiting = (await orCut(allOf(client.me.candidates({ status: 'pending' })))) ?? []
      for (const { candidateId, title } of waiting)
        if (isWrong(title)) await orCut(client.candidates.withdraw(candidateId))
    }
    return { name, work }
  }

  const senders = await Promise.all([agent('Ann'), agent('Ben'), agent('Cat'), app('Feed'), app('Sync')])
  const all = new Set(senders.flatMap(({ name }) => Array.from({ length: subjects }, (_, n) => titleOf(name, n))))
  const decide = (id: string, act: string, body: object) =>
    request('POST', `${queue}/${id}/${act}`, { as: tokens.curator, body })
  const listed = async (query = '') =>
    Object((await request('GET', `${queue}?limit=100${query}`, { as: tokens.curator })).body).candidates
  const curate = async () => {
    for (const { candidateId, title, version, changesRequested } of await listed('&status=pending')) {
      if (changesRequested !== undefined || isWrong(title)) continue
      const isAsked = version === 1 && Number(title.split(' ')[1]) % 3 === 0
      if (isAsked) await decide(candidateId, 'request-changes', { reason: `Say the unit: ${unit}.` })
      else await decide(candidateId, 'approve', {})
    }
  }

  let round = 0
  for (; round < rounds; round++) {
    await Promise.all(senders.map(({ work }) => work()))
    await curate()
    const found = await listed()
    if (found.length >= all.size && (await listed('&status=pending')).length === 0) break
  }
  expect(round).toBeLessThan(rounds)
  const found: { title: string; candidateId: string; status: string; version: number }[] = await listed()
  expect(found.map(({ title }) => title).sort()).toEqual([...all].sort())
  for (const { title, candidateId, status, version } of found) {
    const detail = Object((await request('GET', `${queue}/${candidateId}`, { as: tokens.curator })).body)
    const revisions = detail.decisions.filter(({ action }: { action: string }) => action === 'revise')
    const isAsked = Number(title.split(' ')[1]) % 3 === 0
    expect([title, status]).toEqual([title, isWrong(title) ? 'dismissed' : 'approved'])
    expect([title, version, revisions.length]).toEqual([title, isAsked ? 2 : 1, isAsked ? 1 : 0])
    if (isWrong(title)) expect(detail.decisions.at(-1)).toMatchObject({ action: 'dismiss', reason: wrong })
    else expect(String(detail.after?.content ?? detail.after).includes(unit)).toBe(isAsked)
  }
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const { projection } = await ctx.kb(tenantId, kbId)
  expect(projection.read.get`SELECT count(*) AS neurons FROM neurons`).toEqual({
    neurons: found.filter(({ status }) => status === 'approved').length,
  })
}, 120_000)
