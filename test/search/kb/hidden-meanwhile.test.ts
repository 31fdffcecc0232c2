import { expect, test, vi } from 'vitest'
import { KbSearch } from '../../../src/search/kb/kb-search.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { neuronText, type WrittenBed, writtenBed } from '../../kb/support/written-neurons.ts'

/** Has a page hidden and renamed after the index has answered and before the answer is made of the tables. */
function hideAfter(method: 'search' | 'retrieve', bed: WrittenBed): void {
  const original = KbSearch.prototype[method] as (...args: unknown[]) => Promise<unknown>
  vi.spyOn(KbSearch.prototype, method).mockImplementationOnce(async function (this: KbSearch, ...args: unknown[]) {
    const found = await original.apply(this, args)
    bed.write({ 'a.md': neuronText(1, { title: 'Berlin layoffs', tags: ['internal'] }, 'ticket\n') })
    await (await bed.ctx.kb(bed.app.tenantId, 'handbook')).sync()
    return found as never
  })
}

test('a page that is hidden while somebody searches is not shown by its new title', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }, 'ticket\n') })
  const find = () => search(bed.ctx, bed.app, 'handbook', { q: 'ticket', kind: 'all', limit: 5 })
  const passages = () =>
    retrieve(bed.ctx, bed.app, 'handbook', { query: 'ticket', audience: 'tool', maxChars: 100, topK: 2 })
  hideAfter('retrieve', bed)
  expect(await passages()).toMatchObject({ hitCount: 0, formattedContext: expect.not.stringContaining('Berlin') })
  bed.write({ 'a.md': neuronText(1, { title: 'A' }, 'ticket\n') })
  expect((await passages()).hitCount).toBe(1)
  hideAfter('search', bed)
  expect((await find()).documents).toEqual([])
})
