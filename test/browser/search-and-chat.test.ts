import { expect, test } from 'vitest'
import { violationsOf } from './support/axe.ts'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()

test('what is typed is found at once, by keyboard alone, and the address keeps it', async () => {
  const { page, visit, alarms, context } = await stage().enter('reader')
  await visit('/kb/handbook/search')
  const fields = await Promise.all(
    ['[name="q"]', '[name="kind"]', '[name="tag"]', 'button'].map((one) =>
      page.locator(`#search ${one}`).boundingBox(),
    ),
  )
  expect(new Set(fields.map((box) => Math.round(box?.y ?? 0))).size).toBe(1)
  await page.keyboard.press('/')
  await page.keyboard.type('candid')
  await page.locator('.hits a').first().waitFor()
  expect(await page.locator('#search-count').innerText()).toMatch(/\d+ found for “candid”\./)
  // The address follows the answer.
  await expect.poll(() => page.url()).toMatch(/\/kb\/handbook\/search\?q=candid$/)
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const [first, second] = [page.locator('.hits a').nth(0), page.locator('.hits a').nth(1)]
  expect(await second.evaluate((link) => link.matches(':focus'))).toBe(true)
  await page.keyboard.press('ArrowUp')
  const href = await first.getAttribute('href')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${href}`)
  expect(alarms).toEqual([])
  await context.close()
})

test('the palette leads to a page by a few keys, is closed by Escape, and knows where one was', async () => {
  const { page, visit, alarms, context } = await stage().enter('curator')
  await visit('/kb/handbook/search')
  await page.keyboard.press('Control+k')
  const box = page.getByRole('combobox', { name: 'Jump to' })
  await page.getByRole('option', { name: /New page/ }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  expect(await box.isVisible()).toBe(false)
  await page.locator('[data-palette]').click()
  await box.fill('curat')
  const option = page.getByRole('option', { name: /^Queue and curator/ })
  await option.waitFor()
  expect(await option.getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/kb/handbook/neurons/**')
  await page.keyboard.press('Control+k')
  await page
    .getByRole('option', { name: /^Search/ })
    .first()
    .waitFor()
  expect(await page.getByRole('listbox').innerText()).toMatch(/^Recent\n/)
  expect(alarms).toEqual([])
  await context.close()
})

test('an answer is written while one reads, may be rated, and stands among past conversations', async () => {
  const { page, visit, alarms, context } = await stage().enter('reader')
  await visit('/kb/handbook/chat')
  await page.getByLabel('Your question').fill('What is a candidate?')
  await page.keyboard.press('Enter')
  await page.locator('.turn .answer a').first().waitFor()
  expect(page.url()).toMatch(/\/kb\/handbook\/chat\/[0-9a-f-]{36}$/)
  expect(await page.locator('.turn').evaluate((turn) => turn.matches(':focus'))).toBe(true)
  await page.getByLabel('Your question').fill('Who approves it?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.locator('.turn').nth(1).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.reload()
  expect(await page.locator('.turn').count()).toBe(2)
  await page
    .getByRole('button', { name: /^\S+ Helpful/ })
    .first()
    .click()
  await page.getByText('Thank you. A curator will read it.').waitFor()
  expect(await page.locator('.past a').innerText()).toBe('What is a candidate?')
  expect(alarms).toEqual([])
  await context.close()
})
