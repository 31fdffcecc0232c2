import { expect, test } from 'vitest'
import { documentTitle } from '../../src/sources/compile/titles/document-title.ts'
import { decodeEncodedWords } from '../../src/sources/encoded-words.ts'
import { fc } from '../support/properties.ts'

const base64 = (bytes: Uint8Array) => `=?utf-8?B?${Buffer.from(bytes).toString('base64')}?=`

test.for([
  ['=?utf-8?Q?K=C3=A4se?= =?iso-8859-1?q?_=FCber?= Brot', 'Käse über Brot'],
  ['AW:=?utf-8*de?Q?K=C3=A4se?=fest', 'AW:Käsefest'],
  [`${base64(Buffer.from('Kä').subarray(0, 2))} ${base64(Buffer.from('äse').subarray(1))}`, 'Käse'],
  ['=?utf-8?Q?Who?_me=C3=A4?=', 'Who? meä'],
  ['=?utf-8?Q?K=C3=A4se und =C3', 'Käse und '],
  ['=?x-unknown?Q?K=C3=A4?= =?x-unknown?Q?=E4?=', 'KÃ¤ä'],
  [base64(Buffer.from('=?utf-8?Q?K=C3=A4se?=')), 'Käse'],
  ['=?utf-8?Q?a=00=0Ab?=', 'a b'],
  ['a =? b ?= c', 'a =? b ?= c'],
] as const)('%s reads as it was meant', ([encoded, text]) => {
  expect(decodeEncodedWords(encoded)).toBe(text)
})

test('a text is the same however its bytes are cut into words', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((each) => !/[\p{Cc}\uFFFD\uFEFF]|=\?/u.test(each))
  const property = fc.property(text, fc.integer({ min: 1, max: 9 }), (each, size) => {
    const bytes = Buffer.from(each)
    const words = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      base64(bytes.subarray(at * size, (at + 1) * size)),
    )
    expect(decodeEncodedWords(words.join('\r\n '))).toBe(each)
  })
  fc.assert(property)
})

test('titles of printed mails and names of files are decoded', () => {
  const source = { blocks: [], isRunning: () => false }
  expect(documentTitle({ ...source, own: '=?utf-8?Q?K=C3=A4se_am_Montag?=', filename: 'a.pdf' })).toBe('Käse am Montag')
  expect(documentTitle({ ...source, own: undefined, filename: '=?utf-8?Q?K=C3=A4se?=.md' })).toBe('Käse')
})
