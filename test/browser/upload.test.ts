import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp.ts'
import { violationsOf } from './support/axe.ts'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()
const mb = 1024 * 1024
const list = '/kb/handbook/sources'

/** A file of random bytes that begins as a WAV file does. */
async function bigFile(name: string, size: number): Promise<{ path: string; sha256: string }> {
  const path = join(tempDir(), name)
  const hash = createHash('sha256')
  const out = createWriteStream(path)
  for (let written = 0; written < size; written += mb) {
    const bytes = randomBytes(mb)
    if (written === 0) Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1').copy(bytes)
    hash.update(bytes)
    if (!out.write(bytes)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return { path, sha256: hash.digest('hex') }
}

test('300 MB that are cut off go on after a reload, with the same file chosen again, and arrive whole', async () => {
  const { page, visit, alarms, context } = await stage().enter('curator', { email: 'big@example.com' })
  const { path, sha256 } = await bigFile('talk.wav', 300 * mb)
  await visit(list)
  const chunks: string[] = []
  await page.route('**/api/v1/uploads/*/chunk', async (route) => {
    chunks.push(route.request().headers()['content-range'] ?? '')
    if (chunks.length > 12) await route.abort('connectionreset')
    else await route.continue()
  })
  await page.setInputFiles('#upload input[type=file]', path)
  await page.getByText('The connection is lost; trying again.').waitFor()
  await page.unroute('**/api/v1/uploads/*/chunk')
  await visit(list)
  const row = page.locator('.uploads li')
  expect(await row.innerText()).toContain('96 MB of 300 MB are here')
  expect(await violationsOf(page)).toEqual([])
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/chunk')) sent.push(request.headers()['content-range'] ?? '')
  })
  await page.setInputFiles('#upload input[type=file]', path)
  await page.locator('.uploads').getByText('Uploaded.').waitFor({ timeout: 120_000 })
  expect(sent.slice(0, 2)).toEqual([
    `bytes 0-65535/${300 * mb}`,
    `bytes ${96 * mb - 65_536}-${104 * mb - 65_537}/${300 * mb}`,
  ])
  await page.locator('.uploads li a').click()
  await page.waitForURL(`**${list}/*`)
  expect(await page.locator('dd code').innerText()).toBe(sha256)
  expect(await violationsOf(page)).toEqual([])
  expect(alarms.filter((alarm) => !alarm.includes('/chunk'))).toEqual([])
  await context.close()
}, 300_000)

test('a file that is chosen before the script of the page is there is uploaded', async () => {
  const { page, alarms, context } = await stage().enter('curator', { email: 'quick@example.com' })
  const chosen = Promise.withResolvers<void>()
  await page.route(/\/islands\/upload\b[^/]*$/, async (route) => {
    await chosen.promise
    await route.continue()
  })
  await page.goto(list, { waitUntil: 'commit' })
  await page.setInputFiles('#upload input[type=file]', {
    ...{ name: 'quick.md', mimeType: 'text/markdown', buffer: Buffer.from('# Quick\n\nChosen at once.\n') },
  })
  chosen.resolve()
  await page.locator('.uploads').getByText('Uploaded.').waitFor()
  await page.getByRole('button', { name: 'Clear done' }).click()
  expect(await page.locator('.uploads li').count()).toBe(0)
  expect(alarms).toEqual([])
  await context.close()
})
