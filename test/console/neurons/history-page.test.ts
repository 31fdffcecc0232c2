import { afterAll, beforeAll, expect, test } from 'vitest'
import { neuronText, seq } from '../../kb/support/written-neurons.ts'
import type { Browser } from '../support.ts'
import { hostile, type Written, writtenConsole } from './support.ts'

let console: Written
let reader: Browser
const path = `/kb/handbook/neurons/${seq(1)}/history`

beforeAll(async () => {
  console = await writtenConsole({ 'a.md': neuronText(1, { title: 'First' }, 'Page the lead.\n\nStays.\n') })
  console.write({ 'a.md': neuronText(1, { title: 'Second' }, `Page the boss.\n\nStays.\n\n${hostile}\n`) })
  console.write({ 'a.md': neuronText(1, { title: hostile }, 'Page the boss.\n') })
  reader = await console.browser('reader')
})
afterAll(() => console.close())

test('lists the versions, and compares the last two at one press', async () => {
  const page = await reader.get(path)
  expect(page.texts('tbody td:nth-child(3)')).toEqual(['3', '2', '1'])
  expect(page.texts('tbody td:nth-child(4)')).toEqual([hostile, 'Second', 'First'])
  const form = page.document.querySelector('main form')
  const checked = [...(form?.querySelectorAll('input[checked]') ?? [])].map((input) => [
    input.getAttribute('name'),
    input.getAttribute('value'),
  ])
  expect([form?.getAttribute('action'), checked]).toEqual([
    path,
    [
      ['to', '3'],
      ['from', '2'],
    ],
  ])
  expect(page.document.querySelectorAll('main img')).toHaveLength(0)
  const read = page.document.querySelector('tbody a[aria-label="Read version 1"]')?.getAttribute('href') ?? ''
  expect((await reader.get(read)).texts('h1')).toEqual(['First'])
})

test('shows what has changed in lines, beside each other and as a page, whichever version is named first', async () => {
  const lines = await reader.get(`${path}?from=2&to=1`)
  expect(lines.texts('h1 + p')[0]).toMatch(/^From version 1 \(.*to version 2/)
  expect(lines.texts('del, ins')).toEqual(['lead', 'boss'])
  expect(lines.texts('.views a[aria-current]')).toEqual(['Lines'])
  const side = await reader.get(`${path}?from=1&to=2&view=side`)
  expect(side.texts('.views a[aria-current]')).toEqual(['Side by side'])
  expect(side.texts('tbody del, tbody ins')).toEqual(['lead', 'boss'])
  const page = await reader.get(`${path}?from=1&to=2&view=page`)
  expect(page.texts('.changed del, .changed ins')).toEqual(['lead', 'boss'])
  for (const { document } of [lines, side, page]) expect(document.querySelectorAll('main img, [style]')).toHaveLength(0)
})

test('curators compare the front matter too', async () => {
  const curator = await console.browser('curator')
  const shown = (await curator.get(`${path}?from=1&to=2`)).texts('.diff .text').join('\n')
  expect(shown).toContain('title: "Second"')
  expect((await reader.get(`${path}?from=1&to=2`)).texts('.diff .text').join('\n')).not.toContain('title:')
})

test('refuses versions that are not there, or one twice', async () => {
  expect((await reader.get(`${path}?from=1&to=9`)).status).toBe(404)
  const same = await reader.get(`${path}?from=1&to=1`)
  expect([same.status, same.texts('main p').join()]).toEqual([400, expect.stringContaining('another version')])
  expect((await reader.get(`${path}?from=a&to=1`)).status).toBe(400)
})

test('the page leads to who said each part of it, in the names of the versions that brought them', async () => {
  console.write({ 'b.md': neuronText(2, { title: 'Whole' }, 'Page the lead.\n\nStays. Always.\n') })
  console.write({ 'b.md': neuronText(2, { title: 'Whole' }, `Page the boss.\n\nStays. Always.\n\n${hostile}\n`) })
  const link = (await reader.get(`/kb/handbook/neurons/${seq(2)}`)).document.querySelector('main a[href$="/blame"]')
  const page = await reader.get(link?.getAttribute('href') ?? '')
  expect(page.texts('tbody td:nth-child(1)')).toEqual(['Page the boss.', 'Stays.Always.', hostile])
  expect(page.texts('tbody td:nth-child(2)')).toEqual(['2', '1', '2'])
  expect(page.texts('tbody td:nth-child(4)')).toEqual(['–', '–', '–'])
  expect(page.texts('tbody td:nth-child(5)')).toEqual(['Native', 'Native', 'Native'])
  expect((await reader.get(`/kb/handbook/neurons/${seq(9)}/blame`)).status).toBe(404)
})
