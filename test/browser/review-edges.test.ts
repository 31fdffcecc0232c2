import { expect, test } from 'vitest'
import type { CandidateInput } from '../../src/contract/candidates.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { findCandidate } from '../../src/kb/projection/candidate-index.ts'
import { recordCandidate } from '../../src/kb/writing/commits.ts'
import { revised } from '../../src/kb/writing/pushed-neurons.ts'
import { parseCandidate } from '../../src/markdown/file/candidate-file.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { hostile } from '../console/queue/desk.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { violationsOf } from './support/axe.ts'
import { type EnterOptions, stageForFile, type Visitor } from './support/stage.ts'
import { limitsOf } from './support/visitor.ts'

const stage = stageForFile()
let kbs = 0

/** A curator before a queue of their own. */
async function review(options: EnterOptions = {}) {
  const { ctx, tenantId } = stage()
  const slug = `review-${++kbs}`
  await createKnowledgeBase(ctx, { tenant: 'acme', slug })
  const app = { id: 'key:app', name: 'The app', tenantId, role: 'app', connectors: [] } as const
  const submit = async (changes: Partial<CandidateInput> = {}) =>
    (await submitCandidate(ctx, app, candidate({ knowledgeBaseId: slug, ...changes }))).candidateId
  const other = { id: 'user:other', name: 'Olga Other', tenantId, role: 'curator', connectors: [] } as const
  const approve = (id: string) => approveCandidate(ctx, other, id, {})
  const visitor: Visitor = await stage().enter('curator', options)
  const { page } = visitor
  return {
    ...visitor,
    slug,
    submit,
    approve,
    correct: (seqId: string, content: string) => submit(correction(seqId, content, { knowledgeBaseId: slug })),
    press: async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    },
    heading: () => page.locator('h1').innerText(),
  }
}

const narrowAndWide = [
  { viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
] as const

test.each(narrowAndWide)(
  'the queue and its candidates are accessible, small and still ($colorScheme)',
  async (window) => {
    const { submit, approve, correct, slug, visit, page, alarms, transfer } = await review(window)
    const { seqId } = await approve(await submit({ title: 'Base', content: 'one\n\ntwo\n' }))
    const clash = await correct(seqId, 'eins\n\ntwo\n')
    await approve(await correct(seqId, 'ONE\n\ntwo\n'))
    const id = await submit({
      title: hostile,
      content: `# Title\n\n${hostile}\n\n| a | b |\n|---|---|\n| 1 | 2 |`,
      metadata: '{"actionZone":"red","tags":["one","two"]}',
    })
    const paths = [
      `/queue?kb=${slug}&pick=all`,
      `/queue?kb=${slug}&status=approved`,
      ...['rendered', 'lines', 'split', 'sides'].map((show) => `/queue/${id}?show=${show}`),
      `/queue/${id}?edit=1`,
      `/queue/${clash}`,
    ]
    for (const path of paths) {
      await visit(path)
      expect([path, await violationsOf(page)]).toEqual([path, []])
      expect(transfer.requests).toBeLessThanOrEqual((await limitsOf(page)).requests)
      expect(transfer.bytes).toBeLessThanOrEqual((await limitsOf(page)).bytes)
      expect([path, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([path, true])
    }
    // A line for each candidate, and candidates at the top of a phone.
    await visit(`/queue?kb=${slug}`)
    const box = await page.locator('.entry', { hasNotText: 'too low' }).last().boundingBox()
    if (window.viewport.width > 1000) expect(box?.height).toBeLessThan(45)
    else expect((await page.locator('.entry').first().boundingBox())?.y).toBeLessThan(230)
    expect(alarms).toEqual([])
  },
)

test.each(['lines', 'split'])(
  'a text is compared whole: what is the same is folded and opens, keys lead to changes (%s)',
  async (show) => {
    const { submit, approve, correct, slug, visit, page, press, alarms } = await review()
    const lines = (changed: string) =>
      Array.from({ length: 60 }, (_, at) => ([9, 49].includes(at) ? changed : `line ${at}`))
    const { seqId } = await approve(await submit({ title: 'Base', content: lines('old words').join('\n\n') }))
    const id = await correct(seqId, lines('new words').join('\n\n'))
    const next = await submit({ title: 'Next', content: 'Quite new.' })
    const shown = () => page.locator('.text-diff').innerText()
    await visit(`/queue/${id}?kb=${slug}&show=${show}`)
    expect(await page.locator('.cm-mergeView').count()).toBe(show === 'split' ? 1 : 0)
    expect(await page.locator('.cm-collapsedLines').first().innerText()).toContain('unchanged lines')
    await press('n', 'n')
    expect(await page.evaluate('document.activeElement.className')).toContain('cm-content')
    expect(await page.locator('.cm-changedText').last().innerText()).toBe('new')
    const signs = `[...document.querySelectorAll('.cm-deletedLine, .cm-insertedLine')].map((line) =>
      line.matches('.cm-deletedLine') + getComputedStyle(line, '::before').content)`
    expect(new Set((await page.evaluate(signs)) as string[])).toEqual(new Set(['true"− "', 'false"+ "']))
    await page.locator('.cm-collapsedLines').first().click()
    expect(await shown()).toContain('line 2')
    expect(await page.locator('.cm-collapsedLines').count()).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Show all lines' }).press('Enter')
    expect(await page.locator('.cm-collapsedLines').count()).toBe(0)
    await press('j')
    await page.locator('h1', { hasText: 'Next' }).waitFor()
    await page.locator('.text-diff', { hasText: 'Quite new.' }).first().waitFor()
    expect(new URL(page.url()).pathname).toBe(`/queue/${next}`)
    await visit(`/queue/${id}?kb=${slug}`)
    await press('n')
    expect(await page.evaluate('document.activeElement.className')).toBe('changed')
    expect(alarms).toEqual([])
  },
)

test('tags beside a title in the queue do not cut it short', async () => {
  const { submit, slug, visit, page } = await review({ viewport: { width: 1280, height: 720 } })
  const metadata = '{"actionZone":"red","tags":["internal","feedback","escalation"]}'
  await submit({ title: 'Feedback: How long is the period of notice?', metadata })
  await visit(`/queue?kb=${slug}`)
  const [shown, whole] = await page
    .locator('.entry h2')
    .evaluate((title) => [title.clientWidth, title.scrollWidth] as const)
  expect(shown).toBe(whole)
})

test('without scripts, the lines that change stand on the page', async () => {
  const { submit, slug, visit, page } = await review({ javaScriptEnabled: false })
  await visit(`/queue/${await submit({ title: 'Plain', content: 'One.' })}?kb=${slug}&show=split`)
  expect(await page.locator('#change .diff tr.added').innerText()).toContain('One.')
})

test('keys rest in fields, with modifiers, while they are off, and while the help is open', async () => {
  const { submit, slug, visit, page, press, heading } = await review()
  const [one] = [await submit({ title: 'Alpha' }), await submit({ title: 'Bravo' })]
  await visit(`/queue/${one}?kb=${slug}`)
  await page.locator('#field-comment').focus()
  await press('j', 'a')
  expect(await page.locator('#field-comment').inputValue()).toBe('ja')
  await page.locator('h1').focus()
  await press('Control+a', 'Alt+j')
  await press('?')
  expect(await page.locator('dialog').isVisible()).toBe(true)
  await press('j')
  await page.getByRole('button', { name: 'Shortcuts are on' }).click()
  await press('Escape')
  await press('j', 'a')
  await page.waitForTimeout(300)
  expect(await heading()).toBe('Alpha')
  await page.reload()
  await press('?')
  expect(await page.locator('dialog').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await page.getByRole('button', { name: 'Shortcuts are off' }).click()
  await press('Escape', 'j')
  await page.locator('h1', { hasText: 'Bravo' }).waitFor()
})

test('an edit before approving, and of a conflict, has the editor of pages: names, preview, findings, pictures', async () => {
  const { submit, approve, correct, slug, visit, page, press, alarms } = await review()
  const { seqId } = await approve(await submit({ title: 'Base', content: 'one\n\ntwo\n' }))
  const picture = `![shot](data:image/png;base64,${'iVBORw0K'.repeat(600)})`
  const id = await submit({ title: 'New', content: 'Text.' })
  const clash = await correct(seqId, `eins\n\n${picture}\n\ntwo\n`)
  await approve(await correct(seqId, 'ONE\n\ntwo\n'))
  const sent = () => page.inputValue('textarea[name="content"]')
  await visit(`/queue/${id}?kb=${slug}`)
  await press('e')
  await page.locator('.cm-content').first().waitFor()
  await page.locator('#field-content').press('ControlOrMeta+End')
  await page.keyboard.type(' [[Nowhere]] [[Bas')
  await page.locator('[role="option"]:has-text("Base")').waitFor()
  await page.waitForTimeout(150)
  await press('Enter')
  await page.locator('#beside .content', { hasText: 'Base' }).waitFor()
  expect(await page.locator('#beside .findings').innerText()).toMatch(
    /^Warning Line 1: No Neuron answers to \[\[Nowhere]]\.$/,
  )
  await press('Tab')
  // What has the focus is not behind the decision.
  const inSight = `(({ left, bottom }) => document.activeElement.contains(document.elementFromPoint(left + 9, bottom - 3)))(
    document.activeElement.getBoundingClientRect())`
  expect(await page.evaluate(inSight)).toBe(true)
  await page.getByRole('link', { name: 'As text' }).click()
  await page.locator('.text-diff .cm-content').waitFor()
  expect(await sent()).toBe('Text. [[Nowhere]] [[Base]]')
  await page.click('form.edit button')
  // The next page comes without a load of its own.
  await page.waitForURL(`/queue/${clash}?**`)
  await page.locator('form.edit .cm-line em', { hasText: '4 KB' }).waitFor()
  await press('a')
  expect(await page.evaluate('document.activeElement.id')).toBe('field-content')
  await press('ControlOrMeta+a')
  await press('Backspace')
  await page.keyboard.type('Eins')
  await page.click('form.edit button')
  await page.locator('.notices', { hasText: 'Approved' }).waitFor()
  expect(alarms).toEqual([])
})

test('a form that is being sent shows it, and is sent once; when that is stopped it can be sent again', async () => {
  const { submit, slug, visit, page, press, alarms } = await review()
  const [id, next] = [await submit({ title: 'Slow' }), await submit({ title: 'Next', content: 'Quite new.' })]
  const posts: string[] = []
  await page.route(/\/(?:comment|approve)\?/, async (route) => {
    posts.push(new URL(route.request().url()).pathname)
    await new Promise((resolve) => setTimeout(resolve, 700))
    await route.continue()
  })
  await visit(`/queue/${id}?kb=${slug}`)
  await page.fill('#field-comment', 'Once.')
  // Playwright waits for the answer: what stands on the page until then is told by the page.
  await page.evaluate(`(async () => {
    const button = document.querySelector('#comment button')
    const states = []
    for (const act of [() => button.click(), () => button.click(), () => stop(), () => button.click()]) {
      act()
      await new Promise((resolve) => setTimeout(resolve, 100))
      states.push(button.ariaBusy + getComputedStyle(document.body, '::after').content)
    }
    sessionStorage.setItem('states', states)
  })()`)
  await page.waitForURL('**#comment')
  expect(posts).toEqual(Array(2).fill(`/queue/${id}/comment`))
  expect(await page.evaluate('sessionStorage.getItem("states")')).toBe('true"",true"",nullnone,true""')
  await page.locator('.steps', { hasText: 'Once.' }).waitFor()
  await page.locator('h1').focus()
  await press('a', 'a')
  await page.locator('#decide button[aria-busy="true"]').waitFor()
  await press('a')
  await page.waitForURL(`**/queue/${next}?**`)
  expect(posts.slice(2)).toEqual([`/queue/${id}/approve`])
  expect(await page.locator('[aria-busy="true"]').count()).toBe(0)
  expect(alarms).toEqual([])
})

test('a session that ends in the middle of an edit loses nothing', async () => {
  const { submit, slug, visit, page, context } = await review()
  const id = await submit({ title: 'Long work', content: 'one\n' })
  await visit(`/queue/${id}?kb=${slug}&edit=1`)
  await page.locator('#field-content').fill('My long work')
  const cookies = await context.cookies()
  await context.clearCookies()
  await page.locator('form.edit button').click()
  await page.getByText('You were signed out.').waitFor()
  expect(await page.locator('.problems a').getAttribute('href')).toContain(encodeURIComponent(`/queue/${id}`))
  await context.addCookies(cookies)
  await page.goto(`/queue/${id}?kb=${slug}&edit=1`)
  expect(await page.inputValue('textarea[name="content"]')).toBe('My long work')
  await page.locator('form.edit button').click()
  await page.getByText('Approved').first().waitFor()
  await page.goto(`/queue/${id}?show=sides`)
  expect(await page.locator('#change').innerText()).toContain('My long work')
})

test.each(['its sender revises it', 'main moves on'])(
  'a draft of an edit is offered, not restored over a newer text, once %s',
  async (what) => {
    const { submit, approve, correct, slug, visit, page, alarms } = await review()
    const lines = (first: string, last: string) => `${first}\n\ntwo\n\nthree\n\n${last}\n`
    const { seqId } = await approve(await submit({ title: 'Base', content: lines('one', 'four') }))
    const id = await correct(seqId, lines('ONE', 'four'))
    const at = `/queue/${id}?kb=${slug}&edit=1`
    const content = page.locator('#field-content')
    await visit(at)
    await content.fill('My long work')
    await visit(at)
    expect(await content.innerText()).toBe('My long work')
    const newer = what === 'main moves on' ? lines('ONE', 'FOUR') : lines('First', 'four')
    if (what === 'main moves on') await approve(await correct(seqId, lines('one', 'FOUR')))
    else await revise(slug, id, newer)
    const textOf = async () => (await page.inputValue('textarea[name="content"]')).trim()
    const offer = page.locator('form.edit .warning', { hasText: 'You have a draft' })

    await visit(at)
    expect([await textOf(), await offer.count()]).toEqual([newer.trim(), 1])
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Restore the draft' }).click()
    expect([await content.innerText(), await textOf(), await offer.count()]).toEqual([
      'My long work',
      'My long work',
      0,
    ])
    await visit(at)
    expect([await textOf(), await offer.count()]).toEqual(['My long work', 0])

    await revise(slug, id, newer.replace('two', 'TWO'))
    await visit(at)
    await page.getByRole('button', { name: 'Discard it' }).click()
    await visit(at)
    expect([await textOf(), await offer.count()]).toEqual([newer.replace('two', 'TWO').trim(), 0])
    expect(alarms).toEqual([])
  },
)

/** Changes what a pending candidate proposes, as its sender may. */
async function revise(slug: string, id: string, content: string): Promise<void> {
  const { ctx, tenantId } = stage()
  const kb = await ctx.kb(tenantId, slug)
  const by = { id: 'key:app', name: 'The app' }
  await kb.write(async (staging) => {
    const record = findCandidate(kb.projection.write, id)
    const candidate = parseCandidate(await staging.readText(record?.blob ?? ''))
    const change = { ...candidate, content }
    await recordCandidate(kb, staging, revised(candidate, change, { by, at: ctx.now() }), 'Revise')
  })
}
