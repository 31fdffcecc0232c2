import { expect, onTestFinished, test } from 'vitest'
import { ParserPool } from '../../../src/markdown/pool/parser-pool.ts'
import { KbSearch } from '../../../src/search/kb/kb-search.ts'
import { SearchPool } from '../../../src/search/search-pool.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { neuronText } from '../../kb/support/written-neurons.ts'
import { tempDir } from '../../support/temp.ts'

/** A parser that takes for ever for pages that say so, until it is let go on. */
class SlowParser extends ParserPool {
  parsed = 0
  readonly #gate = Promise.withResolvers<void>()

  override async chunks(content: string) {
    this.parsed++
    if (content.includes('for ever')) await this.#gate.promise
    return super.chunks(content)
  }

  goOn(): void {
    this.#gate.resolve()
  }
}

/** A knowledge base whose pages are written natively, and a search index whose parser is slow. */
async function slowSearch() {
  const { ctx, gitDir, curator } = await newTestBed()
  const native = new NativeWriter(gitDir)
  const write = (files: Record<string, string>) =>
    native.commit('refs/heads/main', new Map(Object.entries(files).map(([path, text]) => [`neurons/${path}`, text])))
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const directory = tempDir()
  const open = () => {
    const parser = new SlowParser()
    const pool = new SearchPool()
    const search = new KbSearch(kb, {
      ...{ parser, pool, directory, updatePatience: 100 },
      sources: {
        changes: () => 0,
        mark: async () => '',
        versions: async () => new Map(),
        document: async () => undefined,
      },
    })
    const close = async () => {
      const closed = search.close()
      parser.goOn()
      await closed
      await Promise.all([parser.close(), pool.close()])
    }
    return { search, parser, close }
  }
  const opened = open()
  onTestFinished(opened.close)
  return { kb, write, open, ...opened }
}

const scope = { audience: 'tool', defaultAudience: ['tool'], limit: 10 } as const

test('while the index is built, search answers from what it has, newest first, and says what it lacks', async () => {
  const { kb, search, parser, write } = await slowSearch()
  const pages = Array.from({ length: 60 }, (_, n): [string, string] => {
    const hidden = n === 1 ? { tags: ['internal'] } : {}
    return [`${n}.md`, neuronText(n + 1, { title: `P${n}`, ...hidden }, n === 0 ? 'ticket, for ever\n' : 'ticket\n')]
  })
  write(Object.fromEntries(pages))
  await kb.sync()
  // Of the ten that the second batch has, one is hidden.
  let found = await search.search({ q: 'ticket', scope })
  while ((found.behind?.pages ?? 60) > 9) found = await search.search({ q: 'ticket', scope })
  expect(found).toMatchObject({ total: 50, behind: { pages: 9 } })
  expect(await search.retrieve({ question: 'ticket', scope, reach: 'chunk' })).toMatchObject({ behind: { pages: 9 } })
  parser.goOn()
  await search.follow()
  expect(await search.search({ q: 'ticket', scope })).toEqual(
    expect.not.objectContaining({ behind: expect.anything() }),
  )
})

test('an index that was being built when the server ended is built on from there', async () => {
  const { kb, search, write, close, open } = await slowSearch()
  const pages = Array.from({ length: 120 }, (_, n): [string, string] => [
    `${n}.md`,
    neuronText(n + 1, { title: `P${n}` }, n === 60 ? 'ticket, for ever\n' : 'ticket\n'),
  ])
  write(Object.fromEntries(pages))
  await kb.sync()
  while (((await search.search({ q: 'ticket', scope })).behind?.pages ?? 120) > 70);
  await close()

  const again = open()
  onTestFinished(again.close)
  again.parser.goOn()
  await again.search.follow()
  expect((await again.search.search({ q: 'ticket', scope })).total).toBe(120)
  expect(again.parser.parsed).toBeLessThanOrEqual(70)
})

test('while an update takes long, search answers from the index and the texts that it lacks, without what is hidden by now', async () => {
  const { kb, search, parser, write } = await slowSearch()
  const find = async () => {
    await kb.sync()
    const { hits, total } = await search.search({ q: 'ticket', scope })
    expect(total).toBe(hits.length)
    return hits.map(({ key }) => Number(key.slice(-8))).sort()
  }
  write({ 'a.md': neuronText(1, { title: 'A' }, 'ticket\n'), 'b.md': neuronText(2, { title: 'B' }, 'ticket\n') })
  await kb.sync()
  await search.follow()
  expect(await find()).toEqual([1, 2])

  write({
    'b.md': neuronText(2, { title: 'B', tags: ['internal'] }, 'ticket, for ever\n'),
    'c.md': neuronText(3, { title: 'C' }, 'ticket\n'),
  })
  // What is new is found by a scan of texts, since the index lacks more than half of the pages.
  expect(await find()).toEqual([1, 3])
  expect(
    (await search.retrieve({ question: 'ticket', scope, reach: 'chunk' })).hits.map(({ key }) => key.slice(-1)),
  ).toEqual(['1', '3'])

  parser.goOn()
  await search.follow()
  expect(await find()).toEqual([1, 3])
})
