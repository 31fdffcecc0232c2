import { expect, test } from 'vitest'
import { violationsOf } from './support/axe.ts'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()

const pages = [{ name: 'a page that is not there', path: '/nonsense', role: 'reader' }] as const

const windows = [
  { width: 320, height: 640, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const

const maxBytes = 100 * 1024
const maxRequests = 10

test.each(pages)('$name is accessible, small and still, in every window', async ({ path, role }) => {
  for (const { colorScheme, ...viewport } of windows) {
    const { page, context, visit, alarms, transfer } = await stage().enter(role, { colorScheme, viewport })
    await visit(path)
    expect(await violationsOf(page)).toEqual([])
    expect(transfer.requests).toBeLessThanOrEqual(maxRequests)
    expect(transfer.bytes).toBeLessThanOrEqual(maxBytes)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(alarms).toEqual([])
    await context.close()
  }
})
