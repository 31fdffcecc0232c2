import { expect, test } from 'vitest'
import { attributes, html, trusted } from '../../../src/console/layout/html-template.ts'

const hostile = `"><script>alert('x')</script>&`

test('text and attributes are escaped, and markup of ours is not', () => {
  const inner = html`<b title="${hostile}">${hostile}</b>`
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;'
  expect(String(html`<p>${inner}${[inner, [hostile]]}</p>`)).toBe(
    `<p><b title="${escaped}">${escaped}</b><b title="${escaped}">${escaped}</b>${escaped}</p>`,
  )
})

test('nothing, false and null add nothing, and 0 is shown', () => {
  expect(String(html`<i>${undefined}${null}${false}${[]}${0}</i>`)).toBe('<i>0</i>')
})

test('what a sanitiser made is taken as it is', () => {
  expect(String(html`${trusted('<em>x</em>')}`)).toBe('<em>x</em>')
})

test('attributes that are true stand alone, and those that are false are left out', () => {
  const shown = attributes({ checked: true, hidden: false, 'aria-label': hostile, tabindex: -1, title: undefined })
  expect(String(shown)).toBe(
    ` checked aria-label="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;" tabindex="-1"`,
  )
})
