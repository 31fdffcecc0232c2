import { expect, test } from 'vitest'
import { deskForFile, hostile } from './desk.ts'

const desk = deskForFile()
const policy = 'When a VIP customer raises a ticket, page the lead.'

test('a curator adds tests, sees what fails since when, and what no test reaches', async () => {
  const { curator, newKb } = desk()
  const { slug, add, correct, approve } = await newKb()
  const path = `/kb/${slug}/tests`
  const seqId = await add({ title: 'VIP escalation policy', content: policy })
  await add({ title: 'Night desk', content: 'The night desk answers.' })
  const empty = await curator.get(path)
  expect(empty.texts('main .empty')).toEqual(['There are none yet.'])
  expect(empty.texts('main section li')).toEqual(['VIP escalation policy', 'Night desk'])

  const question = 'Who is paged for a VIP ticket?'
  const added = await curator.post(path, { question, contains: 'the lead\n\n' })
  expect([added.status, added.headers.location]).toEqual([303, `${path}?added=1`])
  expect((await curator.post(path, { question })).status).toBe(303)
  const green = await curator.get(path)
  expect(green.texts('tbody tr').map((row) => row.slice(0, 50))).toHaveLength(2)
  expect(green.body).toContain('2 of 2 pass.')
  expect(green.texts('main section li')).toEqual(['Night desk'])

  await approve(await correct(seqId, policy.replace('the lead', 'nobody')))
  const red = await curator.get(path)
  expect(red.texts('p.warning')).toEqual([
    expect.stringMatching(/^1 of 2 pass\. A test has failed since [0-9a-f]{12}\.$/),
  ])
  expect(red.texts('tbody tr')[0]).toMatch(/^Who is paged for a VIP ticket\? asked as tool ?fails/)
  expect(red.document.querySelectorAll('svg.chart rect.failed')).toHaveLength(1)
  const home = await curator.get(`/kb/${slug}`)
  expect(home.texts('[aria-labelledby=tests] p')).toEqual([
    expect.stringMatching(/^1 of 2 passed at .* has failed since/),
  ])
})

test('a test that cannot be added is shown again with what was typed', async () => {
  const { curator, newKb, browser } = desk()
  const { slug } = await newKb()
  const path = `/kb/${slug}/tests`
  const refused = await curator.post(path, {
    question: hostile.slice(0, 60),
    retrieves: `${slug}_00000099`,
    refuses: 'false',
  })
  expect(refused.status).toBe(400)
  expect(refused.texts('.problems li')).toEqual([expect.stringContaining(`names no Neuron: ${slug}_00000099`)])
  expect(refused.document.querySelector('[name=question]')?.getAttribute('value')).toBe(hostile.slice(0, 60))
  expect((await curator.post(path, { question: '' })).status).toBe(400)
  const filled = await curator.get(`${path}?question=Why%3F&refuses=false`)
  expect(filled.document.querySelector('[name=question]')?.getAttribute('value')).toBe('Why?')
  const reader = await browser('reader')
  expect((await reader.get(path)).status).toBe(403)
})

test("a candidate's page shows what its approval breaks", async () => {
  const { curator, newKb } = desk()
  const { slug, add, correct } = await newKb()
  const seqId = await add({ title: 'VIP escalation policy', content: policy })
  const candidate = await correct(seqId, policy.replace('the lead', 'nobody'))
  expect((await curator.get(`/queue/${candidate}`)).texts('#effects-title')).toEqual([])
  await curator.post(`/kb/${slug}/tests`, { question: 'Who is paged for a VIP ticket?', contains: 'the lead' })
  const shown = async () => {
    for (;;) {
      const page = await curator.get(`/queue/${candidate}`)
      if (!page.body.includes('They are being run')) return page
    }
  }
  const page = await shown()
  expect(page.texts('[aria-labelledby=effects-title] .warning')).toEqual(['Its approval breaks 1 of 1.'])
  expect(page.texts('[aria-labelledby=effects-title] td')).toEqual([
    expect.stringContaining('page the lead.'),
    expect.stringContaining('page nobody.'),
  ])
})
