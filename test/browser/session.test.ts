import { expect, test } from 'vitest'
import { makeSetUpLink } from '../../src/people/follow-links.ts'
import { violationsOf } from './support/axe.ts'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()
const password = 'kolibri tanzt leise'

test.each([
  { scripts: 'on', javaScriptEnabled: true, colorScheme: 'light' },
  { scripts: 'off', javaScriptEnabled: false, colorScheme: 'dark' },
] as const)(
  'a first start is set up, left and entered again, with scripts $scripts',
  async ({ javaScriptEnabled, colorScheme }) => {
    const { ctx, browser } = stage()
    const { users } = ctx
    for (const { id } of await users.administrators()) await users.setDisabled(id, new Date())
    const link = (await makeSetUpLink(ctx)) ?? ''
    const context = await browser.newContext({
      baseURL: stage().url,
      javaScriptEnabled,
      colorScheme,
      viewport: { width: 320, height: 640 },
    })
    const page = await context.newPage()
    const check = async () => {
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([])
      expect(await page.locator('h1').count()).toBe(1)
    }
    const email = `first-${colorScheme}@example.com`

    await page.goto(`/set-up?link=${link}`)
    await check()
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('Password').fill('password1234')
    await page.getByRole('button', { name: 'Make my account' }).click()
    expect(await page.getByText('is easy to guess').first().isVisible()).toBe(true)
    await check()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Make my account' }).click()
    await page.waitForURL((url) => url.pathname === '/')

    await page.goto('/account')
    await page.locator('.account > button').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in?done=out')
    await check()
    await page.goBack()
    await page.waitForURL('**/sign-in?next=%2Faccount')
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByText('The e-mail or the password is wrong.').isVisible()).toBe(true)
    await check()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/account')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your account')
    await context.close()
  },
)

test('an administrator invites somebody, who comes in by the link', async () => {
  const { browser, url } = stage()
  const { page, context, visit } = await stage().enter('admin', { email: 'boss@example.com' })
  await visit('/settings/people')
  await page.getByLabel('E-mail').fill('new@example.com')
  await page.getByLabel('Name', { exact: true }).fill('New')
  await page.getByLabel('Role', { exact: true }).selectOption('reader')
  await page.getByRole('button', { name: 'Make a link' }).click()
  const link = (await page.locator('.notice code').textContent()) ?? ''
  expect(await violationsOf(page)).toEqual([])
  await context.close()

  const other = await browser.newContext({ baseURL: url })
  const guest = await other.newPage()
  await guest.goto(link)
  await guest.getByLabel('Password').fill(password)
  await guest.getByRole('button', { name: 'Save and sign in' }).click()
  await guest.waitForURL((at) => at.pathname === '/')
  await guest.goto('/account')
  expect(await guest.getByText('new@example.com').first().isVisible()).toBe(true)
  await other.close()
})
