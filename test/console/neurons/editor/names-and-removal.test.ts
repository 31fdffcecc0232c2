import { afterAll, beforeAll, expect, test } from 'vitest'
import { writePage } from '../../../../src/pages/write/write-page.ts'
import { candidateIdFor } from '../../../../src/rules/candidates/candidate-id.ts'
import { type Browser, type Console, startConsole } from '../../support.ts'
import { formOf, valueIn } from './forms.ts'

const hostile = `<script>alert(1)</script> "'مرحبا' 🙂`
const form = 'main form[method="post"]'

let console: Console
let curator: Browser
beforeAll(async () => {
  console = await startConsole()
  curator = await console.browser('curator')
})
afterAll(() => console.close())

let made = 0
/** Publishes a page and gives its address. */
async function newPage(title = `Page ${++made}`, content = ''): Promise<string> {
  const { ctx, kbId, tenantId } = console
  const caller = { id: 'user:writer', name: 'Writer', tenantId, role: 'curator', connectors: [] } as const
  const options = { kb: 'handbook', candidateId: candidateIdFor(kbId), publish: true }
  const submitted = await writePage(ctx, caller, { changes: { title, content } }, options)
  if (submitted.status !== 'approved') throw new Error('not published')
  return `/kb/handbook/neurons/${submitted.seqId}`
}

test('a rename is seen before it is done, and its page says that it is done', async () => {
  const title = `Old ${hostile}`
  const path = await newPage(title)
  await newPage('Linking', `See [[${title}]].`)
  const first = await curator.get(`${path}/rename`)
  expect([valueIn(first, 'title'), first.texts('h1')[0]]).toEqual([title, `Rename ${title}`])
  expect(first.document.querySelector(form)).toBeNull()
  const names = new URLSearchParams({ title: 'New', path: 'rules/new' })
  const seen = await curator.get(`${path}/rename?${names}`)
  expect(seen.texts('main del')[0]).toBe(title)
  expect(seen.texts('main ins')).toEqual(['New', 'neurons/rules/new.md'])
  expect(seen.texts('main dd li')).toContain(title)
  expect(seen.document.querySelectorAll('main script')).toHaveLength(0)
  const { status, headers } = await curator.post(`${path}/rename`, formOf(seen, { do: 'publish' }, form))
  expect([status, headers.location]).toEqual([303, `${path}?done=renamed`])
  const page = await curator.get(`${path}?done=renamed`)
  expect([...page.texts('h1'), ...page.texts('.notice')]).toEqual(['New', 'The page has its new name.'])
})

test('a proposed rename waits', async () => {
  const path = await newPage()
  const seen = await curator.get(`${path}/rename?title=Later&path=later`)
  const { status, headers } = await curator.post(`${path}/rename`, formOf(seen, { do: 'propose' }, form))
  expect([status, headers.location]).toEqual([303, `/queue/${formOf(seen, {}, form).candidate}?proposed=1`])
  expect((await curator.get(path)).texts('h1')).not.toEqual(['Later'])
})

test.each([
  ['no title', { title: ' ', path: 'x' }, 'The title must not be blank.'],
  ['no file name', { title: 'X', path: ' ' }, 'The path must not be blank.'],
  ['a path that is taken', { title: 'X', path: 'taken/here' }, 'The path is taken by neurons/taken/here.md.'],
])('%s is refused beside its field', async (_, names, message) => {
  const holder = await newPage()
  await curator.post(
    `${holder}/rename`,
    formOf(await curator.get(`${holder}/rename?title=T&path=taken/here`), { do: 'publish' }, form),
  )
  const page = await curator.get(`${await newPage()}/rename?${new URLSearchParams(names)}`)
  expect([page.status, ...page.texts('.problems li')]).toEqual([422, message])
  expect(valueIn(page, 'title')).toBe(names.title)
})

test('a rename on a version that somebody else has renamed since waits in the queue', async () => {
  const path = await newPage()
  const [one, other] = [
    await curator.get(`${path}/rename?title=One&path=one`),
    await curator.get(`${path}/rename?title=Two&path=${path.slice(-8)}`),
  ]
  await curator.post(`${path}/rename`, formOf(one, { do: 'publish' }, form))
  const page = await curator.post(`${path}/rename`, formOf(other, { do: 'publish' }, form))
  expect(page.status).toBe(422)
  expect(page.texts('.problems li')).toEqual(['The path was changed by somebody else, to neurons/one.md.'])
})

test('a removal shows the links that will lead nowhere, and who removes it can say why', async () => {
  const title = `Gone ${hostile}`
  const path = await newPage(title)
  for (let count = 0; count < 51; count++) await newPage(`Links ${count} ${hostile}`, `[[${title}]]`)
  const seen = await curator.get(`${path}/remove`)
  expect(seen.texts('h1')).toEqual([`Remove ${title}`])
  expect(seen.texts('main ol li')).toHaveLength(50)
  expect(seen.texts('main nav span')).toEqual(['Page 1 of 2'])
  expect((await curator.get(`${path}/remove?part=2`)).texts('main ol li')).toHaveLength(1)
  expect(seen.document.querySelectorAll('main script')).toHaveLength(0)
  const sent = formOf(seen, { do: 'publish', note: 'Out of date.' }, form)
  const { status, headers } = await curator.post(`${path}/remove`, sent)
  expect([status, headers.location]).toEqual([303, `/queue/${sent.candidate}?proposed=1`])
  expect((await curator.get(`${path}/remove`)).status).toBe(404)
  expect((await curator.get(`/queue/${sent.candidate}`)).body).toContain('Out of date.')
})

test('a proposed removal leaves the page', async () => {
  const path = await newPage()
  await curator.post(`${path}/remove`, formOf(await curator.get(`${path}/remove`), { do: 'propose' }, form))
  expect((await curator.get(path)).status).toBe(200)
})

test('a page that was changed since is not removed', async () => {
  const path = await newPage()
  const seen = await curator.get(`${path}/remove`)
  await curator.post(`${path}/edit`, formOf(await curator.get(`${path}/edit`), { content: 'Changed.', do: 'publish' }))
  const page = await curator.post(`${path}/remove`, formOf(seen, { do: 'publish', note: 'kept' }, form))
  expect(page.status).toBe(409)
  expect(page.texts('.warning')[0]).toContain('Somebody has changed this page since you saw it')
  expect(valueIn(page, 'note')).toBe('kept')
  expect((await curator.post(`${path}/remove`, formOf(page, { do: 'publish' }, form))).status).toBe(303)
})

test('what was typed for a page that is removed meanwhile waits on the queue', async () => {
  const path = await newPage()
  const editor = await curator.get(`${path}/edit`)
  await curator.post(`${path}/remove`, formOf(await curator.get(`${path}/remove`), { do: 'publish' }, form))
  const sent = formOf(editor, { content: 'Too late.', do: 'publish' })
  const page = await curator.post(`${path}/edit`, sent)
  expect(page.status).toBe(409)
  expect(page.texts('.warning')[0]).toContain('Somebody has removed this page since you began.')
  expect(valueIn(page, 'content')).toBe('Too late.')
  expect((await curator.get(path)).status).toBe(404)
  expect((await curator.get(`/queue/${sent.candidate}`)).body).toContain('Too late.')
})

test('a removed page says to curators who removed it, and leads to what takes that back', async () => {
  const title = `Lost ${hostile}`
  const path = await newPage(title)
  const name = `Rae "'&amp; 🙂`
  const remover = await console.browser('curator', { email: 'rae@example.com', name })
  await remover.post(`${path}/remove`, formOf(await remover.get(`${path}/remove`), { do: 'publish' }, form))
  const page = await curator.get(path)
  expect([page.status, page.texts('.warning > p')]).toEqual([404, [`This page was removed by ${name} just now.`]])
  expect(page.texts('tbody td:nth-child(4)')).toEqual(['removed', title])
  const undo = page.document.querySelector('.warning form')?.getAttribute('action') ?? ''
  const { headers } = await curator.post(undo)
  const reversal = String(headers.location).replace(/\?.*/, '')
  await curator.post(`${reversal}/approve`, formOf(await curator.get(reversal), {}, '.decide form'))
  expect((await curator.get(path)).texts('h1')).toEqual([title])
})

test('readers are told of a removed page what they are told of one that never was', async () => {
  const path = await newPage()
  await curator.post(`${path}/remove`, formOf(await curator.get(`${path}/remove`), { do: 'publish' }, form))
  const reader = await console.browser('reader')
  const never = path.replace(/\d+$/, '99999999')
  const [removed, absent] = [await reader.get(path), await reader.get(never)]
  const bodyOf = ({ body }: typeof removed) => body.replace(/name="_csrf" value="[^"]*"/g, '')
  expect([removed.status, bodyOf(removed)]).toEqual([404, bodyOf(absent)])
  expect((await curator.get(never)).body).not.toContain('removed')
  const shown = await reader.get(`${path}/history`)
  expect([shown.texts('.warning > p').length, shown.document.querySelector('.warning form')]).toEqual([1, null])
})

test('readers neither rename nor remove', async () => {
  const path = await newPage()
  const reader = await console.browser('reader')
  for (const what of ['rename', 'remove']) {
    expect((await reader.get(`${path}/${what}`)).status).toBe(403)
    expect((await reader.post(`${path}/${what}`, { do: 'publish' })).status).toBe(403)
  }
})
