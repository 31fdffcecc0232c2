import { expect, test } from 'vitest'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()

test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'a key is made, shown once, used, and refused once it is revoked (scripts: $javaScriptEnabled)',
  async (window) => {
    const { page, alarms, context } = await stage().enter('admin', window)
    const name = `Nightly import ${window.javaScriptEnabled}`
    await page.goto('/')
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'API keys' }).first().click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Role').selectOption('app')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const token = await page.getByRole('textbox', { name: 'The new key' }).inputValue()
    expect(token).toMatch(/^gng_/)
    expect(page.url()).not.toContain(token)

    const ask = () =>
      fetch(`${stage().url}/api/v1/knowledge-bases`, { headers: { authorization: `Bearer ${token}` } }).then(
        ({ status }) => status,
      )
    expect(await ask()).toBe(200)

    await page.goto('/settings/keys')
    const row = page.getByRole('row', { name })
    expect(await row.innerText()).toMatch(/valid\s+just now/)
    expect(await page.content()).not.toContain(token)
    await page.goBack()
    expect(await page.content()).not.toContain(token)

    await page.goto('/settings/keys')
    await row.getByText('Revoke…').click()
    await row.getByRole('button', { name: 'Revoke it now' }).click()
    expect(await row.innerText()).toContain('revoked')
    expect(await ask()).toBe(401)
    await page.goto('/settings/audit')
    expect(await page.getByRole('row', { name: new RegExp(`key.*${name}`, 'i') }).count()).toBe(2)
    expect(alarms).toEqual([])
    await context.close()
  },
)
