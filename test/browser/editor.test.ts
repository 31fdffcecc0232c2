import { expect, test } from 'vitest'
import { violationsOf } from './support/axe.ts'
import { stageForFile, type Visitor } from './support/stage.ts'
import { limitsOf } from './support/visitor.ts'

const stage = stageForFile()

/** Text area that the form sends. */
const content = '#field-content'
const field = 'textarea[name="content"]'
const press = (label: string) => `form[data-editor] button:text-is("${label}")`

/** Publishes a page and gives its address. */
async function published(title: string, text = 'One.\n\nTwo.'): Promise<string> {
  const { page, context, visit } = await stage().enter('curator')
  await visit('/kb/handbook/new')
  await page.fill('input[name="title"]', title)
  await page.fill(content, text)
  await page.locator('[name=title]').press('Control+Enter')
  await page.waitForURL(/\?done=published$/)
  const { pathname } = new URL(page.url())
  await context.close()
  return pathname
}

/** Returns the distance of the elements that match a selector from the top of the window. */
async function topsOf(page: Visitor['page'], selector: string): Promise<number[]> {
  const boxes = await Promise.all((await page.locator(selector).all()).map((one) => one.boundingBox()))
  return boxes.map((box) => box?.y ?? 0)
}

/** A list that has just come takes no key, which may have been meant for the text. */
const readyToChoose = (page: Visitor['page']) => page.waitForTimeout(150)

const kept = async ({ page }: Visitor) => page.locator('text=Kept as a draft in this browser').waitFor()

test.each([
  { width: 320, height: 640, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const)('the pages to write with are accessible and small at $width', async ({ colorScheme, ...viewport }) => {
  const path = await published(`Accessible ${viewport.width}`)
  const { page, visit, alarms, transfer } = await stage().enter('curator', { colorScheme, viewport })
  for (const what of [`${path}/edit`, '/kb/handbook/new', `${path}/rename?title=New&path=new`, `${path}/remove`]) {
    await visit(what)
    expect(await violationsOf(page)).toEqual([])
    const { requests, bytes } = await limitsOf(page)
    expect(transfer.requests).toBeLessThanOrEqual(requests)
    expect(transfer.bytes).toBeLessThanOrEqual(bytes)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await visit(`${path}/edit`)
  const [typed, shown] = [await page.locator(content).boundingBox(), await page.locator('#beside').boundingBox()]
  expect((shown?.x ?? 0) > (typed?.x ?? 0)).toBe(viewport.width > 1000)
  const [box = 0, label = 0] = await topsOf(page, '#audience-default, [for="audience-default"]')
  expect(Math.abs(label - box)).toBeLessThan(10)
  await page.locator(content).press('ControlOrMeta+End')
  await page.keyboard.type(' [[Acc')
  await page.locator('[role="option"]').first().waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.locator('#beside .content').waitFor()
  const [findings = 0, preview = 0] = await topsOf(page, '#beside h2')
  expect(preview - findings).toBeLessThan(150)
  expect(alarms).toEqual([])
})

test('a page is written by keyboard alone: completion, preview, findings, and publishing', async () => {
  await published('Walrus policy', '# Tusks\n\nLong.')
  const { page, visit, alarms } = await stage().enter('curator')
  await visit('/kb/handbook/new')
  await page.focus('input[name="title"]')
  await page.keyboard.type('By keyboard')
  await page.focus(content)
  await page.keyboard.type('See [[walr')
  await page.locator('[role="option"]:has-text("Walrus policy")').waitFor()
  await readyToChoose(page)
  await page.keyboard.press('Enter')
  expect(await page.inputValue(field)).toBe('See [[Walrus policy]]')
  await page.keyboard.type('.\n\n[[Nowhere]] [[Walrus policy#')
  await page.locator('[role="option"]:has-text("Tusks")').waitFor()
  await readyToChoose(page)
  await page.keyboard.press('Tab')
  expect(await page.inputValue(field)).toBe('See [[Walrus policy]].\n\n[[Nowhere]] [[Walrus policy#Tusks]]')
  await page.keyboard.press('ControlOrMeta+z')
  expect(await page.inputValue(field)).toBe('See [[Walrus policy]].\n\n[[Nowhere]] [[Walrus policy#')
  await page.keyboard.press('ControlOrMeta+Shift+Z')
  await page.locator('#beside .content a:has-text("Walrus policy")').first().waitFor()
  await page.focus('#beside [data-line="3"]')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id + getSelection()')).toBe(
    'field-content[[Nowhere]] [[Walrus policy#Tusks]]',
  )
  await page.focus(press('Publish'))
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?done=published$/)
  expect(alarms).toEqual([])
})

test('keys set marks and links, keep the draft, and lead out of the text; findings are marked in it', async () => {
  const writer = await stage().enter('curator', { viewport: { width: 700, height: 420 } })
  const { page, visit, alarms } = writer
  await visit('/kb/handbook/new?title=Keys')
  await page.focus(content)
  await page.keyboard.type('bold')
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.press('ControlOrMeta+b')
  await page.keyboard.press('ControlOrMeta+i')
  expect(await page.inputValue(field)).toBe('***bold***')
  await page.keyboard.press('ControlOrMeta+i')
  await page.keyboard.press('ControlOrMeta+b')
  expect(await page.inputValue(field)).toBe('bold')
  await page.keyboard.press('ControlOrMeta+End')
  await page.keyboard.type('\n- one\nمرحبا\n\nSee ')
  expect(await page.inputValue(field)).toBe('bold\n- one\n- مرحبا\nSee ')
  await page.keyboard.press('ControlOrMeta+k')
  await page.locator('.cm-content + *, .cm-tooltip [role="option"]').first().waitFor()
  expect(await page.locator('dialog[open]').count()).toBe(0)
  await page.keyboard.type('no-such')
  await page.keyboard.press('Escape')
  await page.locator('.cm-lintRange-warning').first().waitFor()
  await page.keyboard.press('ControlOrMeta+s')
  await kept(writer)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.id')).toBe('field-tags')
  await page.keyboard.press('Shift+Tab')
  expect(await page.evaluate('document.activeElement.id')).toBe('field-content')
  expect(await page.inputValue(field)).toBe('bold\n- one\n- مرحبا\nSee [[no-such]]')
  expect(await violationsOf(page)).toEqual([])
  expect(alarms).toEqual([])
})

test('a table is aligned when it is left and with Tab, which goes from cell to cell and out of the last one', async () => {
  const { page, visit, alarms } = await stage().enter('curator')
  await visit('/kb/handbook/new?title=Tables')
  const text = () => page.inputValue(field)
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.fill(content, '> a\n\nName|Sum|漢字\n---|--:|:-:\nA \\| B|1|\n|Long name|22,000|x|\n\nEnd')
  await page.locator('.cm-line', { hasText: 'A' }).nth(2).click()
  await page.locator('.cm-line', { hasText: 'End' }).click()
  expect(await text()).toContain('Name|Sum|漢字\n') // It was not edited.
  await press('ArrowUp', 'ArrowUp', 'End', 'ArrowLeft')
  await page.keyboard.type('yz')
  await press('ArrowDown', 'ArrowDown')
  const aligned = [
    '| Name      |    Sum | 漢字 |',
    '| --------- | -----: | :--: |',
    '| A \\| B    |      1 |      |',
    '| Long name | 22,000 | xyz  |',
  ]
  expect(await text()).toBe(`> a\n\n${aligned.join('\n')}\n\nEnd`)
  await press('ControlOrMeta+z')
  expect(await text()).toContain('Name|Sum|漢字\n')
  expect(await text()).toContain('xyz')
  await press('ControlOrMeta+Shift+Z', 'ControlOrMeta+Home', 'ArrowDown', 'ArrowDown', 'Tab', 'Tab', 'Tab')
  expect(await page.evaluate('getSelection().toString()')).toBe('漢字')
  await press('Tab', 'Shift+Tab', 'Tab', 'Tab', 'Tab')
  await page.keyboard.type('no')
  await press('Tab', 'Tab')
  await page.keyboard.type('1,234,567')
  await press('Tab', 'Tab')
  expect(await page.evaluate('document.activeElement.id')).toBe('field-tags')
  expect((await text()).split('\n').slice(4, 6)).toEqual([
    '| A \\| B    |         1 |  no  |',
    '| Long name | 1,234,567 | xyz  |',
  ])
  expect(alarms).toEqual([])
})

test('pictures are pasted and dropped, seen in the preview and the review, and become files with the approval', async () => {
  const { page, visit, alarms } = await stage().enter('curator')
  await visit('/kb/handbook/new?title=Pictures')
  await page.focus(content)
  const give = (type: 'paste' | 'drop', side: number) =>
    page.evaluate(`(async () => {
      const canvas = new OffscreenCanvas(${side}, ${side})
      const pixels = new ImageData(${side}, ${side})
      for (let at = 0; at < pixels.data.length; at += 65536) crypto.getRandomValues(pixels.data.subarray(at, at + 65536))
      canvas.getContext('2d').putImageData(pixels, 0, 0)
      const data = new DataTransfer()
      data.items.add(new File([await canvas.convertToBlob()], '${type} [x].png', { type: 'image/png' }))
      const options = { bubbles: true, cancelable: true, clientX: 200, clientY: 400 }
      document.activeElement.dispatchEvent('${type}' === 'paste'
        ? new ClipboardEvent('paste', { ...options, clipboardData: data }) : new DragEvent('drop', { ...options, dataTransfer: data }))
    })()`)
  const pictures = page.locator('#beside img')
  await give('paste', 20)
  await page.locator('.cm-line em', { hasText: 'KB' }).waitFor()
  await give('drop', 900)
  await expect.poll(() => pictures.count()).toBe(2)
  expect(await page.locator(content).innerText()).toMatch(
    /^!\[drop {2}x \]\(picture, \d+ KB\)!\[paste {2}x \]\(picture, \d KB\)$/,
  )
  expect(await page.inputValue(field)).toMatch(/!\[paste {2}x \]\(data:image\/png/)
  expect(await page.inputValue(field)).toMatch(/!\[drop {2}x \]\(data:image\/webp/)
  expect((await page.inputValue(field)).length).toBeLessThan(300 * 1024)
  await page.click(press('Propose'))
  await page.locator('#change img').first().waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.locator('.notices', { hasText: 'Approved' }).waitFor()
  await page.click('.notices a:has-text("Pictures")')
  const loaded =
    '[...document.querySelectorAll("article img")].map(({ src, naturalWidth }) => [new URL(src).pathname, naturalWidth > 0])'
  await expect
    .poll(() => page.evaluate(loaded))
    .toEqual([
      [expect.stringMatching(/attachments\/drop-x-.*\.webp$/), true],
      [expect.stringMatching(/attachments\/paste-x-.*\.png$/), true],
    ])
  expect(alarms).toEqual([])
})

test('a draft outlives a reload, is only its own person’s, and is gone once it is accepted', async () => {
  const path = await published('Draft')
  const writer = await stage().enter('curator')
  const { page, visit, context, alarms } = writer
  await visit(`${path}/edit`)
  await page.locator(content).press('ControlOrMeta+End')
  await page.keyboard.type(' Typed.')
  await kept(writer)
  await page.reload()
  expect(await page.inputValue(field)).not.toContain('Typed.')
  await page.click('text=Restore the draft')
  expect(await page.inputValue(field)).toContain('Typed.')
  expect(await page.locator('.drafts button').count()).toBe(0)

  const other = await stage().enter('curator', { email: 'other@example.com', name: 'Other' })
  const state = await context.storageState()
  await other.page.goto('/assets/x/y').catch(() => undefined)
  for (const { name, value } of state.origins.flatMap(({ localStorage }) => localStorage)) {
    await other.page.evaluate(`localStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(value)})`)
  }
  await other.visit(`${path}/edit`)
  expect(await other.page.locator('text=Restore the draft').count()).toBe(0)

  await page.click(press('Publish'))
  await page.waitForURL(/\?done=published$/)
  await page.waitForFunction('localStorage.length === 0')
  await visit(`${path}/edit`)
  expect(await page.locator('.drafts button').count()).toBe(0)
  expect(alarms).toEqual([])
})

test('two tabs with one page tell each other, and keep a draft each', async () => {
  const path = await published('Two tabs')
  const { page, visit, context } = await stage().enter('curator')
  await visit(`${path}/edit`)
  const second = await context.newPage()
  await second.goto(`${path}/edit`)
  for (const tab of [page, second]) await tab.locator('text=open in another tab').waitFor()
  await page.fill(content, 'First tab.')
  await second.fill(content, 'Second tab.')
  for (const tab of [page, second]) await tab.locator('text=Kept as a draft').waitFor()
  await page.close()
  await second.reload()
  expect(await second.locator('text=Restore the draft').count()).toBe(2)
})

test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'the end of the session in mid-edit loses nothing: $javaScriptEnabled',
  async (options) => {
    const path = await published(`Session ${options.javaScriptEnabled}`)
    const { page, visit, context, alarms } = await stage().enter('curator', options)
    await visit(`${path}/edit`)
    await page.fill(content, 'Typed “here” <b>.')
    const cookies = await context.cookies()
    const [session] = cookies.filter(({ name }) => name === 'ganglion')
    if (session === undefined) throw new Error('no session')
    await context.addCookies([{ ...session, value: 'ended' }])
    await page.click(press('Publish'))
    await page.locator('h1:has-text("You were signed out")').waitFor()
    expect(await page.inputValue(field)).toBe('Typed “here” <b>.')
    await context.addCookies([session])
    await page.click('button:text-is("Go on")')
    await page.locator('form[data-editor]').waitFor()
    expect(await page.inputValue(field)).toBe('Typed “here” <b>.')
    await page.click(press('Publish'))
    await page.waitForURL(/\?done=published$/)
    expect(await page.locator('article').textContent()).toContain('Typed “here”')
    expect(alarms).toEqual([])
  },
)

test('a page and a change of another are proposed together, and decided as one', async () => {
  const pathname = await published('Parking', 'Park in the yard.')
  const { page, visit, alarms } = await stage().enter('curator', { javaScriptEnabled: false })
  const propose = async (fields: Record<string, string>) => {
    for (const [name, text] of Object.entries(fields)) await page.fill(`[name="${name}"]`, text)
    await page.click(press('Propose'))
    await page.locator('.candidate').waitFor()
  }
  await visit('/kb/handbook/new')
  await propose({ title: 'Bicycles', content: 'They stand in the hall.' })
  await visit(`${pathname}/edit`)
  await page.click('summary:has-text("together")')
  await page.click('details a:has-text("Bicycles")')
  await page.locator('.hint:has-text("together with Bicycles")').waitFor()
  await propose({ content: 'Park in the yard. [[Bicycles]] go into the hall.' })
  expect(await page.innerText('.bundle')).toContain('Adds 1 page · Changes 1 page')
  await page.getByRole('button', { name: 'Approve all 2' }).click()
  await page.locator('.notices', { hasText: '2 of 2 done' }).waitFor()
  await visit(pathname)
  expect(await page.innerText('article')).toContain('Bicycles go into the hall.')
  expect(alarms).toEqual([])
})
