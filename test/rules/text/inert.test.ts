import { expect, test } from 'vitest'
import { inert } from '../../../src/rules/text/inert.ts'

test.each([
  ['Fixes #1, closes acme/handbook#12 and GH-7', 'Fixes ＃1, closes acme/handbook＃12 and GH‐7'],
  ['Closes https://example.org/acme/handbook/-/issues/4', 'Closes https://example.org/acme/handbook/-/issues／4'],
  ['Closes https://example.org/acme/handbook/pull/4.', 'Closes https://example.org/acme/handbook/pull／4.'],
  ['@ada, (@acme/all): !12 team/site!3', '＠ada, (＠acme/all): ！12 team/site！3'],
  ['&#64;ada &commat;ada Fixes &#x23;1 &#035;1 &#1', '＆＃64;ada ＆commat;ada Fixes ＆#x23;1 ＆＃035;1 &＃1'],
  ['[skip ci] [CI-skip] [no ci] [skip actions]', '［skip ci] ［CI-skip] ［no ci] ［skip actions]'],
  ['/merge\r\n  /close\nSee /etc', '／merge\r\n  ／close\nSee /etc'],
])('%j does nothing on a forge', (text, shown) => {
  expect(inert(text)).toBe(shown)
  expect(inert(shown)).toBe(shown)
})

test.each([
  '## Heading\n\n1. ada@example.org, C#, Hello! a & b, &#60;b&#62;, [x](https://example.org/a/b), - [ ] skip ci',
  '<!-- ganglion:pull 01988c2e-0000-7000-8000-000000000001+01988c2e-0000-7000-8000-000000000002 -->',
  '<!-- ganglion:comment 01988c2e-0000-7000-8000-000000000001 2026-01-01T00:00:00.000Z -->',
])('%j stays as it is', (text) => {
  expect(inert(text)).toBe(text)
})
