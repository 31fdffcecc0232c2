import { expect, test } from 'vitest'
import { commentCandidate, dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { submitted } from './support/candidates.ts'
import { stageForFile, type Visitor } from './support/stage.ts'

const stage = stageForFile()

const olga = () =>
  ({ id: 'user:olga', name: 'Olga Other', tenantId: stage().tenantId, role: 'curator', connectors: [] }) as const
const waiting = async (title: string) => (await submitted(stage(), [{ title, content: `About ${title}.` }]))[0] ?? ''
const approve = (id: string) => approveCandidate(stage().ctx, olga(), id, {})

/** Opens a page once it follows the events. */
async function follow({ page }: Visitor, path: string): Promise<void> {
  const stream = page.waitForResponse((answer) => answer.url().includes('/api/v1/events'))
  await page.goto(path)
  expect((await stream).status()).toBe(200)
}

test('what another person decides is offered on the page of activity, and shown without a reload', async () => {
  const curator = await stage().enter('curator')
  const { page, alarms, context } = curator
  const id = await waiting('Ferret')
  await follow(curator, '/activity')
  expect(await page.getByText('There is something new.').count()).toBe(0)
  await approve(id)
  await page.getByText('There is something new.').waitFor()
  expect(await page.locator('#feed').innerText()).not.toContain('Olga Other approved Ferret')
  await page.getByRole('link', { name: 'Show what is new' }).click()
  await page.locator('#feed', { hasText: 'Olga Other approved Ferret' }).waitFor()
  expect(await page.getByRole('link', { name: 'Show what is new' }).isVisible()).toBe(false)
  expect(alarms).toEqual([])
  await context.close()
})

test('a stream that was cut is taken up again, and tells what was missed', async () => {
  const curator = await stage().enter('curator')
  const { page, context } = curator
  const id = await waiting('Marten')
  await follow(curator, '/activity?kind=decisions')
  await context.setOffline(true)
  stage().app.server.closeAllConnections()
  await dismissCandidate(stage().ctx, olga(), id, {})
  await page.waitForTimeout(500)
  expect(await page.getByText('There is something new.').count()).toBe(0)
  await context.setOffline(false)
  await page.getByText('There is something new.').waitFor()
  await context.close()
})

test('the numbers of the start page follow, and new candidates are offered in the queue', async () => {
  const [home, queue] = [await stage().enter('curator'), await stage().enter('curator')]
  await follow(home, '/')
  await follow(queue, '/queue')
  const before = await home.page.locator('[data-live]').innerText()
  await waiting('Stoat')
  await expect.poll(() => home.page.locator('[data-live]').innerText()).not.toBe(before)
  await queue.page.getByRole('link', { name: 'Show what is new' }).click()
  await queue.page.locator('[data-entry]', { hasText: 'Stoat' }).waitFor()
  await Promise.all([home, queue].map(({ context }) => context.close()))
})

test('a reader follows pages, and hears nothing of the queue', async () => {
  const reader = await stage().enter('reader')
  const { page, context } = reader
  const id = await waiting('Weasel')
  await follow(reader, '/activity')
  await commentCandidate(stage().ctx, olga(), id, { comment: 'Hm.' })
  await waiting('Polecat')
  await page.waitForTimeout(500)
  expect(await page.getByText('There is something new.').count()).toBe(0)
  await approve(id)
  await page.getByRole('link', { name: 'Show what is new' }).click()
  await page.locator('#feed a', { hasText: 'Weasel' }).waitFor({ state: 'attached' })
  expect(await page.locator('#feed').textContent()).not.toContain('Olga')
  await context.close()
})

test('without scripts a reload shows it', async () => {
  const { page, context } = await stage().enter('curator', { javaScriptEnabled: false })
  const id = await waiting('Mink')
  await page.goto('/activity')
  await approve(id)
  await expect
    .poll(async () => {
      await page.reload()
      return page.locator('#feed').textContent()
    })
    // One line with what she approved before.
    .toMatch(/Olga Other approved.*Mink/s)
  expect(await page.getByRole('link', { name: 'Show what is new' }).isVisible()).toBe(false)
  await context.close()
})
