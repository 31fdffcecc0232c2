import { expect, onTestFinished, test, vi } from 'vitest'
import { RetrieveInput } from '../../../src/contract/search.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { SearchPool } from '../../../src/search/search-pool.ts'
import { neuronText, type WrittenBed, writtenBed } from '../../kb/support/written-neurons.ts'

/** Errors as SQLite and the file system report them: SQLITE_FULL, SQLITE_IOERR_SHMSIZE, and a full disk. */
const failures = [{ errcode: 13 }, { errcode: 4874 }, { code: 'ENOSPC' }]

/** Makes some requests to the index fail, until it is called again. */
function failing({ ctx }: WrittenBed, failure: object, methods?: readonly string[]): () => void {
  const pool = ctx.threads.of(SearchPool)
  const ask = pool.ask.bind(pool)
  const spied = vi.spyOn(pool, 'ask').mockImplementation((address, method, argument) => {
    if (methods?.includes(method) === false) return ask(address, method, argument)
    return Promise.reject(Object.assign(new Error('not stored'), failure))
  })
  onTestFinished(() => spied.mockRestore())
  return () => spied.mockRestore()
}

const pages = {
  'heron.md': neuronText(1, { title: 'Herons' }, 'Herons eat frogs.\n'),
  'secret.md': neuronText(2, { title: 'Secret', tags: ['internal'] }, 'Herons eat secrets.\n'),
}
const heron = { q: 'herons', kind: 'all', limit: 10 } as const

test.each(failures)(
  'an index that can be neither opened nor made is no reason to refuse a search: %o',
  async (failure) => {
    const bed = await writtenBed(pages)
    const mend = failing(bed, failure)
    const found = await search(bed.ctx, bed.reader, 'handbook', heron)
    expect(found).toMatchObject({ documents: [{ title: 'Herons' }], behind: { pages: 1 } })
    const input = RetrieveInput.parse({ query: 'What do herons eat?' })
    const { chunks } = await retrieve(bed.ctx, bed.reader, 'handbook', input)
    expect(chunks.map(({ content }) => content)).toEqual(['Herons eat frogs.'])
    const all = await search(bed.ctx, bed.curator, 'handbook', heron)
    expect([all.documents.length, all.behind]).toEqual([2, { pages: 2 }])
    mend()
    expect((await search(bed.ctx, bed.reader, 'handbook', heron)).behind).toBeUndefined()
  },
)

test('an index that can be read but not be changed answers as it is, and is brought up to date later', async () => {
  const bed = await writtenBed(pages)
  await search(bed.ctx, bed.reader, 'handbook', heron)
  const mend = failing(bed, { errcode: 13 }, ['apply', 'grow', 'shrink'])
  bed.write({ 'crane.md': neuronText(3, { title: 'Cranes' }, 'Cranes eat herons, some say.\n') })
  for (let round = 0; round < 3; round++) {
    const found = await search(bed.ctx, bed.reader, 'handbook', heron)
    expect(found).toMatchObject({ documents: [{ title: 'Herons' }], behind: { pages: 1 } })
  }
  mend()
  const { documents, behind } = await search(bed.ctx, bed.reader, 'handbook', heron)
  expect([documents.length, behind]).toEqual([2, undefined])
})
