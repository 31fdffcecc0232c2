import { afterAll, beforeAll, expect, test } from 'vitest'
import { candidateIdFor } from '../../../../src/rules/candidates/candidate-id.ts'
import { conflictMarks } from '../../../../src/rules/neurons/merge.ts'
import { type Browser, type Console, startConsole, visit } from '../../support.ts'
import { formOf, valueIn } from './forms.ts'

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)> 'مرحبا' 🙂 javascript:alert(3)`

let console: Console
let curator: Browser

beforeAll(async () => {
  console = await startConsole()
  curator = await console.browser('curator', { name: 'Ada <b>' })
})
afterAll(() => console.close())

let written = 0
/** Publishes a new page and gives its address. */
async function newPage(fields: Record<string, string> = {}): Promise<{ seqId: string; edit: string }> {
  const blank = await curator.get('/kb/handbook/new')
  const sent = formOf(blank, {
    title: `Page ${++written}`,
    content: 'One.\n\nTwo.\n\nThree.',
    ...fields,
    do: 'publish',
  })
  const { status, headers, body } = await curator.post('/kb/handbook/new', sent)
  const [, seqId] = /^\/kb\/handbook\/neurons\/(handbook_\d{8})\?done=published$/.exec(String(headers.location)) ?? []
  if (status !== 303 || seqId === undefined) throw new Error(`${status} ${body}`)
  return { seqId, edit: `/kb/handbook/neurons/${seqId}/edit` }
}

test('a new page is published, and its editor shows what was typed', async () => {
  const { edit } = await newPage({
    title: `New ${hostile}`,
    content: hostile,
    tags: 'a, #b, ü 🙂',
    aliases: `First\n${hostile}`,
    edges: `supersedes: Old ${hostile}\n\ncites:Other`,
    audience: 'listed',
    readers: 'student',
  })
  const page = await curator.get(edit)
  expect(page.texts('h1')).toEqual([`Edit New ${hostile}`])
  expect(valueIn(page, 'title')).toBe(`New ${hostile}`)
  expect(valueIn(page, 'content')).toBe(hostile)
  expect(valueIn(page, 'tags')).toBe('a, b, ü 🙂')
  expect(valueIn(page, 'aliases')).toBe(`First\n${hostile}`)
  expect(valueIn(page, 'edges')).toBe(`supersedes: Old ${hostile}\ncites: Other`)
  expect(page.document.querySelector('#reader-student')?.hasAttribute('checked')).toBe(true)
  expect(page.document.querySelector('#reader-tool')?.hasAttribute('checked')).toBe(false)
  expect(page.document.querySelectorAll('main script, main img')).toHaveLength(0)
})

test('every control has a label, and Enter in a field previews', async () => {
  const page = await curator.get((await newPage()).edit)
  for (const control of page.document.querySelectorAll('form[data-editor] :is(input:not([type=hidden]), textarea)')) {
    expect(page.document.querySelector(`label[for="${control.id}"]`)?.textContent.trim()).toBeTruthy()
  }
  expect(page.texts('form[data-editor] button')).toEqual(['Preview', 'Propose', 'Publish'])
  expect(page.texts('h1')).toHaveLength(1)
})

test('a proposal goes to the queue, with what it says to reviewers, and leaves the page', async () => {
  const { edit } = await newPage()
  const sent = formOf(await curator.get(edit), {
    content: 'One.\r\n\r\n2.\r\n\r\nThree.',
    note: `Why ${hostile}`,
    do: 'propose',
  })
  const { status, headers } = await curator.post(edit, sent)
  expect([status, headers.location]).toEqual([303, `/queue/${sent.candidate}?proposed=1`])
  expect(valueIn(await curator.get(edit), 'content')).toBe('One.\n\nTwo.\n\nThree.')
  const answer = await console.app.inject({
    url: `/api/v1/queue/candidates/${sent.candidate}`,
    headers: curator.headers,
  })
  expect(answer.json()).toMatchObject({
    status: 'pending',
    connector: 'console',
    createdBy: 'Ada <b>',
    decisions: [{ action: 'comment', reason: `Why ${hostile}` }],
    after: expect.stringContaining('2.'),
  })
  expect((await console.app.inject({ url: `/edits/${sent.candidate}`, headers: curator.headers })).json()).toEqual({
    isSubmitted: true,
  })
})

test('a preview shows the text, what is wrong with it, and all that was typed', async () => {
  const { edit } = await newPage()
  const typed = {
    title: 'Other',
    content: `# A\r\n\r\n[[Nowhere]] ${hostile}`,
    tags: 'x',
    edges: 'hates: You',
    note: 'n',
  }
  const page = await curator.post(`${edit}/preview`, formOf(await curator.get(edit), typed))
  expect(page.status).toBe(200)
  expect(page.texts('#beside > h2')).toEqual(['Findings (3)', 'Preview'])
  expect(page.texts('#beside .findings li')).toEqual([
    'Line 1 of the relations must be a type and a page, as in “supersedes: Old policy”.',
    'Warning Line 3: No Neuron answers to [[Nowhere]].',
    'Warning Line 3: No Neuron answers to the link to x.',
  ])
  expect(page.document.querySelector('#beside [data-line="3"]')?.getAttribute('href')).toBe('#field-content')
  expect(page.texts('#beside .content h2')).toEqual(['A'])
  expect(page.document.querySelectorAll('main script, main [onerror], main [href^="javascript:"]')).toHaveLength(0)
  expect(formOf(page)).toMatchObject({ ...typed, content: typed.content })
  expect(valueIn(await curator.get(edit), 'content')).toBe('One.\n\nTwo.\n\nThree.')
})

test('a script gets the preview alone', async () => {
  const { edit } = await newPage()
  const part = await curator.post(`${edit}/preview`, formOf(await curator.get(edit)), { 'hx-request': 'true' })
  expect(part.body).not.toContain('<html')
  expect(part.texts('h2')).toEqual(['Findings', 'Preview'])
  expect(part.texts('.content p')).toEqual(['One.', 'Two.', 'Three.'])
})

test.each([
  ['a blank title', { title: ' ' }, 'The title must not be blank.'],
  ['a title that is too long', { title: 'x'.repeat(501) }, 'The title must be at most 500 characters.'],
  [
    'a text that is too large',
    { content: 'x'.repeat(512 * 1024 + 1) },
    'The text must be at most 512 KB, with the pictures in it.',
  ],
  ['a relation of no type', { edges: 'Old policy' }, 'Line 1 of the relations must be a type'],
  ['a tag that is too long', { tags: 'x'.repeat(101) }, 'The tags must be at most 100 characters each.'],
  ['marks of a conflict', { content: '<<<<<<< a\nx\n=======\ny\n>>>>>>> b' }, 'Line 1: '],
  ['a path that is taken', { path: 'taken' }, 'The path is taken by neurons/taken.md.'],
])('%s is refused beside its field, and nothing typed is lost', async (_, typed, message) => {
  if ('path' in typed) await newPage({ path: 'taken' }).catch(() => undefined)
  const fields = { title: 'Title', content: 'Kept.', tags: 'kept', note: 'kept', ...typed }
  const page = await curator.post(
    '/kb/handbook/new',
    formOf(await curator.get('/kb/handbook/new'), { ...fields, do: 'publish' }),
  )
  expect(page.status).toBe(422)
  expect(page.texts('.problems li').join()).toContain(message)
  const [name = ''] = Object.keys(typed)
  expect(page.document.querySelector(`[name="${name}"]`)?.getAttribute('aria-invalid')).toBe('true')
  expect(formOf(page)).toMatchObject(
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, value.replace(/\n/g, '\r\n')])),
  )
})

test('a field that is not sent stays as it is, so that nothing shows a page to more readers by accident', async () => {
  const { edit } = await newPage({ tags: 'internal, a', audience: 'listed', aliases: 'Other' })
  const { base, candidate } = formOf(await curator.get(edit))
  const sent = { base: base ?? '', candidate: candidate ?? '', content: 'Only the text.', do: 'publish' }
  expect((await curator.post(edit, sent)).status).toBe(303)
  const after = formOf(await curator.get(edit))
  expect(after).toMatchObject({ content: 'Only the text.', tags: 'internal, a', aliases: 'Other', audience: 'listed' })
  expect(after).not.toHaveProperty('readers')
})

test('an edit that changes nothing says so', async () => {
  const { edit } = await newPage()
  const page = await curator.post(edit, formOf(await curator.get(edit), { do: 'publish' }))
  expect([page.status, ...page.texts('.problems li')]).toEqual([422, 'Nothing is changed.'])
})

test('what two people changed in different places is merged', async () => {
  const { edit } = await newPage()
  const before = await curator.get(edit)
  await curator.post(edit, formOf(before, { content: 'One!\n\nTwo.\n\nThree.', tags: 'new', do: 'publish' }))
  const candidate = candidateIdFor(console.kbId)
  const preview = await curator.post(
    `${edit}/preview`,
    formOf(before, { content: 'One.\n\nTwo.\n\nThree!', candidate }),
  )
  expect(preview.texts('#beside .warning')).toEqual([
    'Somebody has changed this page since you began. What you write is merged with it.',
  ])
  const { status } = await curator.post(edit, formOf(preview, { do: 'publish' }))
  expect(status).toBe(303)
  const after = await curator.get(edit)
  expect([valueIn(after, 'content'), valueIn(after, 'tags')]).toEqual(['One!\n\nTwo.\n\nThree!', 'new'])
})

test('a conflict shows both texts, keeps what was typed, and is solved in the editor', async () => {
  const { edit } = await newPage()
  const before = await curator.get(edit)
  await curator.post(
    edit,
    formOf(before, { title: 'Theirs', content: 'First.\n\nTheirs.\n\nThree.', tags: 't', do: 'publish' }),
  )
  const candidate = candidateIdFor(console.kbId)
  const mine = { title: 'Mine', content: 'One.\n\nMine.\n\nThree.\n\nFour.', candidate, do: 'publish' }
  const page = await curator.post(edit, formOf(before, mine))
  expect(page.status).toBe(409)
  expect(page.texts('.conflict h3')).toEqual(['Title', 'From line 3 of the present text'])
  expect(page.texts('.conflict pre')).toEqual(['Theirs', 'Mine', 'Theirs.', 'Mine.'])
  expect(page.document.querySelector('.warning a')?.getAttribute('href')).toBe(`/queue/${candidate}`)
  expect(valueIn(page, 'title')).toBe('Mine')
  const { current, base, proposed, end } = conflictMarks
  const marked = [current, 'Theirs.', base, 'Two.', proposed, 'Mine.', end].join('\n')
  expect(valueIn(page, 'content')).toBe(`First.\n\n${marked}\n\nThree.\n\nFour.`)
  expect((await curator.post(edit, formOf(page, { do: 'publish' }))).status).toBe(422)
  expect(valueIn(page, 'tags')).toBe('t')
  const { status } = await curator.post(
    edit,
    formOf(page, { content: 'First.\n\nBoth.\n\nThree.\n\nFour.', do: 'publish' }),
  )
  expect(status).toBe(303)
  expect(valueIn(await curator.get(edit), 'content')).toBe('First.\n\nBoth.\n\nThree.\n\nFour.')
})

test('a form that is sent twice publishes once', async () => {
  const { edit, seqId } = await newPage()
  const sent = formOf(await curator.get(edit), { content: 'Twice.', do: 'publish' })
  const answers = await Promise.all([curator.post(edit, sent), curator.post(edit, sent)])
  expect(answers.map(({ status }) => status)).toEqual([303, 303])
  const neuron = await console.app.inject({ url: `/api/v1/neurons/handbook/${seqId}`, headers: curator.headers })
  expect(neuron.json().version).toBe(2)
})

test('a post after the end of the session shows what was typed, and goes on after signing in', async () => {
  const { edit } = await newPage()
  const typed = {
    content: `Typed ${hostile}\r\n\r\nMore.`,
    title: 'Kept',
    readers: ['tool', 'student'],
    audience: 'listed',
  }
  const sent = formOf(await curator.get(edit), { ...typed, do: 'publish' })
  const payload = new URLSearchParams(
    Object.entries(sent).flatMap(([name, values]) => [values].flat().map((value) => [name, value])),
  ).toString()
  // Without the cookie, too: signing out in another tab has removed it.
  const ended = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const kept = await visit(console.app, { method: 'POST', url: edit, headers: { ...ended, ...type }, payload })
  expect([kept.status, ...kept.texts('h1')]).toEqual([401, 'You were signed out'])
  expect(kept.document.querySelectorAll('main script')).toHaveLength(0)
  const form = kept.document.querySelector('form')
  expect(form?.getAttribute('action')).toBe(`${edit}/preview`)
  const again = formOf(kept, {}, 'form')
  expect(again).not.toHaveProperty('do')
  expect(form?.querySelector('[name="_csrf"]')).toBeNull()
  const back = await curator.post(`${edit}/preview`, { ...again, readers: typed.readers, _csrf: '' })
  expect(back.status).toBe(200)
  expect(formOf(back)).toMatchObject({ title: 'Kept', content: typed.content })
  expect(back.document.querySelector('#reader-student')?.hasAttribute('checked')).toBe(true)
  expect(valueIn(await curator.get(edit), 'title')).not.toBe('Kept')
})

test('a form of an earlier session is shown again, not written', async () => {
  const { edit } = await newPage()
  const page = await curator.post(edit, {
    ...formOf(await curator.get(edit), { content: 'Kept.', do: 'publish' }),
    _csrf: 'old-old',
  })
  expect([page.status, ...page.texts('h1')]).toEqual([403, 'You were signed out'])
  expect(page.texts('textarea')).toEqual(['Kept.'])
})

test.each([
  ['of another site', { 'sec-fetch-site': 'cross-site' }],
  ['of a program', { 'sec-fetch-site': '', cookie: '' }],
])('a post %s is not shown again', async (_, headers) => {
  const { edit } = await newPage()
  const page = await curator.post(`${edit}/preview`, { content: 'Planted.' }, headers)
  expect(page.status).toBeGreaterThanOrEqual(401)
  expect(page.body).not.toContain('Planted')
})

test('readers write nothing, and see no editor', async () => {
  const { edit } = await newPage()
  const reader = await console.browser('reader')
  for (const path of [edit, '/kb/handbook/new', '/kb/handbook/complete?kind=tag&q=']) {
    expect((await reader.get(path)).status).toBe(403)
  }
  expect((await reader.post(edit, { content: 'x', do: 'publish' })).status).toBe(403)
  expect((await reader.post(`${edit}/preview`, { content: 'x' })).status).toBe(403)
})

test('what another tenant has is not there', async () => {
  const { edit } = await newPage()
  const stranger = await console.browser('curator', { tenant: 'other', email: 'stranger@example.com' })
  for (const path of [edit, '/kb/handbook/new', '/kb/handbook/complete?kind=tag&q=']) {
    expect((await stranger.get(path)).status).toBe(404)
  }
  expect((await curator.get('/kb/handbook/neurons/handbook_99999999/edit')).status).toBe(404)
})

test('a new page begins with a title and a folder that are given', async () => {
  const page = await curator.get(`/kb/handbook/new?title=${encodeURIComponent(hostile)}&folder=guides`)
  expect([valueIn(page, 'title'), valueIn(page, 'path')]).toEqual([hostile, 'guides/'])
})

test('names are completed as JSON', async () => {
  await newPage({ title: 'Completed page', tags: 'Zebra' })
  const ask = async (query: string) =>
    (await console.app.inject({ url: `/kb/handbook/complete?${query}`, headers: curator.headers })).json()
  expect(await ask('kind=link&q=compl')).toEqual({
    found: [{ text: 'Completed page', hint: expect.stringMatching(/^\d{4}\/\d\d\/$/) }],
  })
  expect(await ask('kind=tag&q=zeb')).toEqual({ found: [{ text: 'Zebra' }] })
})
