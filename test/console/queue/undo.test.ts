import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { fieldsOf } from '../support.ts'
import { deskForFile, hostile as markup } from './desk.ts'

const desk = deskForFile()
/** Markup that may stand in a name. */
const hostile = markup.replaceAll(/[<>\u202e]/g, '"')

test('a curator undoes from the page of a candidate what its sender brought', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit()
  await kb.approve(id)
  const link =
    (await curator.get(`/queue/${id}`)).document.querySelector('a[href^="/undo?"]')?.getAttribute('href') ?? ''
  const form = await curator.get(link)
  const value = (name: string) => form.document.querySelector(`main [name=${name}]`)?.getAttribute('value')
  const since = value('since') ?? ''
  expect([value('writer'), Date.parse(since) > 0]).toEqual(['app', true])
  const sent = fieldsOf(form)
  expect(sent).toMatchObject({ kb: kb.slug, by: 'key', writer: 'app', since })
  const { status, headers } = await curator.post('/undo', sent)
  expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/queue\/[\w-]+\?.*proposed=1/)])
  expect((await curator.get(String(headers.location))).texts('.candidate header')[0]).toContain('from undo')

  const nothing = await curator.post('/undo', { ...sent, writer: 'mcp' })
  expect([nothing.status, nothing.body]).toEqual([200, expect.stringContaining('nothing to take back')])
  const wrong = await curator.post('/undo', { ...sent, since: 'yesterday' })
  expect([wrong.status, wrong.body]).toEqual([400, expect.stringContaining('yesterday')])
  expect(wrong.texts('.problems')[0]).toContain(
    'The start must be a day such as 2026-11-26, or a time with its zone such as 2026-11-26T08:00:00Z.',
  )
})

test('a curator undoes what came on behalf of one end user, and lists it', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const sentFor = (id: string, title: string) =>
    kb.submit({ title, content: title, metadata: JSON.stringify({ onBehalfOf: { id, name: `${hostile} of ${id}` } }) })
  const ids = [await sentFor('u & 17', 'Of one'), await sentFor('u-18', 'Of another')]
  const waiting = await curator.get(`/queue?kb=${kb.slug}`)
  expect(waiting.document.querySelectorAll('main script, main img')).toHaveLength(0)
  const link = [...waiting.document.querySelectorAll('.entry .who a')].find(({ textContent }) =>
    textContent?.endsWith('of u & 17'),
  )
  const listed = await curator.get(link?.getAttribute('href') ?? '')
  expect(listed.texts('[data-entry] h2')).toEqual(['Of one'])
  expect(listed.texts('.chip.active')).toContainEqual(expect.stringContaining('on behalf of u & 17'))
  expect(listed.texts('[data-entry] a[data-open]')).toHaveLength(1)
  for (const id of ids) await kb.approve(id)
  const candidate = await curator.get(`/queue/${ids[0]}`)
  expect(candidate.texts('header .soft')[0]).toContain('on behalf of')
  const form = await curator.get(candidate.document.querySelector('a[href^="/undo?"]')?.getAttribute('href') ?? '')
  expect(fieldsOf(form)).toMatchObject({ by: 'key', writer: 'app', onBehalfOf: 'u & 17' })
  const { headers } = await curator.post('/undo', fieldsOf(form))
  const reversal = await curator.get(String(headers.location))
  expect([reversal.texts('.candidate h1'), reversal.texts('.bundle')]).toEqual([['Of one'], []])
  const wrong = await curator.post('/undo', { ...fieldsOf(form), onBehalfOf: 'a<b' })
  expect([wrong.status, wrong.body]).toEqual([400, expect.stringContaining('must be one line')])
})

test.each(['', '&kind=pages'])(
  'activity%s leads curators to the form with what was approved filled in',
  async (filter) => {
    const { browser, curator, newKb } = desk()
    const title = 'Ada & <Bo>'
    const kb = await newKb()
    await kb.add({ title })
    const path = `/activity?kb=${kb.slug}${filter}`
    const link = await eventually(async () => {
      const found = (await curator.get(path)).document.querySelector('.event a[href^="/undo?"]')
      expect(found?.textContent).toBe(`Undo… ${title}`)
      return found?.getAttribute('href') ?? ''
    })
    const { body } = await (await browser('reader')).get(path)
    expect([body.includes('was added'), body.includes('/undo')]).toEqual([true, false])
    const sent = fieldsOf(await curator.get(link))
    expect(sent).toMatchObject({ kb: kb.slug, by: 'key', writer: 'app' })
    const { status, headers } = await curator.post('/undo', sent)
    expect([status, headers.location]).toEqual([303, expect.stringMatching(/proposed=1/)])
    expect((await curator.get(String(headers.location))).texts('.candidate h1')).toEqual([title])
  },
)

test('each approval in the activity has a link to the undo form, and nothing else has one', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  for (const title of ['A', 'B', 'C']) await kb.add({ title })
  await eventually(async () => {
    const page = await curator.get(`/activity?kb=${kb.slug}`)
    expect(page.texts('.event summary + ul li')).toEqual(['C Undo… C', 'B Undo… B', 'A Undo… A', 'C', 'B', 'A'])
  })
})
