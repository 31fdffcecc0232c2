import { expect, test } from 'vitest'
import { submitted } from './support/candidates.ts'
import { stageForFile, type Visitor } from './support/stage.ts'

const stage = stageForFile()

/** Candidates that only this test sees, by a word that its queue is filtered by. */
async function waiting(word: string, count: number): Promise<string[]> {
  const named = Array.from({ length: count }, (_, index) => ({
    title: `${word} ${index + 1}`,
    content: `About ${word}.`,
  }))
  return submitted(stage(), named)
}

const shows = ({ page }: Visitor, title: string) => page.locator('h1', { hasText: title }).waitFor()
/** Keys are heard once the page's script runs. */
const listens = ({ page }: Visitor) =>
  page
    .locator('.candidate')
    .waitFor()
    .then(() => page.waitForLoadState('load'))
const titleOf = async ({ page }: Visitor) => (await page.textContent('h1'))?.trim()
const noticeOf = async ({ page }: Visitor) => (await page.textContent('.notices'))?.replace(/\s+/g, ' ').trim()

test('a curator works through the queue by keyboard alone', async () => {
  await waiting('walrus', 5)
  const curator = await stage().enter('curator')
  const { page, visit, alarms } = curator
  await visit('/queue?text=walrus')
  await page.keyboard.press('j')
  await page.keyboard.press('o')
  await listens(curator)
  expect(await titleOf(curator)).toBe('walrus 1')
  await page.keyboard.press('a')
  await shows(curator, 'walrus 2')
  expect(await noticeOf(curator)).toContain('walrus 1')
  await page.keyboard.press('d')
  await page.keyboard.type('Not of use')
  await page.keyboard.press('Enter')
  await shows(curator, 'walrus 3')
  await page.keyboard.press('j')
  await shows(curator, 'walrus 4')
  await page.keyboard.press('k')
  await shows(curator, 'walrus 3')
  await page.keyboard.press('?')
  expect(await page.isVisible('dialog[open]')).toBe(true)
  await page.keyboard.press('Escape')
  await page.keyboard.press('e')
  await page.waitForSelector('#field-content.cm-content')
  await page.fill('#field-content', 'About the walrus, at length.')
  await page.locator('form:has(textarea[name=content]) button[type=submit]').first().press('Enter')
  await shows(curator, 'walrus 4')
  await visit('/queue?text=walrus&status=approved')
  expect(await page.locator('[data-entry]').count()).toBe(2)
  await visit('/queue?text=walrus&status=dismissed')
  expect(await page.locator('[data-entry]').count()).toBe(1)
  expect(alarms).toEqual([])
})

test('comments and requests for changes are written and sent by keys', async () => {
  await waiting('lynx', 1)
  const curator = await stage().enter('curator')
  const { page, visit, alarms } = curator
  await visit('/queue?text=lynx')
  await page.keyboard.press('o')
  await listens(curator)
  await page.keyboard.press('c')
  await page.keyboard.type('Is this so?')
  await page.keyboard.press('Control+Enter')
  await page.locator('.steps', { hasText: 'Is this so?' }).waitFor()
  await listens(curator)
  await page.keyboard.press('c')
  await page.keyboard.type('Say where.')
  await page.keyboard.press('Control+Shift+Enter')
  await page.locator('.decide', { hasText: 'asked for changes' }).waitFor()
  expect(alarms).toEqual([])
})

test('a dismissal is taken back by a key', async () => {
  await waiting('heron', 2)
  const curator = await stage().enter('curator')
  const { page, visit } = curator
  await visit('/queue?text=heron')
  await page.click('[data-entry] [data-open]')
  await listens(curator)
  await page.keyboard.press('d')
  await page.keyboard.press('Enter')
  await shows(curator, 'heron 2')
  await page.keyboard.press('u')
  await page.locator('.notices', { hasText: 'waits in the queue again' }).waitFor()
  await visit('/queue?text=heron')
  expect(await page.locator('[data-entry]').count()).toBe(2)
})

test('the same work is done without scripts', async () => {
  await waiting('badger', 4)
  const curator = await stage().enter('curator', { javaScriptEnabled: false })
  const { page } = curator
  await page.goto('/queue?text=badger')
  await page.click('[data-entry] [data-open]')
  await page.click('button:has-text("Approve")')
  expect(await titleOf(curator)).toBe('badger 2')
  await page.fill('[name=reason]', 'Said before')
  await page.click('button:has-text("Dismiss")')
  expect(await titleOf(curator)).toBe('badger 3')
  await page.click('.notices button')
  expect(await noticeOf(curator)).toContain('waits in the queue again')
  await page.goto('/queue?text=badger')
  expect(await page.locator('[data-entry]').count()).toBe(3)
  for (const box of await page.locator('[data-entry] input[type=checkbox]').all()) await box.check()
  await page.click('button:has-text("Approve")')
  await page.goto('/queue?text=badger&status=approved')
  expect(await page.locator('[data-entry]').count()).toBe(4)
})

test('what another curator has decided meanwhile is told, and nothing typed is lost', async () => {
  const [id] = await waiting('otter', 1)
  const [ada, bob] = [
    await stage().enter('curator', { email: 'ada@example.com', name: 'Ada' }),
    await stage().enter('curator', { email: 'bob@example.com', name: 'Bob' }),
  ]
  await Promise.all([ada, bob].map(({ visit }) => visit(`/queue/${id}`)))
  await Promise.all([ada, bob].map(listens))
  await ada.page.keyboard.press('a')
  await ada.page.locator('.notices', { hasText: 'otter' }).waitFor()
  await bob.page.fill('[name=reason]', 'I typed this')
  await bob.page.keyboard.press('Enter')
  await bob.page.locator('main', { hasText: /approved/ }).waitFor()
  const text = await bob.page.textContent('main')
  expect(text).toContain('approved')
  const typed = await bob.page.locator('main :is(input, textarea)').all()
  expect(await Promise.all(typed.map((field) => field.inputValue()))).toContain('I typed this')
})
