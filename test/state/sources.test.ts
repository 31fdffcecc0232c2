import { expect, test } from 'vitest'
import { EventLog } from '../../src/state/event-store.ts'
import { KnowledgeBases } from '../../src/state/kb-store.ts'
import { type NewSource, SourceExists } from '../../src/state/sources/source.ts'
import { Sources } from '../../src/state/sources/sources.ts'
import { Tenants } from '../../src/state/tenants.ts'
import { at, testDatabase } from './support.ts'

const isVisible = () => true

async function newSources() {
  const { db } = await testDatabase()
  const { id: tenantId } = await new Tenants(db).ensure('acme', at('09:00'))
  for (const id of ['kb', 'other']) {
    await new KnowledgeBases(db).create({ id, tenantId, slug: id, prefix: id }, at('09:00'))
  }
  const events = new EventLog(db)
  const sources = new Sources(db, events)
  const source = (id: string, changes: Partial<NewSource> = {}): NewSource => ({
    ...{ id, tenantId, kbId: 'kb', filename: `${id}.md`, path: '/', fileType: 'md', fileSize: 3, contentHash: id },
    ...{ status: 'ready', errorMessage: null, tags: null, connector: 'upload', sourceUrl: null, metadata: null },
    uploader: { id: 'key:1', name: 'the app' },
    ...changes,
  })
  const add = (id: string, changes: Partial<NewSource> = {}, { force = false, replace = false } = {}) =>
    sources.add(source(id, changes), at('10:00'), { force, replace, isVisible })
  return { db, tenantId, events, sources, source, add }
}

test('a Source is kept as it was added, with a number of its own in its knowledge base', async () => {
  const { sources, source, tenantId, add } = await newSources()
  const added = await add('a', { tags: 'x,y', metadata: '{}', sourceUrl: 'https://example.com' })
  expect(added).toEqual({
    ...source('a', { tags: 'x,y', metadata: '{}', sourceUrl: 'https://example.com' }),
    ...{ seq: 1, attempt: 0, createdAt: at('10:00').toISOString(), extractedAt: null, archivedAt: null },
    ...{ editionOf: 'a', warnings: [] },
  })
  expect(await sources.find(tenantId, 'a')).toEqual(added)
  expect(await sources.find('another', 'a')).toBeUndefined()
  expect((await add('b')).seq).toBe(2)
  expect((await add('c', { kbId: 'other' })).seq).toBe(1)
})

test('the same bytes are a Source of a knowledge base once, until it is archived, unless it is forced', async () => {
  const { sources, tenantId, add } = await newSources()
  const first = await add('a', { contentHash: 'same' })
  await expect(add('b', { contentHash: 'same' })).rejects.toThrow(new SourceExists(first))
  expect((await add('c', { contentHash: 'same', kbId: 'other' })).seq).toBe(1)
  await add('d', { contentHash: 'same' }, { force: true })
  await sources.archive(tenantId, 'a', at('11:00'))
  expect((await sources.findDuplicate('kb', 'same', isVisible))?.id).toBe('d')
  await expect(add('e', { contentHash: 'same' })).rejects.toThrow(SourceExists)
  await sources.archive(tenantId, 'd', at('11:00'))
  expect(await sources.findDuplicate('kb', 'same', isVisible)).toBeUndefined()
  expect((await add('f', { contentHash: 'same' })).seq).toBe(3)
  expect(await sources.hasBytes('same')).toBe(true)
  expect(await sources.hasBytes('none')).toBe(false)
})

test('a Source is a document of its own, unless it replaces the newest of its name in its place', async () => {
  const { sources, tenantId, add } = await newSources()
  const place = { path: '/x', filename: 'x.md' }
  const editionOf = async (id: string, changes: Partial<NewSource> = {}, replace = true) =>
    (await add(id, { ...place, ...changes }, { replace })).editionOf
  expect(await editionOf('a')).toBe('a')
  expect(await editionOf('b', {}, false)).toBe('b')
  expect(await editionOf('c')).toBe('b')
  expect(await editionOf('d', { path: '/' })).toBe('d')
  expect(await editionOf('e', { filename: 'y.md' })).toBe('e')
  expect(await editionOf('f', { kbId: 'other' })).toBe('f')
  for (const id of ['b', 'c']) await sources.archive(tenantId, id, at('11:00'))
  expect(await editionOf('g')).toBe('a')
  expect((await add('h', { ...place, contentHash: 'g' }, { force: true })).editionOf).toBe('h')
  expect((await add('i', { ...place, contentHash: 'g' }, { force: true, replace: true })).editionOf).toBe('h')
})

test('of many at once with the same bytes one is added, and numbers have no holes', async () => {
  const { sources, add } = await newSources()
  const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
  const results = await Promise.allSettled(ids.map((id) => add(id, { contentHash: 'same' })))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await Promise.all(ids.map((id) => add(`${id}x`)))
  const numbers = (await sources.list('kb', { limit: 100 })).map(({ seq }) => seq)
  expect(numbers).toEqual(Array.from({ length: 21 }, (_, index) => 21 - index))
})

test('what is written together with a Source, and its event, is written with it or not at all', async () => {
  const { sources, source, events, tenantId } = await newSources()
  const failing = sources.add(source('a'), at('10:00'), {
    ...{ force: false, replace: false, isVisible },
    together: async () => {
      throw new Error('full')
    },
  })
  await expect(failing).rejects.toThrow('full')
  expect(await sources.get('a')).toBeUndefined()
  expect(await events.after(tenantId, 0, 10)).toEqual([])
  const arrival = events.arrival(tenantId, events.arrivals(tenantId), new AbortController().signal)
  await sources.add(source('a'), at('10:00'), { force: false, replace: false, isVisible })
  await arrival
  const data = { documentId: 'a', status: 'ready' }
  expect(await events.after(tenantId, 0, 10)).toMatchObject([{ kind: 'source.uploaded', kbId: 'kb', data }])
})

test('a Source changes only from a state that was asked for, and while it is not archived', async () => {
  const { sources, tenantId, add } = await newSources()
  await add('a')
  expect(await sources.change('a', ['failed'], { status: 'processing' })).toBe(false)
  expect(await sources.change('a', ['ready', 'failed'], { status: 'processing', attempt: 1 })).toBe(true)
  expect(await sources.archive(tenantId, 'a', at('11:00'))).toBe(false)
  const end = { status: 'failed', errorMessage: 'Broken.', extractedAt: at('10:30').toISOString() } as const
  expect(await sources.change('a', ['processing'], end)).toBe(true)
  expect(await sources.get('a')).toMatchObject({ ...end, attempt: 1 })
  expect(await sources.change('a', ['failed'], { status: 'processing', errorMessage: null })).toBe(true)
  expect(await sources.get('a')).toMatchObject({ status: 'processing', errorMessage: null })
  await sources.change('a', ['processing'], { status: 'success' })
  expect(await sources.archive('another', 'a', at('11:00'))).toBe(false)
  expect(await sources.archive(tenantId, 'a', at('11:00'))).toBe(true)
  expect(await sources.archive(tenantId, 'a', at('12:00'))).toBe(true)
  expect((await sources.get('a'))?.archivedAt).toBe(at('11:00').toISOString())
  expect(await sources.change('a', ['success'], { status: 'processing' })).toBe(false)
})

test('Sources are listed by state, the newest first, and those whose ingest is not over', async () => {
  const { sources, tenantId, add } = await newSources()
  for (const status of ['pending', 'ready', 'processing', 'success', 'failed'] as const) await add(status, { status })
  await add('archived')
  await sources.archive(tenantId, 'archived', at('11:00'))
  const ids = async (options: Partial<Parameters<Sources['list']>[1]> = {}) =>
    (await sources.list('kb', { limit: 100, ...options })).map(({ id }) => id)
  expect(await ids()).toEqual(['failed', 'success', 'processing', 'ready', 'pending'])
  expect(await ids({ below: 4, limit: 2 })).toEqual(['processing', 'ready'])
  expect(await ids({ statuses: ['success'] })).toEqual(['success'])
  expect((await sources.unfinished()).map(({ id }) => id).sort()).toEqual(['pending', 'processing', 'ready'])
})
