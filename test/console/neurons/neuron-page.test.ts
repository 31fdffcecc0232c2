import { afterAll, beforeAll, expect, test } from 'vitest'
import { addSource } from '../../kb/support/ingest-support.ts'
import { neuronText, seq } from '../../kb/support/written-neurons.ts'
import type { Browser } from '../support.ts'
import { hostile, type Written, writtenConsole } from './support.ts'

const sourceId = '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90'
let console: Written
let curator: Browser
let reader: Browser

beforeAll(async () => {
  const withSource = neuronText(
    1,
    { title: 'On-call', tags: ['policy', 'x/y & z'], edges: [['part-of', 'Desk']] },
    body,
  )
  console = await writtenConsole({
    'guides/a b/on-call.md': withSource.replace(
      '---\n',
      `---\nsources:\n  - { id: ${sourceId}, filename: plan.pdf, page: 5-9 }\n  - { filename: '<b>.txt' }\n`,
    ),
    'desk.md': neuronText(2, { title: 'Desk' }, 'Ask [[On-call]] at night.\n'),
    'hostile.md': neuronText(
      3,
      { title: hostile, tags: [hostile] },
      `${hostile} [[On-call|${hostile}]]\n\n<script>x</script>\n`,
    ),
    'hidden.md': neuronText(4, { title: 'Hidden', tags: ['internal'] }, 'See [[On-call]].\n'),
  })
  await addSource(console.ctx, { id: sourceId, kbId: console.kbId, filename: 'plan.pdf', fileType: 'pdf' })
  curator = await console.browser('curator')
  reader = await console.browser('reader')
})
afterAll(() => console.close())

const body = '# Who calls\n\nThe lead. See [[Desk]], [[Nobody]] and [[Hidden]].\n\n```js\nconst a = 1\n```\n'
const path = (number: number) => `/kb/handbook/neurons/${seq(number)}`

test('shows the page with its way there, tags, links, mentions, Sources and citation', async () => {
  const page = await reader.get(path(1))
  expect([page.status, page.texts('h1'), page.texts('head title')]).toEqual([200, ['On-call'], ['On-call · Ganglion']])
  expect(page.texts('.crumbs a')).toEqual(['handbook', 'guides', 'a b'])
  expect(page.document.querySelector('.crumbs li:last-child a')?.getAttribute('href')).toBe(
    '/kb/handbook/tree?folder=guides%2Fa%20b',
  )
  expect(page.texts('.content h2')).toEqual(['Who calls'])
  expect(page.texts('.rail-tree > ul > li > a')).toContain('guides')
  expect(page.texts('.rail-tree [aria-current]')).toEqual(['On-call'])
  expect(page.texts('aside .tags a')).toEqual(['policy', 'x/y & z'])
  expect(page.document.querySelector('aside .tags li:last-child a')?.getAttribute('href')).toBe(
    '/kb/handbook/tags?tag=x%2Fy%20%26%20z',
  )
  expect(page.texts('aside h2')).toEqual(['Tags', 'Links', 'Mentioned in', 'Around this page', 'Sources', 'Cite'])
  expect(page.texts('aside h3')).toEqual(['Part of', 'Links to', 'Lead nowhere'])
  expect(page.texts('.mentions li')).toContain('Desk Ask On-call at night.')
  expect(page.document.querySelector(`a[href="/kb/handbook/sources/${sourceId}?page=5#page-5"]`)?.textContent).toBe(
    'plan.pdf',
  )
  expect(page.document.querySelector('[data-copy]')?.getAttribute('value')).toBe(`${seq(1)}@${console.head()}`)
  expect(page.texts('.page-facts')[0]).toMatch(/handbook_00000001 Version 1 History Who said so approved by .+/)
})

test('shows the title once where the page opens with it, and links to it still lead there', async () => {
  const untitled = neuronText(
    8,
    { title: 'x' },
    '# The *plan* & more\n\nSee [[#The plan & more]].\n\n## Next\n\nMore.[^1]\n\n[^1]: A note.\n',
  )
  const own = neuronText(9, { title: 'Own' }, '# Own\n')
  console.write({
    'plan.md': untitled.replace(/^title:.*\n/m, ''),
    'own.md': own,
    'other.md': neuronText(10, { title: 'Other' }, '# Another\n\nSee [[The plan & more#The plan & more]].\n'),
    'linked.md': neuronText(11, { title: 'Desk' }, '# [Desk](https://example.com)\n\nText.\n'),
  })
  const page = await reader.get(path(8))
  expect([page.texts('h1'), page.texts('.content h2')]).toEqual([['The plan & more'], ['Next', 'Footnotes']])
  const [place] = page.document.querySelectorAll('.content > *')
  expect([place?.id, place?.textContent]).toEqual(['md-the-plan-more', ''])
  expect(page.document.querySelector('.content p a')?.getAttribute('href')).toBe('#md-the-plan-more')

  const other = await reader.get(path(10))
  expect(other.texts('.content h2')).toEqual(['Another'])
  expect(other.document.querySelector('.content p a')?.getAttribute('href')).toBe(`${path(8)}#md-the-plan-more`)
  expect((await reader.get(path(9))).texts('article > .empty')).toEqual(['This page is empty.'])
  expect((await reader.get(path(11))).texts('.content h2')).toEqual(['Desk'])
})

test('offers to change the page to those who may', async () => {
  expect((await curator.get(path(1))).texts('.actions a')).toEqual(['Edit', 'Rename', 'Remove'])
  expect((await reader.get(path(1))).texts('.actions a')).toEqual([])
  expect((await curator.get(path(1))).document.querySelector('.gap a')?.getAttribute('href')).toBe(
    '/kb/handbook/new?title=Nobody',
  )
})

test('says nothing of what is hidden, and of a hidden page what it says of none', async () => {
  const page = await reader.get(path(1))
  expect(page.body).not.toContain(seq(4))
  expect(page.texts('.mentions a')).not.toContain('Hidden')
  const [hidden, absent] = [await reader.get(path(4)), await reader.get(path(5))]
  const bodyOf = ({ body }: typeof hidden) => body.replace(/name="_csrf" value="[^"]*"/g, '')
  expect([hidden.status, bodyOf(hidden)]).toEqual([404, bodyOf(absent)])
  expect((await curator.get(path(1))).texts('.mentions a')).toContain('Hidden')
})

test('shows hostile text as text, wherever it stands', async () => {
  const page = await curator.get(path(3))
  expect(page.texts('h1')).toEqual([hostile])
  expect(page.document.querySelectorAll('main img, main script, main [onerror], [style]')).toHaveLength(0)
  const other = await curator.get(path(1))
  expect(other.texts('.mentions a, .page-map title').filter((text) => text === hostile)).toHaveLength(2)
  expect(other.document.querySelectorAll('main img, main script, main [onerror]')).toHaveLength(0)
})

test('is read as it was, and says so', async () => {
  const before = console.head()
  console.write({ 'desk.md': neuronText(2, { title: 'Desk' }, 'Closed.\n') })
  const page = await reader.get(`${path(2)}?at=${before}`)
  expect(page.texts('.warning')[0]).toMatch(/^You are reading version 1; the page is at version 2 now/)
  expect(page.texts('.warning a')).toEqual(['Read it as it is now', 'See what has changed'])
  const markdown = page.document.querySelector('a[href*=".md"]')?.getAttribute('href') ?? ''
  expect((await reader.get(markdown)).body).toBe('# Desk\n\nAsk [[On-call]] at night.\n')
  expect((await reader.get(`${path(2)}?at=${console.head()}`)).texts('.warning')).toEqual([])
  expect((await reader.get(`${path(2)}?at=x`)).status).toBe(400)
  expect((await reader.get(`${path(2)}?at=0000000`)).status).toBe(404)
})

test('is Markdown at its address with `.md`, for those who may see the page', async () => {
  const get = async (by: Browser | undefined, url: string, headers = {}) => {
    const {
      statusCode,
      body,
      headers: told,
    } = await console.app.inject({ url, headers: { ...by?.headers, ...headers } })
    // The page of an error has a form with a token.
    const text = body.replace(/name="_csrf" value="[^"]*"/g, '')
    return { status: statusCode, body: text, type: told['content-type'], etag: String(told.etag), to: told.location }
  }
  const page = await get(reader, `${path(1)}.md`)
  expect(page).toMatchObject({ status: 200, type: 'text/markdown; charset=utf-8', body: `# On-call\n\n${body}` })
  expect((await get(reader, `${path(1)}.md`, { 'if-none-match': page.etag })).status).toBe(304)
  const shown = await reader.get(path(1))
  const link = [...shown.document.querySelectorAll('a')].find(({ textContent }) => textContent === 'As Markdown')
  expect((await get(reader, link?.getAttribute('href') ?? '')).body).toBe(page.body)
  expect(await get(reader, `${path(4)}.md`)).toEqual(await get(reader, `${path(5)}.md`))
  expect((await get(reader, `${path(4)}.md`)).status).toBe(404)
  expect((await get(curator, `${path(4)}.md`)).body).toContain('# Hidden')
  expect(await get(undefined, `${path(4)}.md`)).toMatchObject({
    ...{ status: 302, to: `/sign-in?next=${encodeURIComponent(`${path(4)}.md`)}` },
  })
})

test('needs a session', async () => {
  const { statusCode, headers } = await console.app.inject({ url: path(1), headers: { accept: 'text/html' } })
  expect([statusCode, headers.location]).toEqual([302, `/sign-in?next=${encodeURIComponent(path(1))}`])
})
