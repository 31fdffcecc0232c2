import { readdirSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import type { OpenContext } from '../../src/app/open-context.ts'
import { sweepBlobs, sweepUploads } from '../../src/operate/sweeping.ts'
import { sourceContent } from '../../src/sources/read-source.ts'
import {
  abandonUpload,
  beginUpload,
  finalizeUpload,
  listOpenUploads,
  readUpload,
  receiveChunk,
} from '../../src/sources/receive/chunked-upload.ts'
import { newNodes } from './support/two-nodes.ts'

const asked = { force: false, replace: false }
const content = '# VIP\n\nPage the lead.\n'
const total = content.length
const day = 24 * 60 * 60_000

async function newBed() {
  const nodes = await newNodes()
  const { caller } = nodes
  const begin = async (node: OpenContext, query = asked) => {
    const input = { filename: 'vip.md', fileSize: total, path: '/', metadata: null }
    return (await beginUpload(node, caller, 'handbook', input, query)).uploadId
  }
  const send = (node: OpenContext, id: string, first: number, end = total, words = content.slice(first, end)) => {
    async function* bytes() {
      yield Buffer.from(words)
    }
    return receiveChunk(node, caller, id, { first, last: end - 1, total }, bytes())
  }
  const finalize = (node: OpenContext, id: string) => finalizeUpload(node, caller, id, asked)
  const read = async (node: OpenContext, id: string) => textOf(await (await sourceContent(node, caller, id)).read())
  const kinds = async (node: OpenContext) => (await node.events.after(caller.tenantId, 0, 100)).map(({ kind }) => kind)
  return { ...nodes, begin, send, finalize, read, kinds }
}

test('an upload goes on through whichever node, and becomes one Source', async () => {
  const { one, two, node, caller, kbId, begin, send, finalize, read, kinds, kept } = await newBed()
  const id = await begin(one)
  expect(await send(two, id, 0, 5)).toEqual({ uploadId: id, bytesReceived: 5 })
  expect(await readUpload(one, caller, id)).toMatchObject({ bytesReceived: 5, status: 'open' })
  expect(await listOpenUploads(two, caller, 'handbook')).toMatchObject([{ uploadId: id, bytesReceived: 5 }])
  await expect(send(one, id, 6)).rejects.toMatchObject({ code: 'offset_mismatch', details: { bytesReceived: 5 } })
  await expect(send(one, id, 2, 9, 'no such')).rejects.toMatchObject({ code: 'chunk_differs' })
  await expect(finalize(one, id)).rejects.toMatchObject({ code: 'incomplete', details: { bytesReceived: 5 } })
  await one.close()
  const three = await node()
  expect(await send(three, id, 3)).toEqual({ uploadId: id, bytesReceived: total })
  const source = await finalize(two, id)
  expect(await finalize(three, id)).toEqual(source)
  expect(await readUpload(three, caller, id)).toMatchObject({ bytesReceived: total, status: 'finalized' })
  await expect(send(three, id, 0)).rejects.toMatchObject({ code: 'upload_finalized' })
  expect(await three.sources.list(kbId, { limit: 10 })).toMatchObject([{ id, seq: 1 }])
  expect([await read(two, id), await read(three, id)]).toEqual([content, content])
  expect((await kinds(two)).filter((kind) => kind === 'source.uploaded')).toHaveLength(1)
  expect([kept('uploads'), kept('blobs')]).toEqual([[], [expect.stringContaining(source.contentHash)]])
  for (const { directory } of [two, three]) expect(readdirSync(directory.incoming)).toEqual([])
})

test('two nodes that finalize an upload at once make one Source', async () => {
  const { one, two, kbId, begin, send, finalize, kinds, kept } = await newBed()
  const id = await begin(one)
  await send(one, id, 0)
  const made = await Promise.all([finalize(one, id), finalize(two, id), finalize(two, id), finalize(one, id)])
  expect(new Set(made.map((source) => source.id))).toEqual(new Set([id]))
  expect(await one.sources.list(kbId, { limit: 10 })).toHaveLength(1)
  expect((await kinds(one)).filter((kind) => kind === 'source.uploaded')).toHaveLength(1)
  expect(kept('uploads')).toEqual([])
})

test('an upload that one node abandons while another finalizes it is a Source, or gone', async () => {
  const { one, two, caller, begin, send, finalize, kept } = await newBed()
  for (let round = 0; round < 5; round++) {
    const id = await begin(one, { force: true, replace: false })
    await send(two, id, 0)
    const [made, abandoned] = await Promise.allSettled([finalize(one, id), abandonUpload(two, caller, id)])
    expect(abandoned.status).toBe('fulfilled')
    const isThere = (await one.sources.get(id)) !== undefined
    if (isThere) expect(made).toMatchObject({ status: 'fulfilled', value: { id } })
    else expect(made).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } })
    expect(kept('uploads')).toEqual([])
  }
})

test('an upload that another node abandons after it was found is gone, not incomplete', async () => {
  const { one, two, caller, begin, send, finalize } = await newBed()
  const id = await begin(one)
  await send(one, id, 0)
  const find = one.uploads.find.bind(one.uploads)
  vi.spyOn(one.uploads, 'find').mockImplementationOnce(async (...asked) => {
    const found = await find(...asked)
    await abandonUpload(two, caller, id)
    return found
  })
  await expect(finalize(one, id)).rejects.toMatchObject({ code: 'not_found' })
})

test('an upload whose chunk the store has lost cannot be finalized, and stays what it is', async () => {
  const { one, two, s3, kbId, caller, begin, send, finalize } = await newBed()
  const id = await begin(one)
  await send(one, id, 0)
  for (const key of s3.objects.keys()) if (key.includes('/uploads/')) s3.objects.delete(key)
  await expect(finalize(two, id)).rejects.toThrow('have changed')
  expect(await readUpload(one, caller, id)).toMatchObject({ status: 'open' })
  expect(await one.sources.list(kbId, { limit: 10 })).toEqual([])
})

test('what nothing names any more is swept by whichever node', async () => {
  const { one, two, clock, s3, begin, send, finalize, read, kept } = await newBed()
  const done = await begin(one)
  await send(one, done, 0)
  await finalize(one, done)
  const left = await begin(one)
  await send(one, left, 0, 5)
  const refused = await begin(one)
  await send(one, refused, 0)
  await expect(finalize(two, refused)).rejects.toMatchObject({ code: 'duplicate_source' })
  clock.now = new Date(clock.now.getTime() + 2 * day)
  for (const object of s3.objects.values()) object.storedAt = new Date(clock.now.getTime() - 1.5 * day)
  await sweepUploads(two)
  await sweepBlobs(two)
  expect([kept('uploads'), kept('blobs')]).toEqual([[], [expect.any(String)]])
  expect(await read(one, done)).toBe(content)
})
