import { afterAll, beforeAll, expect, test } from 'vitest'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { candidate } from '../../kb/support/test-bed.ts'
import { neuronText, seq } from '../../kb/support/written-neurons.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

const hostile = `</script><script>alert(1)</script>`

let started: Console
let curator: Browser
let reader: Browser
beforeAll(async () => {
  started = await startConsole()
  curator = await started.browser('curator')
  reader = await started.browser('reader')
  const pages = {
    'a.md': neuronText(1, { title: hostile, edges: [['cites', 'Twin']] }, '[[Twin]] [[<img src=x>]]\n'),
    'b.md': neuronText(2, { title: 'Twin' }),
    'c.md': neuronText(3, { title: 'Twin' }),
    'lone.md': neuronText(4, { title: 'Lone' }),
    ...Object.fromEntries(
      [5, 6, 7].map((number) => [`${number}.md`, neuronText(number, { title: `P${number}` }, '[[Budget]]')]),
    ),
  }
  const files = Object.entries(pages).map(([path, text]) => [`neurons/${path}`, text] as const)
  new NativeWriter(started.ctx.directory.repository(started.kbId)).commit('refs/heads/main', new Map(files))
  const app: Caller = { id: 'key:app', name: 'App', tenantId: started.tenantId, role: 'app', connectors: [] }
  await submitCandidate(started.ctx, app, candidate({ title: 'P5', content: `[[${seq(5)}]]`, confidence: 1 }))
})
afterAll(() => started.close())

const path = '/kb/handbook/findings'
const cardOf = (page: Awaited<ReturnType<Browser['get']>>, heading: string) =>
  [...page.document.querySelectorAll('li.card')].find((card) => card.querySelector('h2')?.textContent === heading)

test('each finding says what is wrong and offers what settles it', async () => {
  const page = await curator.get(path)
  expect(page.texts('.tabs a')).toEqual([
    'All (5)',
    ...[
      'Broken links (1)',
      'Missing pages (1)',
      'Ambiguous links (1)',
      'Taken names (1)',
      'Contradictions (0)',
      'Pages without links (1)',
    ],
  ])
  expect(page.texts('li.card h2').sort()).toEqual([
    ...['Ambiguous link: Twin', 'Broken link: <img src=x>', 'Gap: Budget', 'Orphan: Lone', 'Taken name: P5'],
  ])
  expect(page.document.querySelector('main script, main img')).toBeNull()
  const gap = cardOf(page, 'Gap: Budget')
  expect(gap?.querySelector('a.button')?.getAttribute('href')).toBe('/kb/handbook/new?title=Budget')
  const orphan = cardOf(page, 'Orphan: Lone')
  expect(orphan?.querySelectorAll('a.button')[1]?.getAttribute('href')).toBe(`/kb/handbook/neurons/${seq(4)}/edit`)
  const taken = [...(cardOf(page, 'Taken name: P5')?.querySelectorAll('a') ?? [])]
  expect(taken.map((link) => link.getAttribute('href'))).toEqual(
    [5, 8].map((number) => `/kb/handbook/neurons/${seq(number)}`),
  )
  const one = await curator.get(`${path}?rule=orphan`)
  expect(one.texts('li.card h2')).toEqual(['Orphan: Lone'])
})

test('what is wrong is counted in correct words', async () => {
  const page = await curator.get(path)
  const said = (heading: string) => cardOf(page, heading)?.querySelector('p')?.textContent
  expect(said('Broken link: <img src=x>')).toBe('1 link leads nowhere.')
  expect(said('Ambiguous link: Twin')).toBe('2 pages have this name, so 2 links lead nowhere.')
  expect(said('Gap: Budget')).toBe('3 pages link to it, and no page is about it.')
})

test('the page that is meant is one click away from the queue', async () => {
  const card = cardOf(await curator.get(path), 'Ambiguous link: Twin')
  const fields = Object.fromEntries(
    [...(card?.querySelectorAll('form input') ?? [])].map((input) => [
      input.getAttribute('name') ?? '',
      input.getAttribute('value') ?? '',
    ]),
  )
  const { fingerprint = '' } = fields
  const answer = await curator.post(path, { fingerprint, choice: seq(3) })
  expect(answer.status).toBe(303)
  const shown = await curator.get(String(answer.headers.location))
  expect(shown.texts('.notice')[0]).toMatch(/^1 change proposed: change 1/)
  const change = shown.document.querySelector('.notice a')?.getAttribute('href') ?? ''
  expect((await curator.get(change)).status).toBe(200)

  const gone = await curator.post(path, { fingerprint: 'made-up', choice: seq(3) })
  expect([gone.status, ...gone.texts('.problems')]).toEqual([409, expect.stringContaining('This finding is gone')])
  expect((await curator.post(path, { fingerprint, choice: 'x' })).status).toBe(400)
  expect((await curator.get(`${path}?changes=<script>&byHand=../x&proposed=1e99`)).texts('.notice')).toEqual([])
})

test('what is new is put into the queue, once', async () => {
  const lint = async () => {
    const answer = await curator.post(`${path}/lint`)
    return (await curator.get(String(answer.headers.location))).texts('.notice')
  }
  expect(await lint()).toEqual(['5 findings put into the queue.'])
  expect(await lint()).toEqual(['There is nothing new.'])
  const page = await curator.get(path)
  expect(page.texts('.card .hint').filter((text) => text.startsWith('In the queue'))).toHaveLength(5)
})

test('findings are for curators', async () => {
  expect((await reader.get(path)).status).toBe(403)
  expect((await reader.post(`${path}/lint`)).status).toBe(403)
  expect((await reader.post(path, { fingerprint: 'x', choice: seq(3) })).status).toBe(403)
})
