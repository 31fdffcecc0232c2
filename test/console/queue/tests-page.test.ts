import { expect, test } from 'vitest'
import { chat } from '../../../src/chat/answer-question.ts'
import { submitFeedback } from '../../../src/chat/submit-feedback.ts'
import type { FeedbackInput } from '../../../src/contract/chat.ts'
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
  expect([added.status, added.headers.location]).toEqual([303, `${path}?done=added`])
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

test('what readers think of answers, and what chat refuses, are proposed tests', async () => {
  const { curator, newKb, ctx, tenantId } = desk()
  const { slug, add } = await newKb()
  await add({ title: 'VIP escalation policy', content: policy })
  const app = { id: 'key:app', name: 'App', tenantId, role: 'app', connectors: [] } as const
  const [down, up] = ['Who is paged for a VIP ticket?', 'Who is the lead?']
  const vote = (feedback: Pick<FeedbackInput, 'vote' | 'question'> & { reason?: string }) =>
    submitFeedback(ctx, app, slug, { answer: 'The lead.', ...feedback })
  const first = await vote({ vote: 'down', question: down, reason: 'Since May it is the warden.' })
  await vote({ vote: 'down', question: 'Who is paged for a VIP ticket', reason: 'It is Ada.' })
  await vote({ vote: 'up', question: up })
  const person = { ...app, id: 'user:ada', name: 'Ada', role: 'reader' } as const
  const answering = chat(
    ctx,
    ctx.answerer,
    person,
    {
      ...{ message: 'Which submarine?', history: [], knowledgeBaseId: slug },
      sessionId: undefined,
      audience: undefined,
    },
    AbortSignal.timeout(30_000),
  )
  for await (const _ of answering);

  const queue = await curator.get(`/queue?kb=${slug}`)
  expect(queue.texts('main > p a')).toEqual([expect.stringMatching(/^3 proposed answer tests of/)])
  const path = `/kb/${slug}/tests`
  const shown = await curator.get(path)
  const listed = shown.texts('[aria-labelledby=proposed] li')
  expect(listed.toSorted()).toEqual([
    expect.stringMatching(
      /^Who is paged for a VIP ticket\??\s*A reader did not like the answer: [\s\S]*A reader did not like the answer: /,
    ),
    expect.stringMatching(/^Who is the lead\?\s*A reader liked the answer/),
    expect.stringMatching(/^which submarine\s*refused once/),
  ])
  const form = await curator.get(
    shown.document.querySelector('[aria-labelledby=proposed] li:last-child a.button')?.getAttribute('href') ?? '',
  )
  expect(form.document.querySelector('[name=question][maxlength]')?.getAttribute('value')).toBe('which submarine')

  expect((await curator.post(path, { question: down, contains: 'the warden' })).status).toBe(303)
  const candidate = await curator.get(`/queue/${first.candidateId}`)
  expect(candidate.texts('.steps')[0]).toContain('It became an answer test in tests/answers.yaml.')
  for (const question of ['which submarine', up])
    expect((await curator.post(`${path}/dismiss`, { question })).headers.location).toBe(
      `${path}?done=dismissed#proposed`,
    )
  expect((await curator.get(`${path}?done=dismissed`)).texts('.notice')).toEqual(['The proposed test is dismissed.'])
  expect((await curator.get(path)).texts('[aria-labelledby=proposed] li')).toEqual([])
  expect((await curator.get(`/queue?kb=${slug}`)).texts('[data-entry]')).toEqual([])
})

test('a page that was named for an answer fills in the form, with who sees it', async () => {
  const { curator, newKb, ctx, tenantId } = desk()
  const { slug, add } = await newKb()
  const hidden = await add({ title: 'VIP escalation policy', content: policy, metadata: '{"tags":["internal"]}' })
  const ada = { id: 'user:ada', name: 'Ada', tenantId, role: 'curator', connectors: [] } as const
  const question = 'Who is paged for a VIP ticket?'
  await submitFeedback(ctx, ada, slug, { vote: 'down', question, answer: 'A.', reason: hostile, shouldCite: hidden })
  const path = `/kb/${slug}/tests`
  const shown = await curator.get(path)
  expect(shown.texts('[aria-labelledby=proposed] li')).toEqual([
    expect.stringContaining(` · It should cite ${hidden} `),
  ])
  const link = shown.document.querySelector('[aria-labelledby=proposed] a.button')?.getAttribute('href') ?? ''
  const form = await curator.get(link)
  const typed = Object.fromEntries(
    [...form.document.querySelectorAll('[aria-labelledby=add-title] :is(input, option[selected])')].map((each) => [
      each.getAttribute('name') ?? each.parentElement?.getAttribute('name'),
      each.getAttribute('value'),
    ]),
  )
  expect(typed).toMatchObject({ question, cites: hidden, audience: 'curator', retrieves: '', refuses: '' })
  expect((await curator.post(path, typed)).status).toBe(303)
  const added = await curator.get(path)
  expect(added.texts('tbody tr')).toEqual([expect.stringMatching(/asked as curator\s*passes/)])
  expect(added.texts('[aria-labelledby=proposed] li')).toEqual([])
})
