import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { type ContextOptions, type OpenContext, openContext } from '../../src/app/open-context.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { removeReceived, sweepBlobs, sweepUploads } from '../../src/operate/sweeping.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { formatProblem } from '../../src/sources/ingest/format-problem.ts'
import { sourceContent } from '../../src/sources/read-source.ts'
import { beginUpload, finalizeUpload, readUpload, receiveChunk } from '../../src/sources/receive/chunked-upload.ts'
import { type FormPart, uploadSource } from '../../src/sources/receive/upload-source.ts'
import { s3Server } from '../state/s3-server.ts'
import { tempDir } from '../support/temp.ts'

const text = Buffer.from('# VIP\n')
const asked = { force: false, replace: false }

/** A data directory whose clock the test sets. */
async function newBed(options: Partial<ContextOptions> = {}) {
  const dataDir = tempDir()
  const clock = { now: new Date() }
  const open = () => openContext({ dataDir, now: () => clock.now, ...options })
  let ctx = await open()
  onTestFinished(() => ctx.close())
  const { id: kbId } = await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const { key } = {
    key: await ctx.apiKeys.create({ tenantId, name: 'app', role: 'app', connectors: [], expiresAt: null }, clock.now),
  }
  const caller: Caller = { id: `key:${key.key.id}`, name: 'app', tenantId, role: 'app', connectors: [] }
  return {
    dataDir,
    kbId,
    caller,
    clock,
    ctx: () => ctx,
    restart: async () => {
      await ctx.close()
      ctx = await open()
    },
  }
}

async function* bytesOf(bytes: Uint8Array) {
  yield bytes
}

async function* form(filename = 'vip.md', bytes: Uint8Array = text): AsyncGenerator<FormPart> {
  yield { name: 'file', filename, bytes: bytesOf(bytes) }
}

const begin = (ctx: OpenContext, caller: Caller) =>
  beginUpload(ctx, caller, 'handbook', { filename: 'vip.md', fileSize: text.length, path: '/', metadata: null }, asked)
const chunk = (ctx: OpenContext, caller: Caller, id: string, first: number, end: number) =>
  receiveChunk(ctx, caller, id, { first, last: end - 1, total: text.length }, bytesOf(text.subarray(first, end)))

test('an upload in chunks goes on after a restart', async () => {
  const { ctx, caller, restart } = await newBed()
  const { uploadId } = await begin(ctx(), caller)
  await chunk(ctx(), caller, uploadId, 0, 3)
  await restart()
  await removeReceived(ctx())
  await sweepUploads(ctx())
  expect(await readUpload(ctx(), caller, uploadId)).toMatchObject({ bytesReceived: 3, status: 'open' })
  await chunk(ctx(), caller, uploadId, 3, text.length)
  await restart()
  const source = await finalizeUpload(ctx(), caller, uploadId, asked)
  const { read } = await sourceContent(ctx(), caller, source.id)
  expect(await buffer(await read())).toEqual(text)
})

test('an upload that was stored, but not noted, before a crash is finalized again', async () => {
  const { ctx, caller } = await newBed()
  const { uploadId } = await begin(ctx(), caller)
  await chunk(ctx(), caller, uploadId, 0, text.length)
  const { blobs, uploadBytes } = ctx()
  await uploadBytes.withFile(uploadId, text.length, (file) => blobs.keep(file, async () => {}))
  expect(await finalizeUpload(ctx(), caller, uploadId, asked)).toMatchObject({ id: uploadId, seq: 1 })
})

test('an upload expires after a day, and its bytes are swept', async () => {
  const { ctx, caller, clock, dataDir } = await newBed()
  const { uploadId, expiresAt } = await begin(ctx(), caller)
  await chunk(ctx(), caller, uploadId, 0, 3)
  const file = join(dataDir, 'tmp/uploads', uploadId)
  clock.now = new Date(Date.parse(expiresAt) - 1)
  await sweepUploads(ctx())
  expect(await readUpload(ctx(), caller, uploadId)).toMatchObject({ bytesReceived: 3 })
  clock.now = new Date(expiresAt)
  await expect(readUpload(ctx(), caller, uploadId)).rejects.toMatchObject({ code: 'upload_expired' })
  await expect(chunk(ctx(), caller, uploadId, 3, 5)).rejects.toMatchObject({ code: 'upload_expired' })
  await expect(finalizeUpload(ctx(), caller, uploadId, asked)).rejects.toMatchObject({ status: 410 })
  expect(existsSync(file)).toBe(true)
  await sweepUploads(ctx())
  expect(existsSync(file)).toBe(false)
  await expect(readUpload(ctx(), caller, uploadId)).rejects.toMatchObject({ code: 'upload_expired' })
})

test('an upload that gave its place away after an hour is gone, and its bytes are swept', async () => {
  const { ctx, caller, clock, dataDir } = await newBed()
  const { uploadId } = await begin(ctx(), caller)
  await chunk(ctx(), caller, uploadId, 0, 3)
  for (let count = 1; count < 10; count++) await begin(ctx(), caller)
  await expect(begin(ctx(), caller)).rejects.toMatchObject({ code: 'too_many_uploads' })
  clock.now = new Date(clock.now.getTime() + 3_600_000)
  for (let count = 0; count < 10; count++) await begin(ctx(), caller)
  await expect(begin(ctx(), caller)).rejects.toMatchObject({ code: 'too_many_uploads' })
  await expect(chunk(ctx(), caller, uploadId, 3, 5)).rejects.toMatchObject({ code: 'not_found' })
  await sweepUploads(ctx())
  expect(existsSync(join(dataDir, 'tmp/uploads', uploadId))).toBe(false)
})

test('what a process before this one was receiving is removed', async () => {
  const { ctx, dataDir } = await newBed()
  const incoming = join(dataDir, 'tmp/incoming')
  writeFileSync(join(incoming, 'half'), 'a')
  await removeReceived(ctx())
  expect(readdirSync(incoming)).toEqual([])
})

test('bytes that no Source names are swept after a day; those of a Source stay', async () => {
  const { ctx, caller, dataDir } = await newBed()
  const { contentHash } = await uploadSource(ctx(), caller, 'handbook', form(), asked)
  const { blobs, uploadBytes } = ctx()
  const orphan = await uploadBytes.withFile('orphan', 0, (file) => blobs.keep(file, async () => file))
  for (const hash of [contentHash, orphan.sha256]) {
    utimesSync(join(dataDir, 'blobs', hash.slice(0, 2), hash.slice(2, 4), hash), new Date(0), new Date(0))
  }
  await sweepBlobs(ctx())
  expect(await blobs.has(contentHash)).toBe(true)
  expect(await blobs.has(orphan.sha256)).toBe(false)
})

test('a bucket takes the bytes of an upload, and nothing of them stays on the disk', async () => {
  const { options, objects } = await s3Server()
  const { ctx, caller, dataDir } = await newBed({ bucket: options })
  const { id } = await uploadSource(ctx(), caller, 'handbook', form(), asked)
  expect([...objects.values()].map(({ bytes }) => bytes)).toEqual([text])
  const { read } = await sourceContent(ctx(), caller, id)
  expect(String(await buffer(await read({ first: 2, last: 4 })))).toBe('VIP')
  expect(readdirSync(join(dataDir, 'blobs'))).toEqual([])
  expect(readdirSync(join(dataDir, 'tmp/incoming'))).toEqual([])
})

test('a bucket that is away refuses an upload, of which nothing is left', async () => {
  const { options, failures, objects } = await s3Server()
  const { ctx, caller, dataDir, kbId } = await newBed({ bucket: options })
  failures.push(500, 500, 500, 500)
  await expect(uploadSource(ctx(), caller, 'handbook', form(), asked)).rejects.toThrow('500')
  expect([objects.size, await ctx().sources.list(kbId, { limit: 1 })]).toEqual([0, []])
  expect(readdirSync(join(dataDir, 'tmp/incoming'))).toEqual([])
  expect(await uploadSource(ctx(), caller, 'handbook', form(), asked)).toMatchObject({ seq: 1 })
})

test.each([
  ['pdf', '%PDF-1.7\n'],
  ['pdf', `${' '.repeat(1000)}\n%PDF-1.4`],
  ['docx', 'PK\x03\x04\x14\0'],
  ['xlsx', 'PK\x03\x04\x14\0'],
  ['png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\0\0\0\0\0\0\0\0IDAT'],
  ['jpg', '\xff\xd8\xff\xe0\0\x10JFIF\0'],
  ['jpeg', '\xff\xd8\xff\xe1\0\x10Exif\0'],
  ['gif', 'GIF89a\x01\0\x01\0'],
  ['webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ['wav', 'RIFF\x24\0\0\0WAVEfmt '],
  ['mp3', 'ID3\x03\0\0\0\0\0\x21'],
  ['mp3', '\xff\xfb\x90\x64\0\0'],
  ['m4a', '\0\0\0\x20ftypM4A \0\0\0\0'],
  ['flac', 'fLaC\0\0\0\x22'],
  ['aac', '\xff\xf1\x50\x80\0\x1f\xfc'],
  ['ogg', `OggS\0\x02${'\0'.repeat(20)}\x01\x1e\x01vorbis\0`],
  ['svg', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['txt', 'BMW is a car, and II* is none'],
  ['txt', '\xff\xfeB\0M\0W\0'],
  ['md', '---\ntitle: x\n---\n'],
  ['html', '<!doctype html>'],
  ['csv', 'a;b\n1;2'],
  ['docm', 'PK\x03\x04\x14\0'],
  ['eml', 'From: ann@example.org\r\n'],
  ['mp4', '\0\0\0\x20ftypisom\0\0\0\0'],
])('a .%s may begin as %j does', async (fileType, head) => {
  expect(await formatProblem(fileWith(head), fileType)).toBeUndefined()
})

test.each([
  ['pdf', '<html>', /not a \.pdf as its name says\.$/],
  ['pdf', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', /looks like \.png/],
  ['png', '\xff\xd8\xff\xe0\0\x10JFIF\0', /looks like \.jpg/],
  ['docx', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', /password-protected/],
  ['xlsx', 'a,b', /not a \.xlsx/],
  ['mp3', 'RIFF\x24\0\0\0WAVEfmt ', /looks like \.wav/],
  ['txt', '%PDF-1.7', /not a \.txt/],
  ['md', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', /looks like \.png/],
  ['svg', 'PK\x03\x04\x14\0\0\0', /looks like \.zip/],
  ['md', '', /empty/],
  ['tsv', 'PK\x03\x04\x14\0\0\0', /looks like \.zip/],
  ['xlsm', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', /password-protected/],
  ['doc', 'anything', /convert the file to \.docx/],
  ['ppt', 'anything', /convert the file to \.pptx/],
  ['odt', 'anything', /convert the file to \.docx/],
  ['xls', 'anything', /convert the file to \.xlsx/],
])('a .%s that begins as %j does is not one', async (fileType, head, problem) => {
  expect(await formatProblem(fileWith(head), fileType)).toMatch(problem)
})

function fileWith(head: string): string {
  const path = join(tempDir(), 'file')
  writeFileSync(path, head, 'latin1')
  return path
}
