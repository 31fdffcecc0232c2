import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { kbSearch } from '../../../src/search/kb/kb-search.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { candidate, newTestBed, type TestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { eventually } from '../../support/eventually.ts'

/** Adds a Source whose text was read. */
async function addText(ctx: OpenContext, { kbId, curator }: TestBed, markdown: string): Promise<string> {
  const contentHash = createHash('sha256').update(markdown).digest('hex')
  const source = await addSource(ctx, { kbId, contentHash, fileType: 'txt', filename: 'e.txt' })
  await sourceTexts(ctx).keep(source, { title: undefined, markdown, anchors: [], warnings: [] })
  await ctx.sources.change(source.id, ['pending', 'ready'], { extractedAt: new Date().toISOString() })
  ctx.events.wake(curator.tenantId)
  return source.id
}

async function found(ctx: OpenContext, { curator }: TestBed, q: string): Promise<number> {
  return (await search(ctx, curator, 'handbook', { q, kind: 'all', limit: 10 })).documents.length
}

const base64 = (length: number) => randomBytes(length).toString('base64').replace(/.{76}/g, '$&\n')
const log = (ids: readonly string[]) => ids.map((id, n) => `2026-05-01 INFO [${id}] GET /items/${n} 200`).join('\n')

test('a small Source is found by the first query after it was read', async () => {
  const bed = await newTestBed()
  await addText(bed.ctx, bed, 'The ticket of a file.')
  expect(await found(bed.ctx, bed, 'ticket')).toBe(1)
})

test('a query that was asked before does not find a Source any more that another process archives', async () => {
  const bed = await newTestBed()
  const id = await addText(bed.ctx, bed, 'The ticket of a file.')
  for (const _ of [1, 2, 3]) expect(await found(bed.ctx, bed, 'ticket')).toBe(1)
  const other = await openContext({ dataDir: bed.dataDir })
  await other.sources.archive(bed.curator.tenantId, id, new Date())
  await other.close()
  expect(await found(bed.ctx, bed, 'ticket')).toBe(0)
})

test('queries are answered, with every Neuron, while a big Source is taken in; then its identifiers are found', async () => {
  const bed = await newTestBed()
  const { ctx } = bed
  expect(await found(ctx, bed, 'lead')).toBe(0)
  const ids = Array.from({ length: 6000 }, () => randomUUID())
  const hash = randomBytes(32).toString('hex')
  await addText(ctx, bed, `${base64(300_000)}\n\n${log(ids)}\n\n${hash} is the last.\n`)
  expect(await found(ctx, bed, hash)).toBe(0)
  const { candidateId } = await submitCandidate(ctx, bed.app, candidate())
  await approveCandidate(ctx, bed.curator, candidateId, {})
  expect(await found(ctx, bed, 'lead')).toBe(1)
  await eventually(async () => expect(await found(ctx, bed, hash)).toBe(1))
  for (const id of [ids[0], ids[3000], ids[5999]]) expect(await found(ctx, bed, `"${id}"`)).toBe(1)
})

test('a big Source that is archived while it is taken in is not found, and is not kept as one that is whole', async () => {
  const bed = await newTestBed()
  const { ctx, curator } = bed
  for (const wait of [0, 30, 100, 300, 700]) {
    const source = await addText(ctx, bed, log(Array.from({ length: 6000 }, () => randomUUID())))
    await found(ctx, bed, 'info')
    await delay(wait)
    await ctx.sources.archive(curator.tenantId, source, new Date())
    ctx.events.wake(curator.tenantId)
    expect(await found(ctx, bed, 'info')).toBe(0)
  }
  await kbSearch(await ctx.kb(curator.tenantId, 'handbook'), ctx).close()
  const file = new DatabaseSync(join(bed.dataDir, 'index', bed.kbId, 'search.db'), { readOnly: true })
  const seen = file.prepare(
    "SELECT count(*) AS count FROM pages WHERE key LIKE '%-%-%-%-%' AND version NOT LIKE 'unfinished %'",
  )
  expect(seen.get()).toEqual({ count: 0 })
  file.close()
})

test('a big Source whose taking in is interrupted is found later, the same after a rebuild, and not when it is archived', async () => {
  const bed = await newTestBed()
  const ids = Array.from({ length: 6000 }, () => randomUUID())
  const source = await addText(bed.ctx, bed, log(ids))
  await found(bed.ctx, bed, 'info')
  let ctx = await bed.reopen()
  await eventually(async () => expect(await found(ctx, bed, `"${ids[5999]}"`)).toBe(1))
  const query = { q: `info OR "${ids[7]}"`, kind: 'all', limit: 10 } as const
  const before = await search(ctx, bed.curator, 'handbook', query)
  await ctx.close()
  rmSync(join(bed.dataDir, 'index'), { recursive: true })
  ctx = await bed.reopen()
  await eventually(async () => expect(await search(ctx, bed.curator, 'handbook', query)).toEqual(before))
  await ctx.sources.archive(bed.curator.tenantId, source, new Date())
  ctx.events.wake(bed.curator.tenantId)
  expect(await found(ctx, bed, 'info')).toBe(0)
})
