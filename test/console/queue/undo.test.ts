import { expect, test } from 'vitest'
import { deskForFile } from './desk.ts'

const desk = deskForFile()

test('a curator undoes from the page of a candidate what its connector wrote', async () => {
  const { curator, newKb } = desk()
  const kb = await newKb()
  const id = await kb.submit()
  await kb.approve(id)
  const link =
    (await curator.get(`/queue/${id}`)).document.querySelector('a[href^="/undo?"]')?.getAttribute('href') ?? ''
  const form = await curator.get(link)
  const value = (name: string) => form.document.querySelector(`main [name=${name}]`)?.getAttribute('value')
  const since = value('since') ?? ''
  expect([value('writer'), Date.parse(since) > 0]).toEqual(['api', true])
  const sent = { kb: kb.slug, by: 'connector', writer: 'api', since }
  const { status, headers } = await curator.post('/undo', sent)
  expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/queue\/[\w-]+\?.*proposed=1/)])
  expect((await curator.get(String(headers.location))).texts('.candidate header')[0]).toContain('from undo')

  const nothing = await curator.post('/undo', { ...sent, writer: 'mcp' })
  expect([nothing.status, nothing.body]).toEqual([200, expect.stringContaining('nothing to take back')])
  const wrong = await curator.post('/undo', { ...sent, since: 'yesterday' })
  expect([wrong.status, wrong.body]).toEqual([400, expect.stringContaining('yesterday')])
  expect(wrong.texts('.problems')[0]).toContain('The start must be a time such as 2026-11-26T08:00:00Z.')
})
