import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { eventually } from '../support/eventually.ts'
import { stageForFile, type Visitor } from './support/stage.ts'

const stage = stageForFile()
const count = 20

/** A queue of twenty: one in the red zone, new pages, corrections, a removal, and a correction that conflicts. */
async function twenty(slug: string): Promise<void> {
  const { ctx, tenantId } = stage()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug })
  const caller = { id: 'key:app', name: 'The app', tenantId, role: 'app', connectors: [] } as const
  const other = { id: 'user:other', name: 'Olga Other', tenantId, role: 'curator', connectors: [] } as const
  const submit = async (input: Parameters<typeof submitCandidate>[2]) =>
    (await submitCandidate(ctx, caller, { ...input, knowledgeBaseId: slug })).candidateId
  const approve = async (id: string) => approveCandidate(ctx, other, id, {})
  const { seqId } = await approve(await submit(candidate({ title: 'Base', content: 'one\n\ntwo\n\nthree\n' })))
  await submit(candidate({ title: 'Red', metadata: '{"actionZone":"red"}' }))
  await submit(correction(seqId, 'eins\n\ntwo\n\nthree\n', { title: 'Conflict' }))
  await approve(await submit(correction(seqId, 'ONE\n\ntwo\n\nthree\n')))
  await submit(correction(seqId, 'ONE\n\ntwo\n\nthree, and four\n', { title: 'Correction' }))
  for (let number = 4; number <= count; number++) await submit(candidate({ title: `New ${number}` }))
}

const headingOf = ({ page }: Visitor) => page.locator('h1').innerText()
const onward = (visitor: Visitor, from: string) => expect.poll(() => headingOf(visitor)).not.toBe(from)

/** Expression for the text of the field, which is a text area or an editor. */
const shownText = `(({ value, innerText }) => value ?? innerText + '\\n')(document.querySelector('#field-content'))`

/** Writes a text in place of the one that marks what conflicts. */
async function solveConflict({ page }: Visitor, javaScriptEnabled: boolean): Promise<void> {
  const text = 'EINS\n\ntwo\n\nthree\n'
  if (!javaScriptEnabled) return page.fill('[name=content]', text)
  const field = page.locator('#field-content')
  // A busy machine may still be bringing the field to life when the first keys come.
  await eventually(async () => {
    await field.press('ControlOrMeta+a')
    await page.keyboard.press('Backspace')
    await page.keyboard.type(text)
    expect(String(await page.evaluate(shownText)).split(/\s+/)).toEqual(text.split(/\s+/))
  })
}

async function left({ page }: Visitor, slug: string, status: string): Promise<number> {
  await page.goto(`/queue?kb=${slug}&status=${status}`)
  return page.locator('[data-entry]').count()
}

test('twenty candidates by keyboard alone: two keys from the list to the first decision, and one for each that follows', async () => {
  await twenty('keys')
  const curator = await stage().enter('curator')
  const { page, alarms } = curator
  await page.goto('/queue?kb=keys')
  await page.keyboard.press('o')
  await page.locator('h1', { hasText: 'Red' }).waitFor()
  await page.waitForLoadState('load')
  const decided: string[] = []
  for (let number = 1; number <= count; number++) {
    const title = await headingOf(curator)
    decided.push(title)
    await page.keyboard.press(number % 5 === 0 ? 'd' : 'a')
    if (number % 5 === 0) await page.keyboard.press('Enter')
    else if (title === 'Conflict') {
      // What conflicts has no button to approve it as it is: the key leads to the text.
      await page.keyboard.press('ControlOrMeta+a')
      // Chromium would keep the style of the marked text for what is typed over it, which the page's policy refuses.
      await page.keyboard.press('Backspace')
      await page.keyboard.type('EINS\n\ntwo\n\nthree\n')
      for (let tab = 0; tab < 4 && (await headingOf(curator)) === title; tab++) {
        await page.keyboard.press('Tab')
        if (await page.evaluate('document.activeElement.matches("form.edit button")')) {
          await page.keyboard.press('Enter')
          break
        }
      }
    }
    await onward(curator, title)
    expect(await page.locator('.notices').innerText()).toContain(title)
  }
  expect(new Set(decided).size).toBe(count)
  expect(new URL(page.url()).pathname).toBe('/queue')
  expect(await page.locator('main').innerText()).toContain('No candidate passes these filters.')
  await page.keyboard.press('u')
  await page.locator('.notices', { hasText: 'waits in the queue again' }).waitFor()
  expect([await left(curator, 'keys', 'pending'), await left(curator, 'keys', 'dismissed')]).toEqual([1, 3])
  expect(alarms).toEqual([])
})

test.each([true, false])('twenty candidates by mouse alone (scripts: %s)', async (javaScriptEnabled) => {
  const slug = `mouse-${javaScriptEnabled}`
  await twenty(slug)
  const curator = await stage().enter('curator', { javaScriptEnabled })
  const { page, alarms } = curator
  await page.goto('/')
  await page.locator('tr', { hasText: slug }).getByRole('link', { name: 'Red zone: 1' }).click()
  await page.getByRole('link', { name: /^All/ }).click()
  await page.locator('[data-entry] [data-open]').first().click()
  for (let number = 1; number <= count; number++) {
    const title = await headingOf(curator)
    const decision = number % 5 === 0 ? 'Dismiss' : /^Approve/
    if (title === 'Conflict') await solveConflict(curator, javaScriptEnabled)
    await page.locator('main').getByRole('button', { name: decision }).first().click()
    if (javaScriptEnabled) await onward(curator, title)
    expect(await page.locator('.notices').innerText()).toContain(title)
  }
  await page.locator('.notices button').click()
  expect(await page.locator('.notices').innerText()).toContain('waits in the queue again')
  expect([await left(curator, slug, 'pending'), await left(curator, slug, 'dismissed')]).toEqual([1, 3])
  expect(alarms).toEqual([])
})

test('without scripts and mouse, links within the page lead to the buttons', async () => {
  await twenty('tabs')
  const curator = await stage().enter('curator', { javaScriptEnabled: false })
  const { page } = curator
  const tabTo = async (name: string) => {
    const focused = page.locator(':focus')
    for (let presses = 1; presses <= 12; presses++) {
      await page.keyboard.press('Tab')
      if ((await focused.innerText()).trim() === name) return page.keyboard.press('Enter')
    }
    throw new Error(`${name} is more than twelve keys away`)
  }
  await page.goto('/queue?kb=tabs')
  await page.locator('[data-entry] [data-open]').first().focus()
  await page.keyboard.press('Enter')
  for (const title of ['Red', 'Conflict', 'Correction']) {
    expect(await headingOf(curator)).toBe(title)
    await tabTo('Skip to content')
    await tabTo('Go to the decision')
    await tabTo(title === 'Conflict' ? 'Dismiss' : 'Approve')
    await page.locator('.notices', { hasText: title }).waitFor()
  }
  expect(await left(curator, 'tabs', 'pending')).toBe(count - 3)
})
