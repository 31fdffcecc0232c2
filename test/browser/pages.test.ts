import { expect, test } from 'vitest'
import { violationsOf } from './support/axe.ts'
import { submitted } from './support/candidates.ts'
import { stageForFile } from './support/stage.ts'
import { limitsOf } from './support/visitor.ts'

let candidate = ''
const stage = stageForFile(async (started) => {
  const [first = ''] = await submitted(started, [
    {
      title: 'VIP escalation policy',
      content: '# VIP\n\nPage the lead. See [[Neurons]] and [[Nobody]].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
    },
  ])
  candidate = first
})

const kb = '/kb/handbook'
const pages = [
  { name: 'a page that is not there', path: () => '/nonsense', role: 'reader' },
  { name: 'the queue', path: () => '/queue', role: 'curator' },
  { name: 'an empty queue', path: () => '/queue?text=nothing', role: 'curator' },
  { name: 'a candidate', path: () => `/queue/${candidate}`, role: 'curator' },
  { name: 'a candidate that is edited', path: () => `/queue/${candidate}?edit=1`, role: 'curator' },
  { name: 'a Neuron', path: () => `${kb}/neurons/handbook_00000001`, role: 'curator' },
  { name: 'a Neuron to a reader', path: () => `${kb}/neurons/handbook_00000002`, role: 'reader' },
  { name: 'the history of a Neuron', path: () => `${kb}/neurons/handbook_00000001/history`, role: 'reader' },
  { name: 'the tree', path: () => `${kb}/tree`, role: 'reader' },
  { name: 'the tags', path: () => `${kb}/tags`, role: 'reader' },
  { name: 'the graph', path: () => `${kb}/graph`, role: 'reader' },
  { name: 'the chat', path: () => `${kb}/chat`, role: 'reader' },
  { name: 'the search', path: () => '/search?q=neuron', role: 'reader' },
  { name: 'the search of a knowledge base', path: () => `${kb}/search?q=neuron`, role: 'curator' },
  { name: 'a new page', path: () => `${kb}/new`, role: 'curator' },
  { name: 'the editor', path: () => `${kb}/neurons/handbook_00000001/edit`, role: 'curator' },
  { name: 'the renaming of a page', path: () => `${kb}/neurons/handbook_00000001/rename`, role: 'curator' },
  { name: 'the removal of a page', path: () => `${kb}/neurons/handbook_00000001/remove`, role: 'curator' },
  { name: 'home', path: () => '/', role: 'admin' },
  { name: 'home to a reader', path: () => '/', role: 'reader' },
  { name: 'a knowledge base', path: () => kb, role: 'curator' },
  { name: 'what is going on', path: () => '/activity', role: 'curator' },
  { name: 'the findings', path: () => `${kb}/findings`, role: 'curator' },
  { name: 'the settings', path: () => '/settings', role: 'admin' },
  { name: 'the keys', path: () => '/settings/keys', role: 'admin' },
  { name: 'the forges', path: () => '/settings/forges', role: 'admin' },
  { name: 'the webhooks', path: () => '/settings/webhooks', role: 'admin' },
  { name: 'the health', path: () => '/settings/health', role: 'admin' },
  { name: 'the settings of a knowledge base', path: () => `${kb}/settings`, role: 'admin' },
  { name: 'the life of a knowledge base', path: () => '/settings/knowledge-bases/handbook', role: 'admin' },
  { name: 'the Sources', path: () => `${kb}/sources`, role: 'curator' },
  { name: 'the Sources to a reader', path: () => `${kb}/sources`, role: 'reader' },
  { name: 'the account', path: () => '/account', role: 'reader' },
  { name: 'people', path: () => '/settings/people', role: 'admin' },
  { name: 'the audit', path: () => '/settings/audit', role: 'admin' },
] as const

const windows = [
  { width: 320, height: 640, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const

/** Layout shift while the page loads, as Chromium sums it up. */
const layoutShift = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value }))
    .observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 100)
})`
/** Words of tables that stand on more than one line. */
const brokenWords = `[...document.querySelectorAll('th, td')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  const broken = []
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    for (const { 0: word, index } of text.data.matchAll(/(?<!\\S)\\p{L}{2,20}(?!\\S)/gu)) {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word)
    }
  }
  return broken
})`

const controls = `[...document.querySelectorAll('button, .button, .chip, select, textarea, input:not([readonly], .content input)')]
  .filter((each) => each.checkVisibility()).map(({ outerHTML }) => outerHTML)`

test.each(pages)('$name is accessible, small and still, in every window', async ({ path, role }) => {
  for (const { colorScheme, ...viewport } of windows) {
    const { page, context, visit, alarms, transfer } = await stage().enter(role, { colorScheme, viewport })
    const answer = await visit(path())
    expect.soft(answer?.status()).toBe(path() === '/nonsense' ? 404 : 200)
    expect.soft(await violationsOf(page)).toEqual([])
    const { requests, bytes } = await limitsOf(page)
    expect.soft(transfer.requests).toBeLessThanOrEqual(requests)
    expect.soft(transfer.bytes).toBeLessThanOrEqual(bytes)
    expect.soft(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    expect.soft(await page.evaluate(brokenWords)).toEqual([])
    // A busy machine draws a table before the parser is through its rows: what our pages move, they move each time.
    let shift = await page.evaluate<number>(layoutShift)
    for (let again = 0; shift >= 0.001 && again < 3; again++) {
      const other = await stage().enter(role, { colorScheme, viewport })
      await other.visit(path())
      shift = await other.page.evaluate(layoutShift)
      await other.context.close()
    }
    expect.soft(shift).toBeLessThan(0.001)
    expect.soft(alarms).toEqual([])
    await page.emulateMedia({ media: 'print' })
    expect.soft(await page.evaluate(controls)).toEqual([])
    await context.close()
  }
})

test('lists within forms are printed', async () => {
  const { page, visit } = await stage().enter('curator')
  await page.emulateMedia({ media: 'print' })
  await visit('/queue')
  expect(await page.getByRole('link', { name: 'VIP escalation policy' }).isVisible()).toBe(true)
  await visit(`${kb}/neurons/handbook_00000001/history`)
  expect(await page.getByRole('link', { name: 'Read version 1' }).isVisible()).toBe(true)
  // Also on wide paper, such as A4 lying.
  expect((await page.locator('main').boundingBox())?.width).toBeGreaterThan(1200)
})
