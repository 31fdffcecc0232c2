import { expect, test } from 'vitest'
import { boundaryOf, PartHeaders } from '../../../src/http/request/upload-form.ts'
import { fc } from '../../support/properties.ts'

/** Whether a form is refused that comes in pieces of these lengths, in turn. */
function isRefused(form: string, lengths: readonly number[] = [form.length]): boolean {
  const watch = new PartHeaders('b-b')
  const bytes = Buffer.from(form)
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    if (watch.areTooLong(bytes.subarray(at, at + length))) return true
    at += length
  }
  return false
}

const part = (headers: number, content: string) => `--b-b\r\nX: ${'x'.repeat(headers)}\r\n\r\n${content}\r\n`

test('only the headers of parts are bounded, each by itself, however the form comes in pieces', () => {
  const content = fc.constantFrom('', '\r\n', '--b-', '\r\n--b-', 'x'.repeat(40_000), '\r\n\r\n--', '\n--b-b\n')
  const headers = fc.constantFrom(0, 10, 16_000, 16_500, 40_000)
  fc.assert(
    fc.property(
      fc.array(fc.tuple(headers, content), { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom('--b-b--\r\n', '--b-b--', `--b-b--\r\n${'y'.repeat(40_000)}`),
      (parts, lengths, end) => {
        const form = parts.map(([length, text]) => part(length, text)).join('') + end
        expect(isRefused(form, lengths)).toBe(parts.some(([length]) => length > 16_384))
      },
    ),
    { numRuns: 60 },
  )
})

test('a delimiter may follow on the blank line of a part, and headers that do not end are bounded', () => {
  expect(isRefused(`--b-b\r\n\r\n--b-b\r\nX: ${'x'.repeat(20_000)}`)).toBe(true)
  expect(isRefused(`--b-b\r\n\r\n\r\n--b-b--${'x'.repeat(20_000)}`, [1, 7])).toBe(false)
  expect(isRefused(`${'x'.repeat(20_000)}\r\n--b-b\r\nX: y\r\n\r\n`)).toBe(false)
})

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data;boundary="a b";charset=x', 'a b'],
  ['multipart/form-data; charset=utf-8; BOUNDARY=----x; y=z', '----x'],
  ['multipart/form-data', undefined],
])('the boundary of %s is %s', (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary)
})
