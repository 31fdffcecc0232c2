import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { asset, findAsset, island } from '../../../src/console/layout/asset.ts'
import { button, controlsOf, form } from '../../../src/console/layout/form.ts'
import { html, when } from '../../../src/console/layout/html-template.ts'
import { page, type Visit } from '../../../src/console/layout/page.ts'
import { errorPage } from '../../../src/console/layout/page-routes.ts'
import { type PersonRole, reaches } from '../../../src/contract/vocabulary.ts'

const hostile = `"><img src=x onerror=alert(1)>`

function visit(role: PersonRole, path = '/queue?status=pending'): Visit {
  const tenant = { id: '1', slug: 'acme', role }
  const user = { id: '2', email: 'ada@example.com', name: hostile }
  return {
    session: { id: '3', user, tenant, role, filters: [], tenants: [tenant] },
    path,
    formToken: hostile,
    styleNonce: () => 'n',
  }
}

type Parsed = ReturnType<typeof parsed>

function parsed(markup: unknown) {
  return parseHTML(String(markup)).document
}

const textsOf = (document: Parsed, selector: string) =>
  [...document.querySelectorAll(selector)].map(({ textContent }) => textContent?.trim())

test('the frame has landmarks, names its places by role, and marks the one where the visitor is', () => {
  const kb = { slug: 'hand/book', title: hostile }
  const document = parsed(
    page(visit('curator'), { title: hostile, main: html`<h1>${hostile}</h1>`, kb, notice: hostile }),
  )
  expect(textsOf(document, 'nav[aria-label=Main] a')).toEqual(['Home', 'Queue', 'Activity'])
  expect(textsOf(document, '[aria-current=page]')).toEqual(['Queue'])
  expect(document.querySelector('.of-kb a')?.getAttribute('href')).toBe('/kb/hand%2Fbook')
  expect([...document.querySelectorAll('main, header, footer')]).toHaveLength(3)
  expect(textsOf(document, 'h1, [role=status], .account > button')).toEqual([hostile, hostile, hostile])
  expect(document.querySelector('img')).toBeNull()
  expect(textsOf(parsed(page(visit('reader'), { title: 'x', main: '' })), 'nav a')).toEqual(['Home', 'Activity'])
})

test('a form carries its token, keeps what was typed, and says what is wrong beside the field', () => {
  const errors = { fieldErrors: { title: ['must not be empty'] }, formErrors: ['Somebody was faster.'] }
  const values = { title: hostile, text: `\nline\n${hostile}</textarea>`, role: 'b', sure: 'true' }
  const { text, area, select, check } = controlsOf(values, errors)
  const document = parsed(
    html`<body>${form(visit('curator'), { action: '/x', errors }, [
      text('title', 'Title', { hint: 'Short' }),
      area('text', 'Text'),
      select('role', 'Role', [
        ['a', 'A'],
        ['b', 'B'],
      ]),
      check('sure', 'Sure'),
      button('Save', { name: 'do', value: 'save' }),
    ])}</body>`,
  )
  expect(document.querySelector('[name=_csrf]')?.getAttribute('value')).toBe(hostile)
  const title = document.querySelector('[name=title]')
  expect(title?.getAttribute('value')).toBe(hostile)
  expect(title?.getAttribute('aria-invalid')).toBe('true')
  const described = title?.getAttribute('aria-describedby')?.split(' ') ?? []
  expect(described.map((id: string) => document.getElementById(id)?.textContent)).toEqual([
    'Short',
    'must not be empty',
  ])
  expect(textsOf(document, '[role=alert] li')).toEqual(['Somebody was faster.', 'The title must not be empty.'])
  // The parser leaves the text as it is escaped.
  const escaped = '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&lt;/textarea&gt;'
  expect(document.querySelector('textarea')?.textContent).toBe(`\n\nline\n${escaped}`)
  expect(document.querySelector('option[selected]')?.getAttribute('value')).toBe('b')
  expect(document.querySelector('[type=checkbox]')?.hasAttribute('checked')).toBe(true)
  for (const control of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
    expect(document.querySelector(`label[for="${control.id}"]`)).not.toBeNull()
  }
})

test('assets are named by their content, and the types of browser modules are stripped', () => {
  expect(asset('console.css')).toMatch(/^\/assets\/[0-9a-f]{12}\/console\.css$/)
  const [, , , ...name] = island('upload').split('/')
  const script = findAsset(name.join('/'))
  expect(script?.type).toBe('text/javascript; charset=utf-8')
  expect(String(findAsset('islands/upload/upload-plan.ts')?.content())).not.toContain(': number')
  expect(() => asset('missing.css')).toThrow('There is no asset')
})

test('a moment is told in words, exactly, and as it is where it is none', () => {
  const now = new Date('2026-03-02T12:00:00Z')
  const times = ['2026-03-02T11:59:40Z', '2026-03-02T09:00:00Z', '2026-03-01T11:00:00Z', '2026-03-05T12:00:00Z']
  expect(times.map((time) => parsed(when(time, now)).querySelector('time')?.textContent)).toEqual([
    'just now',
    '3 hours ago',
    'yesterday',
    'in 3 days',
  ])
  expect(String(when(hostile, now))).not.toContain('<img')
})

test('an error is a page, with a way on', () => {
  const document = parsed(errorPage(undefined, { status: 404, message: 'Nothing.' }))
  expect(textsOf(document, 'h1')).toEqual(['There is nothing here'])
  expect(document.querySelector('nav')).toBeNull()
  const framed = parsed(errorPage(visit('reader'), { status: 418, message: hostile }))
  expect(textsOf(framed, 'h1, main p:first-of-type')).toEqual(['That did not work', hostile])
})

test('an administrator may do what a curator may, and a reader may not', () => {
  expect([reaches('admin', 'curator'), reaches('curator', 'curator'), reaches('reader', 'curator')]).toEqual([
    true,
    true,
    false,
  ])
})
