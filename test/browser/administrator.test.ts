import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { OfferedCredential } from '../../src/forge/bridge/offered-credentials.ts'
import { startGitlab } from '../forge/support/described-gitlab.ts'
import { tempDir } from '../support/temp.ts'
import { stageForFile } from './support/stage.ts'

const forgeCredentials: OfferedCredential[] = []
const stage = stageForFile(undefined, { forgeCredentials })

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

test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'a knowledge base is linked to a forge and unlinked (scripts: $javaScriptEnabled)',
  async (window) => {
    const forge = await startGitlab()
    const file = join(tempDir(), 'token')
    writeFileSync(file, forge.token.token)
    const repositories = forge.url.replace(/handbook$/, '')
    forgeCredentials.splice(0, 1, {
      ...{ name: 'GitLab of the docs team', tenant: 'acme', repositories, kind: 'gitlab', apiUrl: undefined },
      ...{ credential: { token: `file:${file}` }, webhookSecret: `file:${file}` },
    })
    const { page, alarms, context } = await stage().enter('admin', window)
    await page.goto('/settings')
    await page.getByRole('link', { name: 'Forges' }).click()
    await page.getByLabel('Repository').fill('https://elsewhere.example.org/acme/handbook')
    await page.getByRole('button', { name: 'Link it' }).click()
    expect(await page.locator('#field-url-error').innerText()).toContain(repositories)
    await page.getByLabel('Repository').fill(forge.url)
    await page.getByRole('button', { name: 'Link it' }).click()
    const row = page.getByRole('row', { name: forge.url })
    expect(await row.innerText()).toMatch(/0 of 50\s+never\s+well/)
    expect(await page.content()).not.toContain(forge.token.token)
    await row.getByText('Unlink…').click()
    await row.getByRole('button', { name: 'Unlink' }).click()
    expect(await page.getByText('No knowledge base is linked.').count()).toBe(1)
    expect(alarms).toEqual([])
    await context.close()
  },
)
