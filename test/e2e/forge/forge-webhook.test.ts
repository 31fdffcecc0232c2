import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { receiveDelivery, startForges } from '../../../src/forge/bridge/start-forges.ts'
import type { Delivery } from '../../../src/forge/forge-adapter.ts'
import { openForge } from '../../../src/forge/open-forge.ts'
import { eventually } from '../../support/eventually.ts'
import { candidateDetail, candidates, submitted } from '../git/git-support.ts'
import { bridged } from './forge-support.ts'

test("a delivery counts with the forge's signature alone, and nothing of another is told", async () => {
  const { product, github, link } = await bridged()
  github.git.commit('ada', { 'neurons/tea.md': 'Tea.\n' })
  await github.openPull('ada', 'ada', 'Tea')
  await eventually(() => expect(github.hooks).not.toEqual([]))
  const [hook] = github.hooks
  if (hook === undefined) throw new Error('There is no delivery.')
  const post = async (id: string, headers: Record<string, string>, body: Buffer) => {
    const { host: _, connection: _connection, 'content-length': _length, ...sent } = headers
    const init = { method: 'POST', headers: sent, body: new Uint8Array(body) }
    const answer = await fetch(`${product.url}/forge/${id}/events`, init)
    return [answer.status, await answer.text()] as const
  }
  const known = [202, ''] as const
  expect(await post(link.id, hook.headers, hook.body)).toEqual(known)
  expect(await post(link.id, hook.headers, hook.body)).toEqual(known)
  const changed = Buffer.concat([hook.body, Buffer.from(' ')])
  expect((await post(link.id, hook.headers, changed))[0]).toBe(401)
  expect((await post(link.id, { 'content-type': 'application/json' }, hook.body))[0]).toBe(401)
  const guessed = `sha256=${createHmac('sha256', 'guess').update(hook.body).digest('hex')}`
  expect((await post(link.id, { ...hook.headers, 'x-hub-signature-256': guessed }, hook.body))[0]).toBe(401)
  expect((await post(product.kbId, hook.headers, hook.body))[0]).toBe(404)
  expect((await post('none', hook.headers, hook.body))[0]).toBe(404)
  // Whatever it is, it is not read; but for the signature.
  const odd = Buffer.from('{"__proto__":')
  const signature = `sha256=${createHmac('sha256', github.webhookSecret).update(odd).digest('hex')}`
  expect((await post(link.id, { 'content-type': 'text/odd', 'x-hub-signature-256': signature }, odd))[0]).toBe(202)
  expect((await post(link.id, hook.headers, Buffer.alloc(6 * 1024 * 1024)))[0]).toBe(413)
})

test('a running server follows what is submitted here, and what a webhook says has happened there', async () => {
  const { product, github, link, numberOf } = await bridged()
  const { ctx } = product
  const errors: unknown[] = []
  const stop = startForges(ctx, {
    env: { SECRET: github.app.privateKey },
    onError: (error) => errors.push(error),
    open: (forge) => openForge({ ...forge, writePauseMs: 0 }),
  })
  try {
    const held: Delivery[] = []
    github.deliverTo((hook) => held.push(hook))
    const id = await submitted(product, 'Tea', 'Tea is at four.')
    const number = await eventually(() => numberOf('Add "Tea"'))
    await github.merge('ada', number)
    await expect.poll(() => held.length).toBeGreaterThan(1)
    // The last one first, and each twice.
    for (const hook of [...held, ...held].reverse()) await receiveDelivery(ctx, {}, link.id, hook)
    await eventually(async () => expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' }))
    await eventually(async () =>
      expect(await ctx.forgeLinks.find(link.id)).toMatchObject({
        failingSince: null,
        syncedAt: expect.any(String),
      }),
    )
  } finally {
    await stop()
  }
  expect(errors).toEqual([])
})

test('a server that starts looks at once, however long it is until a link is due', async () => {
  const { product, github, link, numberOf } = await bridged()
  const { ctx } = product
  await submitted(product, 'Tea', 'Tea is at four.')
  await ctx.forgeLinks.note(link.id, { dueAt: '2999-01-01T00:00:00.000Z' })
  const stop = startForges(ctx, {
    env: { SECRET: github.app.privateKey },
    onError: () => {},
    open: (forge) => openForge({ ...forge, writePauseMs: 0 }),
  })
  try {
    await eventually(() => numberOf('Add "Tea"'))
  } finally {
    await stop()
  }
})

test('a forge that is down delays, and is told of since when; a limit is waited for', async () => {
  const { product, github, link } = await bridged()
  const { ctx } = product
  await submitted(product, 'Tea', 'Tea is at four.')
  github.fail(/access_tokens/, { status: 503 })
  const stop = startForges(ctx, {
    env: { SECRET: github.app.privateKey },
    onError: () => {},
    open: (forge) => openForge({ ...forge, writePauseMs: 0 }),
  })
  try {
    const failing = await eventually(async () => {
      const now = await ctx.forgeLinks.find(link.id)
      expect(now).toMatchObject({ failures: 1, note: expect.stringContaining('503') })
      return now
    })
    expect(failing?.note).not.toContain(github.app.privateKey.slice(40, 80))
    github.fail(/pulls/, { status: 429, headers: { 'retry-after': '3600' } })
    await ctx.forgeLinks.note(link.id, { dueAt: null })
    await ctx.database.notifications.send(ctx.database.db, 'forge', link.id)
    await eventually(async () => {
      const { dueAt, failingSince, failures } = (await ctx.forgeLinks.find(link.id)) ?? {}
      expect([failures, failingSince]).toEqual([2, failing?.failingSince])
      expect(Date.parse(dueAt ?? '') - Date.now()).toBeGreaterThan(3_500_000)
    })
    // Not even somebody who does not want to wait makes it send a request.
    const before = github.requests.length
    await ctx.forgeLinks.note(link.id, { dueAt: null })
    await eventually(async () => expect(await ctx.forgeLinks.find(link.id)).toMatchObject({ failures: 3 }))
    expect(github.requests).toHaveLength(before)
  } finally {
    await stop()
  }
  expect(await candidates(product, 'pending')).toHaveLength(1)
})
