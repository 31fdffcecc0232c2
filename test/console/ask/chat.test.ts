import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answerer } from '../../../src/chat/answerer.ts'
import { findNeuron } from '../../../src/kb/projection/neuron-queries.ts'
import { commitToMain } from '../../../src/kb/writing/commits.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { candidate, correction } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { type Browser, type Console, startConsole } from '../support.ts'

/** Says the first passage with its citation, and what the question asks it to say. */
const parrot: Answerer = {
  async *answer({ message, passages }) {
    const [passage] = passages
    const cited = passage === undefined ? [] : [passage.seqId]
    const text = `Page the lead. ${cited.map((seqId) => `[${seqId}]`).join(' ')}\n\n${message}\n`
    yield text.slice(0, 5)
    yield text.slice(5)
    return { text, cited, answeredBy: 'parrot' }
  },
}

let console: Console
let curator: Browser
let reader: Browser
let seqId: string
beforeAll(async () => {
  console = await startConsole({ answerer: parrot })
  curator = await console.browser('curator')
  reader = await console.browser('reader')
  seqId = await approve(candidate({ title: 'VIP <i>escalation</i>' }))
})
afterAll(() => console.close())

async function approve(input: Parameters<typeof submitCandidate>[2]): Promise<string> {
  const { ctx, tenantId } = console
  const caller = { id: 'key:test', name: 'Test', tenantId, role: 'curator', connectors: [] } as const
  const { candidateId } = await submitCandidate(ctx, caller, input)
  return (await approveCandidate(ctx, caller, candidateId, {})).seqId
}

const path = '/kb/handbook/chat'

/** Asks without scripts. @returns the page of the conversation. */
async function ask(browser: Browser, message: string, sessionId = ''): Promise<string> {
  const { status, headers } = await browser.post(path, { message, sessionId })
  expect(status).toBe(303)
  return String(headers.location).replace(/#.*$/, '')
}

test('a question is answered on a page of its own, each sentence linked to what it rests on', async () => {
  const page = await curator.get(await ask(curator, 'Who is paged for a VIP ticket?'))
  expect(page.status).toBe(200)
  expect(page.texts('.question p')[0]).toBe('Who is paged for a VIP ticket?')
  const link = page.document.querySelector('.answer a')
  expect([link?.textContent, link?.getAttribute('href')]).toEqual(['1', `/kb/handbook/neurons/${seqId}`])
  const cited = page.document.querySelector('.citations li a')
  expect(cited?.textContent).toBe('VIP <i>escalation</i>')
  expect(cited?.getAttribute('href')).toMatch(new RegExp(`^/kb/handbook/neurons/${seqId}\\?at=[0-9a-f]{40}$`))
  expect(page.texts('.citations code')[0]).toMatch(new RegExp(`^${seqId}@[0-9a-f]{12}$`))
  expect(page.document.querySelector('main i')).toBeNull()
})

test('a conversation goes on, and stands among the past ones of its person only', async () => {
  const first = await ask(curator, 'Who is paged for VIP, first?')
  const id = first.split('/').at(-1) ?? ''
  expect(await ask(curator, 'And who else?', id)).toBe(first)
  const page = await curator.get(first)
  expect(page.texts('.question .verbatim')).toEqual(['Who is paged for VIP, first?', 'And who else?'])
  expect(page.texts('.past a[aria-current]')).toEqual(['Who is paged for VIP, first?'])
  expect(page.texts('.past li')[0]).toBe('Who is paged for VIP, first? 2 questions, just now')
  const other = await console.browser('curator', { email: 'other@example.com' })
  expect((await other.get(path)).texts('.past li')).toEqual([])
  expect((await other.get(first)).status).toBe(404)
  expect((await other.post(path, { message: 'Mine?', sessionId: id })).status).toBe(404)
  expect((await other.post(`${first}/delete`)).status).toBe(404)
  expect((await curator.get(first)).status).toBe(200)
})

test('what a model makes up is inert: markup, links with other schemes, pictures, citations', async () => {
  const hostile =
    '<script>alert(1)</script> [a](javascript:alert(1)) ![b](https://evil.example/x.png) <img src=x onerror=alert(1)> [handbook_00009999] [[handbook_00009999]]'
  const page = await curator.get(await ask(curator, hostile))
  expect(
    page.document.querySelectorAll('main script, main img, main [onerror], main a[href^="javascript"]'),
  ).toHaveLength(0)
  expect(page.texts('.question .verbatim')).toEqual([hostile])
  const links = [...page.document.querySelectorAll('.answer a[href]')].map((link) => link.getAttribute('href'))
  expect(links.filter((href) => href?.includes('00009999'))).toEqual([])
})

test('with scripts, the answer comes in pieces and then whole, as the page shows it', async () => {
  const headers = {
    ...curator.headers,
    accept: 'text/event-stream',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const payload = String(new URLSearchParams({ message: 'Who is paged for VIP, streamed?' }))
  const { statusCode, body, headers: told } = await console.app.inject({ method: 'POST', url: path, headers, payload })
  expect([statusCode, told['content-type']]).toEqual([200, 'text/event-stream'])
  const events = body.split('\n\n').filter((block) => block.startsWith('event:'))
  expect(events.map((event) => /^event: (\w+)/.exec(event)?.[1])).toEqual(['delta', 'delta', 'done'])
  const done = JSON.parse(/^data: (.*)$/m.exec(events.at(-1) ?? '')?.[1] ?? '')
  expect(done.url).toBe(`${path}/${done.sessionId}`)
  const page = await curator.get(done.url)
  const textOf = (html: string) => parseHTML(html).document.documentElement.textContent.replace(/\s+/g, ' ').trim()
  expect(textOf(done.html)).toBe(page.texts('.turn')[0])
  expect(done.html).toContain('class="citations"')
})

test.each([
  ['none', '  ', 'Write a question.'],
  ['one that is too long', 'x'.repeat(8001), 'At most 8000 characters.'],
])('%s is refused beside the field, and what was typed is kept', async (_, message, problem) => {
  const page = await curator.post(path, { message })
  expect(page.status).toBe(400)
  expect(page.texts('.problems li')).toEqual([problem])
  expect(page.document.querySelector('textarea')?.textContent?.trim()).toBe(message.trim())
})

test('a thumb up is one candidate, however often it is pressed', async () => {
  const page = await curator.get(await ask(curator, 'Who is paged, thumb?'))
  const action = page.document.querySelector('.opinion form')?.getAttribute('action') ?? ''
  const before = await feedbackCount()
  for (let times = 0; times < 3; times++) {
    const answer = await curator.post(action, { vote: 'up' })
    expect(answer.status).toBe(303)
    expect((await curator.get(String(answer.headers.location))).texts('.notice')).toEqual([
      'Thank you. A curator will read it.',
    ])
  }
  expect((await feedbackCount()) - before).toBe(1)
})

test('a thumb down needs a reason, which is kept where it is refused', async () => {
  const page = await reader.get(await ask(reader, 'Who is paged, down?'))
  const link = page.document.querySelector('.opinion a')?.getAttribute('href') ?? ''
  const asked = await reader.get(link)
  expect(asked.texts('h1')).toEqual(['What is wrong with this answer?'])
  const before = await feedbackCount()
  const refused = await reader.post(link, { vote: 'down', reason: ' ', category: 'tone' })
  expect(refused.status).toBe(400)
  expect(refused.texts('.problems li')).toEqual(['Say what is wrong, so that it can be mended.'])
  expect(refused.document.querySelector('option[selected]')?.getAttribute('value')).toBe('tone')
  expect(await feedbackCount()).toBe(before)
  const reason = '</textarea><script>alert(1)</script>'
  expect((await reader.post(link, { vote: 'flag', reason, category: '' })).status).toBe(303)
  expect((await reader.post(link, { vote: 'flag', reason: `${reason} and more`, category: '' })).status).toBe(303)
  const again = await reader.post(link, { vote: 'flag', reason: '', category: '' })
  expect([again.status, again.document.querySelector('main script')]).toEqual([400, null])
  expect(await feedbackCount()).toBe(before + 1)
  expect((await curator.get('/kb/handbook/tests')).texts('#proposed ~ ul > li').join()).toContain(`${reason} and more`)
})

test('who names another page to cite proposes a test, and may think again', async () => {
  await approve(candidate({ title: 'Warden', content: 'At night the warden is paged.' }))
  const page = await curator.get(await ask(curator, 'Who is paged, cite?'))
  const link = page.document.querySelector('.opinion a')?.getAttribute('href') ?? ''
  const form = await curator.get(link)
  const pages = [...form.document.querySelectorAll('datalist option')].map((each) => each.getAttribute('value') ?? '')
  const [first = '', second = ''] = pages
  expect(pages.length).toBeGreaterThan(1)
  const typed = { vote: 'down', reason: 'It is an old page.', category: '' }
  const refused = await curator.post(link, { ...typed, shouldCite: 'VIPs' })
  expect([refused.status, ...refused.texts('.problems li')]).toEqual([400, 'The seqId names no Neuron that you see.'])
  expect(refused.document.querySelector('[name=shouldCite]')?.getAttribute('value')).toBe('VIPs')

  const before = await feedbackCount()
  const proposed = async () => {
    const tests = await curator.get('/kb/handbook/tests')
    const item = [...tests.document.querySelectorAll('#proposed ~ ul > li')].find((each) =>
      each.textContent?.includes('Who is paged, cite?'),
    )
    return new URL(item?.querySelector('a.button')?.getAttribute('href') ?? '', 'http://x').searchParams.get('cites')
  }
  for (const shouldCite of [first, second, first]) {
    for (let times = 0; times < 2; times++)
      expect((await curator.post(link, { ...typed, shouldCite: ` ${shouldCite} ` })).status).toBe(303)
    expect([await feedbackCount(), await proposed()]).toEqual([before + 1, shouldCite])
  }
})

test('a conversation is deleted once that is confirmed', async () => {
  const chat = await ask(curator, 'To be deleted?')
  expect((await curator.get(`${chat}/delete`)).texts('main q')).toEqual(['To be deleted?'])
  const answer = await curator.post(`${chat}/delete`)
  expect([answer.status, answer.headers.location]).toEqual([303, `${path}?done=deleted`])
  const page = await curator.get(`${path}?done=deleted`)
  expect(page.texts('.notice')).toEqual(['The conversation is deleted.'])
  expect(page.texts('.past a')).not.toContain('To be deleted?')
  expect((await curator.get(chat)).status).toBe(404)
})

test('an answer that rests on what its person may not read any more is left out', async () => {
  const secret = await approve(
    candidate({ title: 'Unicorn stable', content: 'The unicorn stable is behind the office.' }),
  )
  const chat = await ask(reader, 'Where is the unicorn stable?')
  expect((await reader.get(chat)).texts('.citations li')[0]).toContain(secret)
  await approve(correction(secret, 'Gone.', { metadata: JSON.stringify({ targetNeuron: secret, tags: ['internal'] }) }))
  const page = await reader.get(chat)
  expect(page.texts('.turn .warning')[0]).toMatch('The answer is based on a page that you may not read')
  expect(page.body).not.toContain(secret)
  expect(page.texts('.opinion')).toEqual([])
})

test('what an answer rests on leads to the page of the Source, for those who may see that', async () => {
  const { kbId, ctx } = console
  const open = await addSource(ctx, { kbId, filename: '"><b>vip.pdf', fileType: 'pdf', status: 'success' })
  const hidden = await addSource(ctx, {
    kbId,
    filename: 'hr.pdf',
    fileType: 'pdf',
    status: 'success',
    tags: 'internal',
  })
  const made = await approve(candidate({ title: 'Zebra rules', content: 'Zebras cross slowly.' }))
  const [identity] = await ctx.knowledgeBases.list()
  if (identity === undefined) throw new Error('no knowledge base')
  const kb = await ctx.kbs.open(identity)
  const neuron = findNeuron(kb.projection.read, made)
  if (neuron === undefined) throw new Error('no Neuron')
  const text = await kb.repository.readText(neuron.blob)
  const sources = `sources:\n  - { id: ${open.id}, filename: vip.pdf, page: "5-9" }\n  - { id: ${hidden.id}, filename: hr.pdf }\n`
  await kb.write((staging) =>
    commitToMain(kb, staging, {
      decided: { operator: { id: 'cli', name: 'Operator' } },
      files: new Map([[neuron.path, text.replace(/\n---\n/, `\n${sources}---\n`)]]),
      subject: 'Name the Sources',
      at: new Date(),
    }),
  )
  const page = await reader.get(await ask(reader, 'How do zebras cross?'))
  const links = [...page.document.querySelectorAll('.citations small a')]
  expect(links.map((link) => [link.textContent, link.getAttribute('href')])).toEqual([
    ['"><b>vip.pdf, pages 5–9', `/kb/handbook/sources/${open.id}?page=5#page-5`],
  ])
})

async function feedbackCount(): Promise<number> {
  const { body } = await console.app.inject({
    url: '/api/v1/queue/candidates?kind=reader-feedback&limit=100',
    headers: { ...curator.headers, accept: 'application/json' },
  })
  return JSON.parse(body).candidates.length
}
