import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { indexReady } from '../support/index-ready.ts'
import { violationsOf } from './support/axe.ts'
import { otherSite } from './support/other-site.ts'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()

test('a curator makes a site, tries it, and pastes it into a page of another origin, which answers', async () => {
  const { url, enter, browser } = stage()
  await indexReady(stage(), 'candidate')
  const { page, visit, alarms } = await enter('curator')
  await visit('/kb/handbook/sites')
  await page.getByLabel('Name').fill('Docs')
  await page.getByLabel('Addresses').fill('https://docs.example.org')
  await page.getByRole('button', { name: 'Add the site' }).click()
  await page.getByRole('heading', { name: 'Docs' }).waitFor()
  await page.getByRole('textbox', { name: 'Ask anything…' }).fill('What is a candidate?')
  await page.keyboard.press('Enter')
  await page.locator('article summary').first().click()
  await expect.poll(() => page.locator('.passage').first().innerText()).toMatch(/candidate/i)
  expect([await violationsOf(page), alarms]).toEqual([[], []])

  const snippet = await page.getByLabel('Into the page').inputValue()
  const server = new URL(url).origin
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const [, documented = ''] = /```html\n([\s\S]*?)\n```/.exec(readFileSync('packages/widget/README.md', 'utf8')) ?? []
  expect(snippet).toBe(documented.replaceAll('https://kb.example.com', server).replace(/[\da-f-]{36}/, String(id)))
  const policy = `default-src 'none'; script-src ${server}; connect-src ${server}`
  const origin = await otherSite({ html: snippet, policy })
  const context = await browser.newContext()
  const reader = await context.newPage()
  const refused: string[] = []
  reader.on('console', (message) => {
    if (/Content Security|CORS/.test(message.text())) refused.push(message.text())
  })
  const ask = async (question: string) => {
    await reader.getByRole('textbox').fill(question)
    await reader.keyboard.press('Enter')
  }
  const unauthorised: string[] = []
  reader.on('response', (response) => response.status() === 401 && unauthorised.push(response.url()))
  await reader.goto(origin)
  await ask('What is a candidate?')
  await reader.getByText('This page may not use the chat').first().waitFor()

  await page.getByLabel('Addresses').fill(origin)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await reader.getByRole('button', { name: 'Try again' }).click()
  await reader.getByText('Sources').waitFor()
  await reader.getByRole('button', { name: 'Helpful', exact: true }).click()
  await reader.getByText('Thank you. A curator will read it.').first().waitFor()
  await reader.reload()
  await ask('Who approves it?')
  await reader.getByRole('article').nth(1).getByText('Sources').waitFor()
  await ask('What is the airspeed of an unladen swallow?')
  await reader.getByRole('article').nth(2).getByRole('button', { name: 'Copy' }).waitFor()

  await visit(new URL(page.url()).pathname)
  await page.getByRole('link', { name: /unladen swallow/ }).waitFor()
  await page.getByRole('button', { name: 'Switch it off' }).click()
  await page.getByText('The site is off').waitFor()
  await ask('What is a candidate?')
  await reader.getByText('This chat is switched off.').first().waitFor()
  // The policy of the page of the test, which the test has no scripts for.
  expect(refused.filter((text) => !text.includes('/page.js'))).toEqual([])
  expect(unauthorised).toEqual([])
  await context.close()
})
