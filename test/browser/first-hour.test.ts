import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CandidateReceipt } from '../../src/contract/candidates.ts'
import { serve } from '../cli/support.ts'
import { tempDir } from '../support/temp.ts'
import { launchChromium } from './support/chromium.ts'
import { visitorIn } from './support/visitor.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser?.close())

test('a stranger comes in by the printed link, takes the tour, and does each kind of work once', async () => {
  const { line } = await serve(join(tempDir(), 'data'))
  const { url = '', setUpUrl = '', appToken = '' } = line
  const { page, alarms } = await visitorIn(await browser.newContext({ baseURL: url, reducedMotion: 'reduce' }), url)
  const heading = () => page.locator('h1').innerText()
  const link = (name: string | RegExp) => page.getByRole('link', { name, exact: typeof name === 'string' })
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const done = async (count: number) => {
    await link('Home').click()
    await page.getByText(count === 5 ? 'You have seen it all.' : `${count} of 5 done.`).waitFor()
  }

  await page.goto(setUpUrl)
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('Your name').fill('Ada Lovelace')
  await page.getByLabel('Password').fill('kolibri tanzt leise')
  await press('Make my account')
  await page.getByText('0 of 5 done.').waitFor()

  await link('Decide on a candidate').click()
  expect(await heading()).toContain('A reader asks')
  await press('Approve')
  await page.locator('.notices', { hasText: 'Approved' }).waitFor()
  await done(1)
  await press('Read the page that it made')
  expect(await heading()).toContain('A reader asks')
  await done(2)
  await press('Search for “curator”')
  expect(await page.locator('.hits a').count()).toBeGreaterThan(2)
  await done(3)
  await link('Ask a question').click()
  await page.getByLabel('Your question').fill('What does a curator decide?')
  await press('Ask')
  await page.locator('.turn .answer a').first().waitFor()
  await done(4)
  await link('Make an API key').click()
  await page.getByLabel('Name').fill('My first program')
  await press('Make the key')
  const token = await page.getByRole('textbox', { name: 'The new key' }).inputValue()
  await done(5)

  const candidate = {
    ...{ knowledgeBaseId: 'demo', kind: 'external-feed', title: 'Lost badges' },
    content: 'Report a lost badge to the front desk.',
  }
  const submitted = await fetch(`${url}/api/v1/queue/candidates`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(candidate),
  })
  const { queueUrl } = CandidateReceipt.parse(await submitted.json())
  await page.goto(queueUrl)
  expect(await heading()).toContain('Lost badges')
  await press('Approve')
  await page.locator('.notices', { hasText: 'Approved Lost badges' }).waitFor()
  await link('See the page').first().click()
  expect(await heading()).toContain('Lost badges')

  await link('Edit').click()
  await page.locator('textarea[name=content]').fill('Report a lost badge to the front desk within an hour.')
  await press('Publish')
  await page.waitForURL(/\?done=published$/)
  expect(await page.locator('main').innerText()).toContain('within an hour')
  await link('History').click()
  expect(await page.locator('main').innerText()).toMatch(/Ada Lovelace[\s\S]*Ada Lovelace/)

  await link('Sources').click()
  const file = join(tempDir(), 'parking.md')
  writeFileSync(file, '# Parking\n\nVisitors park on level two of the garage.\n')
  await page.setInputFiles('#upload input[type=file]', file)
  await page.locator('.uploads').getByText('Uploaded.').waitFor()
  await page.getByRole('row', { name: 'parking.md' }).getByText('Done').waitFor()
  expect(await heading()).toBe('Sources 1')
  await page.locator('.uploads li a').click()
  await page.getByRole('heading', { name: 'parking.md' }).waitFor()
  await page.locator('main').getByRole('link', { name: 'Parking', exact: true }).first().waitFor()

  await page.locator('header [type=search]').fill('garage')
  await page.keyboard.press('Enter')
  await page.locator('.hits').getByRole('link', { name: 'Parking' }).first().waitFor()
  await link('Ask').click()
  await page.getByLabel('Your question').fill('Where do visitors park?')
  await press('Ask')
  await page.locator('.turn .answer', { hasText: 'level two' }).waitFor()
  const source = page.locator('.turn').getByRole('link', { name: /parking\.md/ })
  await source.waitFor()

  const asApp = await fetch(`${url}/api/v1/knowledge-bases/demo/search?q=garage`, {
    headers: { authorization: `Bearer ${appToken}` },
  })
  expect(await asApp.json()).toMatchObject({
    documents: expect.arrayContaining([expect.objectContaining({ title: 'Parking' })]),
  })
  expect(alarms).toEqual([])
})
