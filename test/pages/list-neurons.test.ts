import { expect, test } from 'vitest'
import { ValidationError } from '../../src/contract/errors.ts'
import type { NeuronListQuery } from '../../src/contract/neurons.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { listKnowledgeBases } from '../../src/pages/list-knowledge-bases.ts'
import { listNeurons } from '../../src/pages/list-neurons.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../kb/support/written-neurons.ts'

/** The numbers of all Neurons, page by page. */
async function pages(bed: WrittenBed, { as, tag, limit }: { as: Caller; tag?: string; limit: number }) {
  const found: number[][] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const query = { limit, ...(tag === undefined ? {} : { tag }), ...(cursor === undefined ? {} : { cursor }) }
    const { neurons, nextCursor } = await listNeurons(bed.ctx, as, 'handbook', query)
    found.push(neurons.map(({ seqId }) => Number(seqId.slice(-8))))
    cursor = nextCursor
  }
  return found
}

test('Neurons are listed by seqId, page by page', async () => {
  const bed = await writtenBed({
    'z.md': neuronText(1, { title: 'Last path', tags: ['x', 'Y z'] }),
    'b.md': neuronText(3, {}),
    'c.md': neuronText(2, {}),
  })
  bed.write({ 'b.md': neuronText(3, { title: 'Again' }) })
  expect(await pages(bed, { as: bed.reader, limit: 2 })).toEqual([[1, 2], [3]])
  expect(await pages(bed, { as: bed.reader, limit: 3 })).toEqual([[1, 2, 3]])
  const { neurons } = await listNeurons(bed.ctx, bed.reader, 'handbook', { limit: 1 })
  const { createdAt, updatedAt } = (await bed.read(1)) ?? {}
  expect(neurons).toEqual([
    {
      seqId: seq(1),
      title: 'Last path',
      path: 'neurons/z.md',
      tags: ['x', 'Y z'],
      version: 1,
      createdAt,
      updatedAt,
      documentId: null,
    },
  ])
})

test('pages are full of what the caller may see, and only that says whether there are more', async () => {
  const hidden = { tags: ['internal'] }
  const files = Array.from({ length: 9 }, (_, n) => [`${n}.md`, neuronText(n + 1, n % 3 === 0 ? {} : hidden)])
  const bed = await writtenBed(Object.fromEntries(files))
  expect(await pages(bed, { as: bed.app, limit: 2 })).toEqual([[1, 4], [7]])
  expect(await pages(bed, { as: bed.app, limit: 3 })).toEqual([[1, 4, 7]])
  expect(await pages(bed, { as: bed.app, tag: 'internal', limit: 3 })).toEqual([[]])
  expect(await pages(bed, { as: bed.curator, tag: 'internal', limit: 5 })).toEqual([[2, 3, 5, 6, 8], [9]])
})

test('a tag is matched whole, whatever its case and accents, as the Neuron has it now', async () => {
  const bed = await writtenBed({
    'a.md': neuronText(1, { tags: ['Café', 'café'] }),
    'b.md': neuronText(2, { tags: ['cafeteria'] }),
    'c.md': neuronText(3, { tags: ['x', 'CAFE'] }),
  })
  const tagged = (tag: string) => pages(bed, { as: bed.reader, tag, limit: 9 })
  expect(await tagged('#cafe')).toEqual([[1, 3]])
  bed.write({ 'a.md': neuronText(1, { tags: ['tea'] }), 'c.md': null })
  expect([await tagged('CAFÉ'), await tagged('tea')]).toEqual([[[]], [[1]]])
})

test.each(['x', 'aGFuZGJvb2s', ''])('the cursor %j, which no page gave, is refused', async (cursor) => {
  const { ctx, reader } = await writtenBed()
  await expect(listNeurons(ctx, reader, 'handbook', { limit: 1, cursor })).rejects.toThrow(ValidationError)
})

test("a tenant's knowledge bases are listed by slug, as their settings have them", async () => {
  const { ctx, reader, kbId } = await writtenBed()
  const { id } = await createKnowledgeBase(ctx, {
    tenant: 'acme',
    slug: 'cookbook',
    title: 'Recipes',
    language: 'da',
    prefix: 'food',
  })
  await createKnowledgeBase(ctx, { tenant: 'other', slug: 'diary' })
  expect(await listKnowledgeBases(ctx, reader)).toEqual({
    knowledgeBases: [
      { id, slug: 'cookbook', title: 'Recipes', language: 'da', prefix: 'food' },
      { id: kbId, slug: 'handbook', title: 'handbook', language: 'en', prefix: 'handbook' },
    ],
  })
})

test('Neurons are listed by their last change, and from a time on', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, {}), 'b.md': neuronText(2, {}), 'c.md': neuronText(3, {}) })
  const { updatedAt = '' } = (await bed.read(1)) ?? {}
  const later = new Date(Date.parse(updatedAt) + 60_000)
  const again = new Map([['neurons/a.md', neuronText(1, { title: 'Again' })]])
  bed.native.commit('refs/heads/main', again, { at: later.getTime() / 1000 })
  const list = async (query: Partial<NeuronListQuery>) => {
    const found: number[][] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = { limit: 2, ...query, ...(cursor === undefined ? {} : { cursor }) }
      const { neurons, nextCursor } = await listNeurons(bed.ctx, bed.reader, 'handbook', page)
      found.push(neurons.map(({ seqId }) => Number(seqId.slice(-8))))
      cursor = nextCursor
    }
    return found
  }
  expect(await list({ sort: 'updatedAt' })).toEqual([[2, 3], [1]])
  expect(await list({ sort: '-updatedAt' })).toEqual([[1, 3], [2]])
  expect(await list({ updatedSince: updatedAt })).toEqual([[1, 2], [3]])
  expect(await list({ updatedSince: later.toISOString().replace('Z', '+00:00'), sort: 'updatedAt' })).toEqual([[1]])
  const { nextCursor } = await listNeurons(bed.ctx, bed.reader, 'handbook', { limit: 1 })
  const other = { limit: 1, sort: 'updatedAt', cursor: nextCursor ?? '' } as const
  await expect(listNeurons(bed.ctx, bed.reader, 'handbook', other)).rejects.toThrow(ValidationError)
})
