import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { extractChunks } from '../../src/markdown/chunks.ts'
import { extractLinks } from '../../src/markdown/links.ts'
import { parsePage } from '../../src/markdown/parse-page.ts'
import { ParserPool } from '../../src/markdown/parser-pool.ts'
import { plainChunks } from '../../src/markdown/plain-chunks.ts'
import { markdown } from './markdown-arbitrary.ts'

const pool = new ParserPool()
afterAll(() => pool.close())

const link = { target: 'a', embed: false, line: 1 }
/** Beginning with inline HTML and a link, so that only a parser can tell. */
const needsParser = (rest: string) => `x <b> [[a]] ${rest}`
const tooSlow = needsParser('[a]('.repeat(60_000))

describe('ParserPool', () => {
  test('answers certain texts without a thread, others from one', async () => {
    const own = new ParserPool()
    let threads = 0
    const count = () => threads++
    process.on('worker', count)
    expect(await own.links('[[a]]')).toEqual({ links: [link] })
    expect(await own.links('no links <b>')).toEqual({ links: [] })
    expect(await own.links('> '.repeat(10_000))).toEqual({ links: [] })
    expect(threads).toBe(0)
    expect(await own.links(needsParser(''))).toEqual({ links: [link] })
    expect(threads).toBe(1)
    process.off('worker', count)
    await own.close()
  })

  test('gives links and chunks of a page by what each needs', async () => {
    const table = '| a | b |\n| - | - |\n| c\\|d | [[a\\|e]] |'
    for (const content of [
      '# A\n\n[[a]] b',
      '[[a]] b\n\n| a |\n| - |\n| b |',
      table,
      needsParser('<!--\n\n-->'),
      '',
      'b',
    ]) {
      const page = await pool.page(content)
      expect(page, content).toEqual({ links: extractLinks(content), chunks: extractChunks(content) })
      expect(await pool.links(content), content).toEqual({ links: page.links })
      expect(await pool.chunks(content), content).toEqual({ chunks: page.chunks })
    }
  })

  test('gives one parse of a page for what two give', () => {
    fc.assert(
      fc.property(markdown, (content) => {
        const parts = { links: extractLinks(content), chunks: extractChunks(content) }
        expect(parsePage({ content, wants: 'both' })).toEqual(parts)
        expect(parsePage({ content, wants: 'links' })).toEqual({ ...parts, chunks: [] })
        expect(parsePage({ content, wants: 'chunks' })).toEqual({ ...parts, links: [] })
      }),
      { numRuns: 1000 },
    )
  })

  test('gives the plain text of what takes too long, and the links that are certain', async () => {
    const chunks = plainChunks(tooSlow)
    expect(chunks.length).toBeGreaterThan(100)
    expect(await pool.page(tooSlow)).toEqual({ links: [], chunks, flag: 'too-slow' })
    expect(await pool.chunks(tooSlow)).toEqual({ chunks, flag: 'too-slow' })
    const certain = `[[a]]\n\n${'[a]('.repeat(60_000)}`
    expect(await pool.page(certain)).toEqual({ links: [link], chunks: plainChunks(certain), flag: 'too-slow' })
  })

  test.each([
    ['nested quotes', `${'>'.repeat(10_000)}[[a]] <b>`],
    ['brackets', needsParser('['.repeat(50_000))],
    ['open images', needsParser('!['.repeat(20_000))],
    ['emphasis', needsParser('*a _b '.repeat(20_000))],
    ['nested lists', `${'- '.repeat(5000)}[[a]] <b>`],
    ['backticks', needsParser(Array.from({ length: 500 }, (_, index) => '`'.repeat(index)).join(' '))],
    ['half a million lines', needsParser('b\n'.repeat(500_000))],
    ['links', tooSlow],
  ])('bounds hostile text: %s', async (_name, content) => {
    const start = performance.now()
    const [{ links, flag }, { chunks }] = await Promise.all([pool.links(content), pool.page(content)])
    expect(performance.now() - start).toBeLessThan(15_000)
    expect(chunks.length).toBeLessThanOrEqual(2000)
    for (const chunk of chunks) expect(chunk.content.length).toBeLessThanOrEqual(2000)
    if (flag === undefined) expect(links).toContainEqual(link)
    else expect(links).toEqual([])
  })

  test('flags what takes too long, and goes on working', async () => {
    expect(await pool.links(tooSlow)).toEqual({ links: [], flag: 'too-slow' })
    expect(await pool.links(needsParser(''))).toEqual({ links: [link] })
  })

  test('a hostile text spoils no other of its batch', async () => {
    const contents = Array.from({ length: 40 }, (_, index) => (index === 17 ? tooSlow : needsParser(`[[${index}]]`)))
    const results = await pool.linksOfMany(contents)
    expect(results.map(({ flag, links }) => flag ?? links[1]?.target)).toEqual(
      contents.map((_, index) => (index === 17 ? 'too-slow' : String(index))),
    )
  })

  test('keeps the order of many', async () => {
    const contents = Array.from({ length: 500 }, (_, index) => (index % 2 ? `[[${index}]]` : `x <b> [[${index}]]`))
    const results = await pool.linksOfMany(contents)
    expect(results.map(({ links }) => links[0]?.target)).toEqual(contents.map((_, index) => String(index)))
  })

  test('answers what waits when it is closed', async () => {
    const own = new ParserPool()
    const waiting = [own.links(tooSlow), own.links(tooSlow), own.links(needsParser(''))]
    await own.close()
    const answers = await Promise.all([...waiting, own.links(needsParser(''))])
    expect(answers.map(({ flag }) => flag)).toEqual(['failed', 'failed', 'failed', 'failed'])
    expect(await own.links('[[a]]')).toEqual({ links: [link] })
    expect(await own.page(needsParser(''))).toEqual({
      links: [],
      chunks: [{ headings: [], content: 'x <b> [[a]]', text: 'x <b> [[a]]' }],
      flag: 'failed',
    })
  })

  test('works in plain Node, and lets the process end', async () => {
    const url = new URL('../../src/markdown/parser-pool.ts', import.meta.url).href
    const script = `
      const { ParserPool } = await import(${JSON.stringify(url)})
      const pool = new ParserPool()
      console.log(JSON.stringify(await pool.links('x <b> [[a]]')))
      await pool.close()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 15_000,
    })
    expect(JSON.parse(stdout)).toEqual({ links: [link] })
  })
})
