import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { plainChunks } from '../../../src/markdown/chunks/plain-chunks.ts'
import { BudgetPool } from '../../../src/markdown/pool/budget-pool.ts'
import { ParserClosed, ParserPool } from '../../../src/markdown/pool/parser-pool.ts'
import { extractChunks, extractLinks } from '../extract-parts.ts'

const pool = new ParserPool()
afterAll(() => pool.close())

const link = { target: 'a', embed: false, line: 1 }
/** Beginning with inline HTML and a link, so that only a parser can tell. */
const needsParser = (rest: string) => `x <b> [[a]] ${rest}`
const tooComplex = needsParser('[a]('.repeat(60_000))

describe('ParserPool', () => {
  test('answers short texts that are certain without a thread, others from one', async () => {
    const own = new ParserPool()
    let threads = 0
    const count = () => threads++
    process.on('worker', count)
    expect(await own.links('[[a]]')).toEqual({ links: [link] })
    expect(await own.links('no links <b>')).toEqual({ links: [] })
    expect(await own.links('> '.repeat(5000))).toEqual({ links: [], flag: 'too-complex' })
    expect(threads).toBe(0)
    expect(await own.links('- a\n  '.repeat(10_000))).toEqual({ links: [] })
    expect(threads).toBe(1)
    expect(await own.links(needsParser(''))).toEqual({ links: [link] })
    expect(threads).toBe(1)
    process.off('worker', count)
    await own.close()
  })

  test('gives links and chunks as the text alone has them', async () => {
    const table = '| a | b |\n| - | - |\n| c\\|d | [[a\\|e]] |'
    for (const content of [
      '# A\n\n[[a]] b',
      '[[a]] b\n\n| a |\n| - |\n| b |',
      table,
      needsParser('<!--\n\n-->'),
      '',
      'b',
    ]) {
      expect(await pool.links(content), content).toEqual({ links: extractLinks(content) })
      expect(await pool.chunks(content), content).toEqual({ chunks: extractChunks(content) })
    }
  })

  test('of what is too complex gives the plain text, and the links by their pattern', async () => {
    const chunks = plainChunks(tooComplex)
    expect(chunks.length).toBeGreaterThan(100)
    expect(await pool.chunks(tooComplex)).toEqual({ chunks, flag: 'too-complex' })
    expect(await pool.links(tooComplex)).toEqual({ links: [link], flag: 'too-complex' })
    expect(await pool.linkPlaces(tooComplex)).toBeUndefined()
    const certain = `[[a]]\n\n${'*a_'.repeat(20_000)}`
    expect(await pool.links(certain)).toEqual({ links: [link], flag: 'too-complex' })
  })

  test('of what uses too much CPU time gives the same, and says so; others are parsed', async () => {
    const own = new ParserPool({ budget: (characters) => (characters > 100_000 ? 1 : 60_000) })
    // Seconds of work before the links that are enough: the budget is looked at every 250 ms.
    const work = '<i>b [x](y z\n\n'.repeat(100_000)
    const slow = needsParser(`\n\n${work}${'- *b* [[c]]\n'.repeat(21_000)}`)
    const [first, second, last] = await Promise.all(
      [needsParser('b'), slow, needsParser('c')].map((content) => own.links(content)),
    )
    const { links, flag } = second ?? { links: [] }
    expect(flag).toBe('too-slow')
    expect([links.length, links[0], links[1]]).toEqual([20_000, link, { target: 'c', embed: false, line: 200_003 }])
    expect([first, last]).toEqual([{ links: [link] }, { links: [link] }])
    expect(await own.chunks(slow)).toEqual({ chunks: plainChunks(slow), flag: 'too-slow' })
    expect(await own.linkPlaces(slow)).toBeUndefined()
    await own.close()
  })

  test('only the part that is too complex is not parsed', async () => {
    const items = (name: string) => Array.from({ length: 500 }, (_, n) => `- [${name} ${n}](<${name} ${n}.md>) *b*\n`)
    const page = `${items('x').join('')}\n${'*a_'.repeat(20_000)} [[b]]\n\n# H\n\n${items('y').join('')}`
    const { links, flag } = await pool.links(page)
    expect(flag).toBe('too-complex')
    expect(links.map(({ target }) => target)).toEqual([
      ...Array.from({ length: 500 }, (_, n) => `x ${n}.md`),
      'b',
      ...Array.from({ length: 500 }, (_, n) => `y ${n}.md`),
    ])
    expect((await pool.chunks(page)).chunks.at(-1)).toMatchObject({
      headings: ['H'],
      text: expect.stringMatching(/\ny 499 b$/),
    })
  })

  test('finds the tags of a long text as of a short one, also where a thread fails', async () => {
    const long = `${'# Heading\n\nText with #one and `#code`.\n'.repeat(1000)}#internal\n`
    const found = [
      { tag: 'one', line: 3 },
      { tag: 'internal', line: 3001 },
    ]
    expect(await pool.tags(long)).toEqual(found)
    expect(await pool.tags('# A\n\n#one')).toEqual([{ tag: 'one', line: 3 }])
    expect(await pool.tags('#\n'.repeat(250_000))).toEqual([])
    const own = new ParserPool({ budget: () => -1 })
    expect(await own.tags(long)).toEqual(found)
    await own.close()
  })

  test('reads a Neuron of many in a thread as alone, also where the thread fails', async () => {
    const certain = '---\nseqId: a_00000001\ntags: [b]\nsources: [{ filename: c }]\n---\n# D\n\n[[a]]  #e\n\tf'
    const pages = [
      certain,
      `---\nseqId: a_00000001\n---\n${tooComplex}`,
      `---\nseqId: a_00000001\n---\n${'[[a]]\n\n'.repeat(20_001)}`,
      '# No Neuron',
    ]
    const neuron = (page: string, isOneOfMany: boolean) => pool.neuron('neurons/a.md', page, { isOneOfMany })
    const alone = await Promise.all(pages.map((page) => neuron(page, false)))
    expect(alone.map((read) => read?.isPartial)).toEqual([false, true, true, undefined])
    expect(await Promise.all(pages.map((page) => neuron(page, true)))).toEqual(alone)
    const run = vi.spyOn(BudgetPool.prototype, 'run').mockRejectedValueOnce(new Error('The thread has ended.'))
    expect(await neuron(certain, true)).toEqual(alone[0])
    expect(run).toHaveBeenCalled()
    run.mockRestore()
  })

  test('says when there are more links than count', async () => {
    for (const content of ['[[a]]\n\n'.repeat(20_001), '<b> [[a]]\n\n'.repeat(20_001)]) {
      const { links, flag, cutAt } = await pool.links(content)
      expect([links.length, flag, cutAt]).toEqual([20_000, 'too-many-links', 40_001])
    }
  })

  test('a large outline of nested items is parsed, whatever else the machine does', async () => {
    const item = (n: number) =>
      `${'\t'.repeat(n % 7)}- About [[Page ${n % 300}]] see <https://x.y/${n}>\n${'\t'.repeat(n % 7)}  id:: 6331fc1d-${n}\n`
    const outline = Array.from({ length: 2000 }, (_, n) => item(n)).join('')
    expect(outline.length).toBeGreaterThan(100_000)
    const busy = Array.from({ length: 4 }, () => spinningWorker())
    try {
      const { links, flag } = await pool.links(outline)
      expect([links.length, flag]).toEqual([2000, undefined])
    } finally {
      await Promise.all(busy.map((worker) => worker.terminate()))
    }
  })

  test.each([
    ['nested quotes', `${'>'.repeat(10_000)}[[a]] <b>`],
    ['brackets', needsParser('['.repeat(50_000))],
    ['closing brackets', needsParser(']'.repeat(50_000))],
    ['open images', needsParser('!['.repeat(20_000))],
    ['emphasis', needsParser('*a _b '.repeat(20_000))],
    ['comments', needsParser('x <!--'.repeat(10_000))],
    ['underlines', needsParser('\na\n-'.repeat(10_000))],
    ['lazy lines', needsParser('\n> a\nb'.repeat(10_000))],
    ['nested lists', `${'- '.repeat(5000)}[[a]] <b>`],
    ['backticks', needsParser(Array.from({ length: 500 }, (_, index) => '`'.repeat(index)).join(' '))],
    ['lists within lists', needsParser(`\n\n${'>- 1. a\n'.repeat(30_000)}`)],
    ['half a million lines', needsParser('b\n'.repeat(500_000))],
    ['links', tooComplex],
  ])('bounds hostile text: %s', { timeout: 180_000 }, async (_name, content) => {
    const [{ links }, { chunks }] = await Promise.all([pool.links(content), pool.chunks(content)])
    expect(chunks.length).toBeLessThanOrEqual(2000)
    for (const chunk of chunks) expect(chunk.content.length).toBeLessThanOrEqual(2000)
    expect(links).toContainEqual(link)
  })

  test('a hostile text spoils no other of its batch', async () => {
    const contents = Array.from({ length: 40 }, (_, index) => (index === 17 ? tooComplex : needsParser(`[[${index}]]`)))
    const results = await Promise.all(contents.map((content) => pool.links(content)))
    expect(results.map(({ flag, links }) => flag ?? links[1]?.target)).toEqual(
      contents.map((_, index) => (index === 17 ? 'too-complex' : String(index))),
    )
  })

  test('keeps the order of many', async () => {
    const contents = Array.from({ length: 500 }, (_, index) => (index % 2 ? `[[${index}]]` : `x <b> [[${index}]]`))
    const results = await Promise.all(contents.map((content) => pool.links(content)))
    expect(results.map(({ links }) => links[0]?.target)).toEqual(contents.map((_, index) => String(index)))
  })

  test('rejects what waits when it is closed, so that no page is taken for one without links', async () => {
    const own = new ParserPool()
    const waiting = [own.links(needsParser('')), own.links(needsParser('b')), own.chunks(needsParser(''))]
    const settled = Promise.allSettled(waiting)
    await own.close()
    for (const { status } of await settled) expect(status).toBe('rejected')
    await expect(own.links(needsParser(''))).rejects.toThrow(ParserClosed)
    expect(await own.links('[[a]]')).toEqual({ links: [link] })
  })

  test('works in plain Node, and lets the process end', async () => {
    const url = new URL('../../../src/markdown/pool/parser-pool.ts', import.meta.url).href
    const script = `
      const { ParserPool } = await import(${JSON.stringify(url)})
      const pool = new ParserPool()
      console.log(JSON.stringify(await pool.links('x <b> [[a]]')))
      await pool.close()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 60_000,
    })
    expect(JSON.parse(stdout)).toEqual({ links: [link] })
  })
})

/** Something else that the machine is busy with. */
function spinningWorker(): Worker {
  return new Worker('for (;;);', { eval: true })
}
