import { expect, test } from 'vitest'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { neuronText, seq } from '../kb/support/written-neurons.ts'
import { violationsOf } from './support/axe.ts'
import { stageForFile } from './support/stage.ts'
import { limitsOf } from './support/visitor.ts'

const attack = '"><img src=x onerror=alert(1)>'
const hostile = `# Formats ${attack}

<script>alert(1)</script><svg onload=alert(1)> <a href="javascript:alert(1)" style="color:red">x</a>
<iframe src="https://evil.example"></iframe> ![x](https://evil.example/x.png) [y](javascript:alert(1))

> [!warning]- Folded
> Text with [[Nobody]] and [[${seq(902)}]].

| a | |
| - | -: |
| ${'wide '.repeat(60)} | 2 |

- [ ] open
- [x] done

Text[^1] https://ok.example

\`\`\`js
const a = '${'x'.repeat(300)}' // note
function f() { return 1 + true }
\`\`\`

[^1]: A note.

שלום עולם ${'long'.repeat(80)}
`

const arabic = `عند تصعيد عميل مهم، اتصل بالمسؤول (Lead). انظر [[${seq(901)}]].

> [!warning]
> لا تغلق التذكرة قبل رد العميل.

| الحقل | القيمة |
|---|---|
| ${'المدة '.repeat(30)} | 15 |

1. افتح التذكرة
`

const stage = stageForFile(async ({ ctx, kbId }) => {
  const native = new NativeWriter(ctx.directory.repository(kbId))
  const write = (files: Record<string, string>) =>
    native.commit('refs/heads/main', new Map(Object.entries(files).map(([path, text]) => [`neurons/${path}`, text])))
  write({
    'odd/hostile.md': neuronText(901, { title: attack, tags: [attack, 'odd'], edges: [['part-of', 'Other']] }, hostile),
    'odd/عربي.md': neuronText(903, { title: 'تصعيد العملاء المهمين والشركاء الاستراتيجيين في جميع الفروع' }, arabic),
    'odd/other.md': neuronText(902, { title: 'Other' }, `See [[${seq(901)}]] now.\n`),
  })
  write({ 'odd/hostile.md': neuronText(901, { title: attack, tags: ['odd'] }, `${hostile}\nMore.\n`) })
})

const neuron = `/kb/handbook/neurons/${seq(901)}`
const pages = [
  ['a Neuron', neuron],
  ['a Neuron from right to left', `/kb/handbook/neurons/${seq(903)}`],
  ['a history', `${neuron}/history`],
  ['a comparison by line', `${neuron}/history?from=1&to=2`],
  ['a comparison side by side', `${neuron}/history?from=1&to=2&view=side`],
  ['a comparison as a page', `${neuron}/history?from=1&to=2&view=page`],
  ['the tree', '/kb/handbook/tree'],
  ['a folder', '/kb/handbook/tree?folder=odd'],
  ['tags', '/kb/handbook/tags'],
  ['pages of a tag', '/kb/handbook/tags?tag=odd'],
  ['the graph', '/kb/handbook/graph'],
] as const

const windows = [
  { width: 320, height: 640, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const

test.each(pages)('%s is accessible, small, still and harmless', async (_name, path) => {
  for (const { colorScheme, ...viewport } of windows) {
    const { page, context, visit, alarms, transfer } = await stage().enter('curator', { colorScheme, viewport })
    await visit(path)
    expect(await violationsOf(page)).toEqual([])
    expect(transfer.requests).toBeLessThanOrEqual(10)
    expect(transfer.bytes).toBeLessThanOrEqual((await limitsOf(page)).bytes)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(alarms).toEqual([])
    await context.close()
  }
})

const findNode = `(() => {
  const canvas = document.querySelector('.graph canvas')
  const { left, top, width, height } = canvas.getBoundingClientRect()
  for (let clientX = left; clientX < left + width; clientX += 3) {
    for (let clientY = top; clientY < top + height; clientY += 3) {
      canvas.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY }))
      if (canvas.style.cursor === 'pointer') return { x: clientX, y: clientY }
    }
  }
  throw new Error('no page is drawn')
})()`

test('the graph is drawn, and a press on a page opens it', async () => {
  const { page, visit } = await stage().enter('reader')
  await visit('/kb/handbook/graph')
  const canvas = page.locator('.graph canvas')
  await canvas.waitFor({ state: 'visible' })
  expect(await page.locator('[data-under]').textContent()).toMatch(/^\d+ pages, \d+ links$/)
  // Nothing in the page tells where its nodes are drawn: the pointer finds one.
  const place = (await page.evaluate(findNode)) as { x: number; y: number }
  await page.mouse.click(place.x, place.y)
  await page.waitForURL(/neurons/)
  expect(await page.locator('h1').count()).toBe(1)
  expect(page.url()).toContain('/kb/handbook/neurons/')
})

test('a citation is copied by its button', async () => {
  const { page, visit } = await stage().enter('reader')
  await visit(neuron)
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('status').getByText('Copied.').waitFor()
})
