import { expect } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { approve, candidates, submitted } from '../git/git-support.ts'
import type { Product } from '../support.ts'
import type { bridgedTo, FakeForge } from './forge-support.ts'

type Bridged = Awaited<ReturnType<typeof bridgedTo<FakeForge>>>
type Both = { product: Product; forge: FakeForge }
type Size = { count: number; maxOpen: number }

/** Outcomes of candidates, in turn. */
const turns = ['merge', 'squash', 'rebase', 'edit', 'close', 'approve', 'dismiss', 'comment', 'nothing'] as const

/**
 * A day: many candidates come, people decide on them there and here, and the bridge is cut off again and again at another request,
 * before it has had its effect or after. Then both sides must agree.
 * @returns how many times it was cut off
 */
export async function day({ product, forge, sync, restart }: Bridged, { count, maxOpen }: Size): Promise<number> {
  let cuts = 0
  const cutOff = async (after: number) => {
    forge.fail(/./, cuts % 2 === 0 ? 'lose the answer' : { status: 502 }, after)
    const isCut = await sync().then(
      () => false,
      () => true,
    )
    forge.mend()
    restart()
    if (isCut) cuts++
    return isCut
  }
  const settle = async () => {
    for (let n = 0; n < 3; n++) expect(await sync()).toBeUndefined()
  }
  for (let n = 1; n <= count; n++) {
    const zone = n % 10 === 0 ? { metadata: { actionZone: 'red' } } : {}
    await submitted(product, `Page ${n}`, `This is page ${n}. See [[Page ${n - 1}]].`, zone)
    if (n % 7 === 0) await cutOff(n)
  }
  // At each request in turn, until one comparison needs no more.
  for (let at = 0; at < 400 && (await cutOff(at)); at += at < 12 ? 1 : 7);
  await settle()
  const open = (await forge.pulls()).filter(({ state }) => state === 'open')
  expect(open).toHaveLength(Math.min(count, maxOpen))

  for (const [n, pull] of open.entries()) {
    const number = Number(pull.number)
    const turn = turns[n % turns.length]
    const id = /ganglion:pull (\S+)/.exec(String(pull.body))?.[1] ?? ''
    const { ref } = pull.head as { ref: string }
    if (turn === 'merge' || turn === 'squash' || turn === 'rebase') {
      await forge.ready('ada', number)
      await forge.merge(n % 2 === 0 ? 'ada' : 'bob', number, turn)
    }
    if (turn === 'edit') {
      const [path = ''] = nativeGit(forge.git.dir, ['diff', '--name-only', `main...${ref}`]).split('\n')
      const page = nativeGit(forge.git.dir, ['show', `${ref}:${path}`])
      forge.git.commit(ref, { [path]: `${page}\n\nSaid better.\n` })
      await forge.ready('ada', number)
      await forge.merge('ada', number, 'squash')
    }
    if (turn === 'close') {
      await forge.comment('bob', number, 'Not this one.')
      await forge.close('bob', number)
    }
    if (turn === 'comment') await forge.comment('eve', number, `What of ${n}?`)
    if (turn === 'approve') await approve(product, id)
    if (turn === 'dismiss') {
      const path = `/api/v1/queue/candidates/${id}/dismiss`
      await product.request('POST', path, { as: product.tokens.curator, body: { reason: 'No.' } })
    }
    if (n % 4 === 3) await cutOff(n)
  }
  for (let at = 0; at < 400 && (await cutOff(at)); at += at < 12 ? 1 : 7);
  await settle()
  await agreed({ product, forge }, { count, maxOpen })
  return cuts
}

/** Each candidate has been decided on alike on both sides, or has one pull request, as far as there are places; nothing came twice. */
export async function agreed({ product, forge }: Both, { count, maxOpen }: Size): Promise<void> {
  const { pending, approved, dismissed } = {
    pending: await ids(product, 'pending'),
    approved: await ids(product, 'approved'),
    dismissed: await ids(product, 'dismissed'),
  }
  expect(pending.length + approved.length + dismissed.length).toBe(count)
  const pulls = (await forge.pulls()).map(({ body, state, number }) => {
    return { id: /ganglion:pull (\S+)/.exec(String(body))?.[1], state, number }
  })
  // None is doubled, and each that waits and has a place has one.
  expect(new Set(pulls.map(({ id }) => id)).size).toBe(pulls.length)
  const openIds = pulls.filter(({ state }) => state === 'open').map(({ id }) => id)
  expect(openIds).toHaveLength(Math.min(pending.length, maxOpen))
  expect(openIds.filter((id) => !pending.includes(id ?? ''))).toEqual([])
  for (const { number } of pulls) {
    const said = (await forge.comments(Number(number))).map(({ body }) => body)
    expect(new Set(said).size).toBe(said.length)
  }
  expect(nativeGit(forge.git.dir, ['rev-parse', 'main'])).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  const { ctx } = product
  const rows = await ctx.forgePulls.list((await ctx.forgeLinks.ofKb(product.kbId))?.id ?? '')
  expect(rows.filter(({ number }) => number === null)).toEqual([])
  const closing = dismissed.length > 0 ? await reasonsOf(product, dismissed) : []
  expect(new Set(closing).isSubsetOf(new Set(['No.', 'Not this one.']))).toBe(true)
  expect(forge.wrong).toEqual([])
}

async function ids(product: Product, status: string): Promise<string[]> {
  return (await candidates(product, status)).map(({ candidateId }) => String(candidateId))
}

async function reasonsOf(product: Product, dismissed: readonly string[]): Promise<unknown[]> {
  const reasons = []
  for (const id of dismissed) {
    const path = `/api/v1/queue/candidates/${id}`
    const { decisions } = (await product.request('GET', path, { as: product.tokens.curator })).body
    const [last, ...others] = (decisions as Record<string, unknown>[]).filter(({ action }) => action === 'dismiss')
    expect(others).toEqual([])
    reasons.push(last?.reason)
  }
  return reasons
}
