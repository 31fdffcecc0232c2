import { expect, test, vi } from 'vitest'
import { Clone, page as pageFile } from '../e2e/git/git-clone.ts'
import { stageForFile, type Visitor } from './support/stage.ts'

const stage = stageForFile()

const leave = 'neurons/leave.md'
const tests = `- question: How many days of leave does everyone have?
  contains: [25 days]
`

async function cloneWith(role: 'app' | 'curator', name: string): Promise<Clone> {
  const { ctx, tenantId, url } = stage()
  const { token } = await ctx.apiKeys.create({ tenantId, name, role, connectors: [], expiresAt: null }, ctx.now())
  return Clone.of({ url }, token)
}

/** The queue's entry of a page, opened. */
async function open({ page, visit }: Visitor, title: string): Promise<void> {
  await visit('/queue')
  for (const summary of await page.locator('[data-entry] summary').all()) await summary.click()
  await page.locator('[data-entry] a', { hasText: title }).first().click()
  await page.locator('h1', { hasText: title }).waitFor()
}

/** Waits until the answer tests of the open candidate have been run, and come to this. */
const effects = ({ page }: Visitor, outcome: string) =>
  vi.waitFor(
    async () => {
      await page.reload()
      expect(await page.innerText('main')).toContain(outcome)
    },
    { timeout: 100_000, interval: 500 },
  )

const says = ({ page }: Visitor, words: string) => page.locator('.notices', { hasText: words }).waitFor()

test('a curator tries ten pages, mends the answer that one breaks, decides with another, and undoes an afternoon', async () => {
  const owner = await cloneWith('curator', 'Setup')
  const settings = owner
    .read('kb.yaml')
    .replace(/^ {2}connectors:.*\n/m, '  connectors: {git: yellow}\napprovals: {yellow: 2}\n')
  await owner.commit({
    'kb.yaml': settings,
    'tests/answers.yaml': tests,
    [leave]: pageFile('Leave', 'Everyone has 25 days of leave a year.'),
  })
  expect(await owner.push('main')).toMatchObject({ code: 0 })

  await owner.git('pull', '--quiet')
  const [morning, since] = [await owner.git('rev-parse', 'HEAD'), stage().ctx.now().toISOString()]

  const agent = await cloneWith('curator', 'Night agent')
  const rooms = Array.from({ length: 9 }, (_, at) => `Room ${at + 1}`)
  const pages = rooms.map((room) => [
    `neurons/${room.replace(' ', '-').toLowerCase()}.md`,
    pageFile(room, `${room} has a blue door.`),
  ])
  await agent.commit({
    ...Object.fromEntries(pages),
    [leave]: agent.read(leave).replace('25 days', '20 days'),
  })
  const pushed = await agent.push('HEAD:refs/for/main')
  expect(pushed).toMatchObject({ code: 0 })

  const ada = await stage().enter('curator', { email: 'ada@example.com', name: 'Ada' })
  const bob = await stage().enter('curator', { email: 'bob@example.com', name: 'Bob' })

  await open(ada, 'Leave')
  await effects(ada, 'Its approval breaks 1 of 1.')
  await ada.page.click('[data-try]')
  expect(await ada.page.innerText('.preview')).toContain('as if these 10 candidates were approved')
  await ada.page.getByLabel('A question or words').fill('How many days of leave does everyone have?')
  await ada.page.keyboard.press('Enter')
  await ada.page.locator('.answer', { hasText: '20 days' }).waitFor()
  await ada.page.locator('.hits a', { hasText: 'Leave' }).click()
  await ada.page.locator('article', { hasText: 'Everyone has 20 days of leave a year.' }).waitFor()
  expect(await ada.page.innerText('.preview')).toContain('Leave the preview')

  await open(ada, 'Leave')
  await ada.page.keyboard.press('e')
  await ada.page.waitForSelector('#field-content.cm-content')
  await ada.page.fill('#field-content', 'Everyone has 25 days of leave a year. Interns have fewer.')
  await ada.page.getByRole('button', { name: 'Approve with these edits' }).click()
  await ada.page.waitForLoadState('networkidle')
  await says(ada, 'Your approval of Leave is recorded.')

  await open(ada, 'Leave')
  await effects(ada, 'Its approval breaks none of 1.')
  for (const [curator, outcome] of [
    [bob, 'others have to approve them, too'],
    [ada, '10 of 10 done'],
  ] as const) {
    await open(curator, 'Leave')
    await curator.page.getByRole('button', { name: 'Approve all 10' }).click()
    await says(curator, outcome)
  }
  await owner.git('pull', '--quiet')
  expect(await owner.git('log', '-1', '--format=%(trailers:key=Approved-By,valueonly)')).toMatch(/^Bob .*\nAda /)
  expect([owner.read(leave), owner.read('neurons/room-9.md')]).toEqual([
    expect.stringContaining('Interns have fewer.'),
    expect.stringContaining('blue door'),
  ])

  await ada.visit(`/undo?kb=handbook&by=key&writer=Night+agent&since=${since}`)
  await ada.page.getByRole('button', { name: 'Propose' }).click()
  await ada.page.getByRole('button', { name: 'Approve all 10' }).click()
  await says(ada, '10 of 10 done')
  await owner.git('pull', '--quiet')
  expect(await owner.git('diff', '-I', '^candidate: ', morning, 'HEAD', '--', 'neurons')).toBe('')
  const [, seqId] = /^seqId: (\w+)$/m.exec(owner.read(leave)) ?? []
  await bob.visit(`/kb/handbook/neurons/${seqId}`)
  await bob.page.getByRole('button', { name: 'Still true' }).click()
  await says(bob, 'The page counts as true.')
  await owner.git('pull', '--quiet')
  expect(owner.read(leave)).toContain('verified: { by: Bob, at:')
  expect([...ada.alarms, ...bob.alarms]).toEqual([])
})
