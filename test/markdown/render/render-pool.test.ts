import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { BudgetPool } from '../../../src/markdown/pool/budget-pool.ts'
import { RenderPool } from '../../../src/markdown/render/render-pool.ts'

const pool = new RenderPool()
afterAll(() => pool.close())

const links = new Map()
const render = (content: string) => pool.render({ content, links })

test('renders in a thread, and once only what is the same', async () => {
  expect(await render('# A\n\nb')).toEqual({
    blocks: ['<h2 id="md-a" dir="auto">A</h2>', '<p dir="auto">b</p>'],
    isPlain: false,
  })
  expect(await render('same')).toBe(await render('same'))
  const other = await pool.render({ content: '# A', links, idPrefix: 'before-' })
  expect(other.blocks).toEqual(['<h2 id="before-a" dir="auto">A</h2>'])
  expect((await render('# A')).blocks).toEqual(['<h2 id="md-a" dir="auto">A</h2>'])
  const bare = await pool.render({ content: '# A', links, idPrefix: null })
  expect(bare.blocks).toEqual(['<h2 dir="auto">A</h2>'])
})

test('shows a part that is too complex as it is written, and says so', async () => {
  const hostile = '*a_'.repeat(20_000)
  const { blocks, isPlain } = await render(`${'Fine *text*.\n\n'.repeat(2000)}${hostile}\n\n`)
  expect(isPlain).toBe(true)
  expect(blocks[0]).toMatch(/class="warning".*too complex/)
  expect(blocks[1]).toBe('<p dir="auto">Fine <em>text</em>.</p>')
  expect(blocks.at(-1)).toContain(hostile.slice(0, 1000))
})

test.each([
  ['nested quotes', '>'.repeat(10_000)],
  ['HTML that nests', '<b>'.repeat(30_000)],
  ['HTML that formats across', '<b><i><u><s>x</b></i>'.repeat(3000)],
  ['tables in tables', '<table><tr><td>'.repeat(20_000)],
  ['references to a long address', `${'[a] '.repeat(50_000)}\n\n[a]: https://e.example/${'x'.repeat(50_000)}`],
  ['footnotes that are called often', `${'[^1] '.repeat(30_000)}\n\n[^1]: ${'x'.repeat(1000)}`],
  ['emphasis', '*a _b '.repeat(20_000)],
  ['code', `\`\`\`js\n${'/'.repeat(19_000)}\n\`\`\`\n\n\`\`\`markdown\n${'*_'.repeat(9000)}\n\`\`\``],
  ['headings of one name', '# a\n'.repeat(30_000)],
])('bounds hostile text: %s', async (_name, content) => {
  const { blocks } = await render(`</p><script>x</script>${content}`)
  const html = blocks.join('')
  expect(html.length).toBeLessThan(5 * 1024 * 1024)
  expect(html).not.toContain('<script')
})

test.each(['# a\n', '- a\n', '1. a\n', '> a\n\n'])(
  'a page of too many blocks is plain without an attempt to render it: %j',
  async (block) => {
    const own = new RenderPool()
    onTestFinished(() => own.close())
    const content = block.repeat(25_001)
    const { blocks, isPlain } = await own.render({ content, links })
    expect([isPlain, blocks.length]).toEqual([true, 2])
    expect(blocks[0]).toMatch(/class="warning".*too complex/)
    expect(blocks[1]).toContain(content.slice(0, 1000).replaceAll('>', '&gt;'))
    expect((await own.render({ content: block.repeat(100), links })).isPlain).toBe(false)
  },
)

test('shows what is written where too many wait, and when it is closed', async () => {
  const own = new RenderPool()
  const rendered = await Promise.all(Array.from({ length: 130 }, (_, n) => own.render({ content: `<b>*${n}*`, links })))
  const plain = rendered.filter(({ isPlain }) => isPlain)
  expect(plain).toHaveLength(30)
  expect(plain[0]?.blocks.join('')).toMatch(/busy.*<pre[^>]*>&lt;b&gt;\*\d+\*<\/pre>/)
  expect(rendered[0]?.blocks).toEqual(['<p dir="auto"><b><em>0</em></b></p>'])
  await own.close()
  expect((await own.render({ content: 'late', links })).isPlain).toBe(true)
})

test('works in plain Node, and lets the process end', async () => {
  const url = new URL('../../../src/markdown/render/render-pool.ts', import.meta.url).href
  const script = `
    const { RenderPool } = await import(${JSON.stringify(url)})
    const pool = new RenderPool()
    console.log(JSON.stringify(await pool.render({ content: 'a', links: new Map() })))
    await pool.close()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 60_000,
  })
  expect(JSON.parse(stdout).blocks).toEqual(['<p dir="auto">a</p>'])
})

test('a page that takes too long is not tried again by the next reader', async () => {
  const own = new RenderPool()
  onTestFinished(() => own.close())
  const run = vi.spyOn(BudgetPool.prototype, 'run').mockRejectedValueOnce(new DOMException('Too long.', 'AbortError'))
  const first = await own.render({ content: '# Slow', links })
  expect(first.isPlain).toBe(true)
  expect(await own.render({ content: '# Slow', links })).toEqual(first)
  expect(run).toHaveBeenCalledTimes(1)
  run.mockRestore()
})
