import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { sourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { type Browser, type Console, type Page, startConsole, visit } from '../support.ts'

let console: Console
let curator: Browser
let reader: Browser
beforeAll(async () => {
  console = await startConsole()
  curator = await console.browser('curator', { name: 'Ada <b>' })
  reader = await console.browser('reader')
})
afterAll(() => console.close())

const boundary = 'form-boundary'
type Part = { name: string; value: string; filename?: string }

/** Sends a form with a file as a browser without scripts does. */
async function postForm(
  browser: Browser,
  path: string,
  parts: readonly Part[],
  token = browser.headers['x-csrf-token'],
) {
  const { 'x-csrf-token': _, ...headers } = browser.headers
  const body = [{ name: '_csrf', value: token ?? '' }, ...parts]
    .map(({ name, value, ...part }) => {
      const file = 'filename' in part ? `; filename="${part.filename}"\r\ncontent-type: application/octet-stream` : ''
      return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
    })
    .join('')
  return visit(console.app, {
    ...{ method: 'POST' as const, url: path, payload: `${body}--${boundary}--\r\n` },
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
}

const file = (filename: string, value: string): Part => ({ name: 'file', filename, value })
const list = '/kb/handbook/sources'

async function uploaded(filename: string, text: string, more: readonly Part[] = []): Promise<string> {
  const answer = await postForm(curator, list, [...more, file(filename, text)])
  expect(answer.status).toBe(303)
  return String(answer.headers.location).replace(/\?.*$/, '')
}

test('a file is uploaded by a plain form, and stands in the list', async () => {
  const path = await uploaded('vip.md', '# VIP\n\nPage the lead.\n', [{ name: 'path', value: '/hr' }])
  const source = await curator.get(`${path}?done=uploaded`)
  expect(source.status).toBe(200)
  expect(source.texts('h1')).toEqual(['vip.md'])
  expect(source.texts('.notice')).toEqual(['Uploaded. Its pages come once it is read.'])
  expect(source.texts('dd')).toEqual(expect.arrayContaining(['/hr', '.md, 22 bytes']))
  const row = (await curator.get(list)).texts('tbody tr').find((text) => text.includes('vip.md'))
  expect(row).toBe('vip.md /hr Waiting to be made into pages 22 bytes just now')
})

test('a form that is not ours uploads nothing', async () => {
  for (const token of ['', 'made-up-token', reader.headers['x-csrf-token']]) {
    expect((await postForm(curator, list, [file('stolen.md', 'x')], token)).status).toBe(403)
  }
  expect((await curator.get(`${list}?text=stolen`)).texts('.empty')[0]).toMatch('No Source matches. Show all')
})

test.each([
  ['no file', file('', ''), 'Choose a file.'],
  ['a type that is not taken', file('a.exe', 'x'), 'File type .exe not allowed'],
  ['a name with a slash', file('a/../b.md', 'x'), "The file's name must not hold slashes or control characters."],
])('%s is refused beside the field, and what was typed is kept', async (_, part, problem) => {
  const fields = [
    { name: 'path', value: '/kept' },
    { name: 'replace', value: 'true' },
  ]
  const page = await postForm(curator, list, [...fields, part])
  expect(page.status).toBe(400)
  expect(page.texts('.problems li')).toEqual([problem])
  expect(page.texts('#field-file-error')).toEqual([problem.replace('file: ', '')])
  expect(page.document.querySelector('input[name=path]')?.getAttribute('value')).toBe('/kept')
  expect(page.document.querySelector('input[name=replace]')?.hasAttribute('checked')).toBe(true)
})

test('a folder that cannot be is refused', async () => {
  const page = await postForm(curator, list, [{ name: 'path', value: '../x' }, file('a.md', 'x')])
  expect(page.status).toBe(400)
  expect(page.texts('#field-path-error')).toHaveLength(1)
})

test('the same bytes are refused with a link to where they are, and taken when asked again', async () => {
  const path = await uploaded('twice.md', 'Twice.')
  const page = await postForm(curator, list, [file('copy.md', 'Twice.')])
  expect(page.status).toBe(409)
  expect(page.document.querySelector(`a[href="${path}"]`)?.textContent).toBe('twice.md')
  const copy = await uploaded('copy.md', 'Twice.', [{ name: 'force', value: 'true' }])
  expect(copy).not.toBe(path)
})

test('a new edition takes the name of the one before, and another type is refused', async () => {
  const path = await uploaded('rules.md', 'One.', [{ name: 'path', value: '/rules' }])
  const refused = await postForm(curator, `${path}/replace`, [file('rules.pdf', 'x')])
  expect(refused.status).toBe(400)
  expect(refused.texts('.problems li')).toEqual(['Choose a .md file, as the edition before is one.'])
  expect(refused.document.querySelector('details.replace')?.hasAttribute('open')).toBe(true)
  const answer = await postForm(curator, `${path}/replace`, [file('rules (2).MD', 'Two.')])
  expect(answer.status).toBe(303)
  const page = await curator.get(String(answer.headers.location))
  expect(page.texts('h1')).toEqual(['rules.md'])
  expect(page.texts('#editions + .scroll tbody tr')).toHaveLength(2)
  expect(page.texts('#editions + .scroll td')[1]).toBe('Ada <b>')
})

test('a Source is archived once that is confirmed', async () => {
  const path = await uploaded('old.md', 'Old.')
  const asked = await curator.get(`${path}/archive`)
  expect(asked.texts('h1')).toEqual(['Archive old.md?'])
  expect((await curator.get(path)).texts('h1')).toEqual(['old.md'])
  const answer = await curator.post(`${path}/archive`)
  expect([answer.status, answer.headers.location]).toEqual([303, `${list}?done=archived`])
  expect((await curator.get(`${list}?done=archived`)).texts('.notice')).toEqual(['The Source is archived.'])
  expect((await curator.get(`${list}?text=old`)).texts('tbody tr')).toEqual([])
  expect((await curator.get(path)).texts('main .warning')[0]).toMatch('Archived')
})

test('the bytes are to be saved, never shown', async () => {
  const path = await uploaded('page.html', '<script>alert(1)</script>')
  const { status, headers, body } = await curator.get(`${path}/file`)
  expect([status, body]).toEqual([200, '<script>alert(1)</script>'])
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(/^attachment; filename=page.html/),
    'content-security-policy': expect.stringContaining('sandbox'),
  })
})

test('what failed says why, and may be tried again', async () => {
  const { kbId, ctx } = console
  const errorMessage = 'The file is <b>password-protected</b>.'
  const { id } = await addSource(ctx, {
    kbId,
    filename: 'locked.pdf',
    fileType: 'pdf',
    status: 'failed',
    errorMessage,
  })
  const page = await curator.get(`${list}/${id}`)
  expect(page.texts('main p.problems')).toEqual([errorMessage])
  expect(page.document.querySelector('main b')).toBeNull()
  expect(page.texts('.actions button')).toContain('Try again')
  expect((await curator.get(`${list}?status=failed`)).texts('tbody th')).toEqual(['locked.pdf'])
  await ctx.jobs.cancel(id)
  const answer = await curator.post(`${list}/${id}/ingest`)
  expect([answer.status, answer.headers.location]).toEqual([303, `${list}/${id}?done=ingest`])
  expect((await curator.get(`${list}/${id}?done=ingest`)).texts('.badge')).toEqual(['Being read'])
  expect((await curator.post(`${list}/${id}/ingest`)).status).toBe(409)
})

test('filters keep what is asked for, and say when nothing fits', async () => {
  const page = await curator.get(`${list}?text=%22%3E%3Cscript%3E&status=failed&type=pdf`)
  expect(page.document.querySelector('main script')).toBeNull()
  expect(page.document.querySelector('input[name=text]')?.getAttribute('value')).toBe('"><script>')
  expect(page.document.querySelector('input[name=status]')?.getAttribute('value')).toBe('failed')
  expect(page.texts('.chip.active')).toEqual(['Status: Failed', 'Type: .pdf'])
  const others = [...page.document.querySelectorAll('.menu-list a')].map((link) => link.getAttribute('href'))
  expect(others).toContain(`${list}?text=%22%3E%3Cscript%3E&status=success&type=pdf`)
  expect(others).toContain(`${list}?text=%22%3E%3Cscript%3E&type=pdf`)
  expect(page.texts('.empty')).toEqual(['No Source matches. Show all'])
  expect((await curator.get(`${list}?text=&status=&type=&folder=`)).texts('tbody tr').length).toBeGreaterThan(0)
  expect((await curator.get(`${list}?status=nonsense`)).status).toBe(400)
})

test('long lists are paged', async () => {
  const { kbId, ctx } = console
  for (let number = 0; number < 51; number++) await addSource(ctx, { kbId, path: '/many', filename: `n${number}.md` })
  const first = await curator.get(`${list}?folder=/many`)
  expect(first.texts('tbody tr')).toHaveLength(50)
  const next = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? ''
  const second = await curator.get(next)
  expect(second.texts('tbody th')).toEqual(['n0.md /many'])
  expect(second.document.querySelector('a[rel=next]')).toBeNull()
})

test('the text stands there as text, with the pages of its original', async () => {
  const { kbId, ctx } = console
  const source = await addSource(ctx, {
    kbId,
    filename: '"><img src=x onerror=alert(1)>.pdf',
    fileType: 'pdf',
    status: 'success',
  })
  const hostile = '# <script>alert(1)</script> [x](javascript:alert(1))\n'
  const markdown = `${hostile}${'x'.repeat(23_000)}\nsecond\n`
  const anchors = [
    { line: 1, page: 4 },
    { line: 3, page: 5 },
  ]
  await sourceTexts(ctx).keep(source, {
    title: undefined,
    markdown: markdown + 'y'.repeat(20_000),
    anchors,
    warnings: [],
  })
  const change = { extractedAt: new Date().toISOString(), warnings: ['The text of <i>2</i> pictures was left out.'] }
  await ctx.sources.change(source.id, ['success'], change)
  const page = await curator.get(`${list}/${source.id}`)
  expect(page.document.querySelectorAll('main script, main img, main i, main a[href^="javascript"]')).toHaveLength(0)
  expect(page.texts('h1')).toEqual(['"><img src=x onerror=alert(1)>.pdf'])
  expect(page.document.querySelector('#page-4 + .verbatim')?.textContent).toContain(hostile)
  expect(page.texts('section.warning li')).toEqual(['The text of <i>2</i> pictures was left out.'])
  expect(page.texts('#warnings')).toEqual(['What was left out, or is to be checked (1)'])
  expect(page.texts('dd')).toContain(`${(markdown.length + 20_000).toLocaleString('en')} characters, 2 pages`)
  const second = await curator.get(`${list}/${source.id}?page=5`)
  expect(second.texts('#page-5')).toEqual(['Page 5'])
  expect(second.texts('.source-text nav span')[0]).toBe('Part 2 of 2')
  expect(page.document.querySelector('a[rel=next]')?.getAttribute('href')).toBe(`${list}/${source.id}?part=2#text`)
})

test('a reader reads, and changes nothing', async () => {
  const path = await uploaded('open.csv', 'Open.')
  const page = await reader.get(path)
  expect(page.texts('h1')).toEqual(['open.csv'])
  expect(page.document.querySelectorAll('main form, main details, .actions')).toHaveLength(0)
  expect((await reader.get(list)).document.querySelector('#upload')).toBeNull()
  for (const way of ['/archive', '/ingest', '/replace']) {
    const answer =
      way === '/replace' ? await postForm(reader, path + way, [file('a.md', 'x')]) : await reader.post(path + way)
    expect(answer.status).toBe(403)
  }
  expect((await reader.get(`${path}/file`)).status).toBe(403)
  expect((await postForm(reader, list, [file('a.md', 'x')])).status).toBe(403)
})

test('an internal Source is not there for a reader, nor is one of another knowledge base or tenant', async () => {
  const { kbId, ctx } = console
  const { id } = await addSource(ctx, { kbId, filename: 'internal.md', tags: 'internal' })
  expect((await reader.get(`${list}/${id}`)).status).toBe(404)
  expect((await reader.get(`${list}?text=internal`)).texts('tbody tr')).toEqual([])
  expect((await curator.get(`${list}/${id}`)).status).toBe(200)
  const stranger = await console.browser('admin', { tenant: 'rival', email: 'eve@example.com' })
  expect((await stranger.get(`${list}/${id}`)).status).toBe(404)
  expect((await stranger.get(list)).status).toBe(404)
})

test('an upload that was cut off is shown to who began it, and may be removed', async () => {
  const { app } = console
  const init = await app.inject({
    ...{ method: 'POST', url: '/api/v1/knowledge-bases/handbook/documents/upload/init', headers: curator.headers },
    payload: { filename: '<b>big.pdf', fileSize: 300 * 1024 * 1024 },
  })
  expect(init.statusCode).toBe(201)
  const { uploadId } = init.json()
  const open = (page: Page) => page.texts('.uploads li').map((text) => text.replace(/ it expires .*/, ''))
  expect(open(await curator.get(list))).toEqual(['<b>big.pdf 0 bytes of 300 MB are here;'])
  const other = await console.browser('curator', { email: 'other@example.com' })
  expect(open(await other.get(list))).toEqual([])
  const answer = await curator.post(`${list}/uploads/${uploadId}/remove`)
  expect(answer.headers.location).toBe(`${list}?done=removed`)
  expect(open(await curator.get(list))).toEqual([])
})

test('an empty shelf says what to do', async () => {
  await createKnowledgeBase(console.ctx, { tenant: 'acme', slug: 'empty' })
  expect((await curator.get('/kb/empty/sources')).texts('#sources .empty')[0]).toMatch(
    'There are no Sources yet. Upload a document',
  )
  expect((await curator.get('/kb/nowhere/sources')).status).toBe(404)
})
