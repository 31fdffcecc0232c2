import { expect, test } from 'vitest'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()

test('a signed-in person tries the API out from its reference', async () => {
  const { page, alarms, context } = await stage().enter('curator')
  await page.goto('/')
  await page.getByRole('link', { name: 'API reference' }).click()
  const operation = page.locator('#operations-Queue-submitCandidate')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  const input = { knowledgeBaseId: 'handbook', kind: 'external-feed', title: 'Tried out', content: 'It works.' }
  await operation.locator('textarea').fill(JSON.stringify(input))
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table .response-col_status', { hasText: '201' }).waitFor()
  await page.goto('/queue?text=tried')
  expect(await page.locator('[data-entry]').innerText()).toContain('Tried out')
  expect(alarms).toEqual([])
  await context.close()
})
