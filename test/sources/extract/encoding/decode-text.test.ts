import { expect, test } from 'vitest'
import { decodeText } from '../../../../src/sources/extract/decode-text.ts'

const russian = 'Съешь же ещё этих мягких французских булок, да выпей чаю.'
const hex = (bytes: string) => Buffer.from(bytes, 'hex')

test.each<[string, Buffer, string]>([
  ['UTF-8', Buffer.from('Müller €'), 'Müller €'],
  ['UTF-8 with a mark', Buffer.from('\ufeffMüller'), 'Müller'],
  ['UTF-16 with a mark', Buffer.from('\ufeffMüller', 'utf16le'), 'Müller'],
  ['UTF-16 without', Buffer.from('A longer text', 'utf16le'), 'A longer text'],
  ['UTF-16 without, of another script', Buffer.from(russian, 'utf16le'), russian],
  ['UTF-16 of the other order', Buffer.from('A longer text', 'utf16le').swap16(), 'A longer text'],
  ['UTF-32', hex('fffe0000410000000df60100'), 'A\u{1f60d}'],
  ['line ends', Buffer.from('a\r\nb\rc'), 'a\nb\nc'],
])('%s', (_, bytes, text) => {
  expect(decodeText(bytes)).toMatchObject({ text, isDoubtful: false })
})

/** Bytes by Python's codecs, which are not those that are tested. */
test.each<[string, Buffer, string]>([
  ['windows-1252', hex('4c92e9636f6c6520e02063f474e9'), 'L’école à côté'],
  ['windows-1251', hex('cff0e8e2e5f22c20ece8f021'), 'Привет, мир!'],
  ['KOI8-U', hex('f0d2c9d7c5d42c20cdc9d221'), 'Привет, мир!'],
  ['IBM866', hex('8fe0a8a2a5e22c20aca8e021'), 'Привет, мир!'],
  ['KOI8-U', hex('f0d2c9d7a6d42c20d3d7a6d4c521'), 'Привіт, світе!'],
  [
    'x-mac-cyrillic',
    hex('8ef2f7def220e7e020eae2e0f0f2e0eb3a20e2fbf0f3f7eae020e2fbf0eef1ebe0'),
    'Отчёт за квартал: выручка выросла',
  ],
  ['Shift_JIS', hex('89ef8b6382cc8b638e96985e'), '会議の議事録'],
  ['EUC-JP', hex('b2f1b5c4a4ceb5c4bbf6cfbf'), '会議の議事録'],
  ['iso-2022-jp', hex('1b244232713544244e35443b764f3f1b2842'), '会議の議事録'],
  ['EUC-KR', hex('c8b8c0c7b7cf'), '회의록'],
  ['gb18030', hex('bbe1d2e9bcc7c2bc'), '会议记录'],
  ['Big5', hex('b77cc4b3b04fbffd'), '會議記錄'],
  ['windows-874', hex('c3d2c2a7d2b9a1d2c3bbc3d0aad8c1'), 'รายงานการประชุม'],
  ['windows-1253', hex('cae1ebe7ecddf1e120eafcf3ece5'), 'Καλημέρα κόσμε'],
  ['windows-1255', hex('f9ece5ed20f2e5eced'), 'שלום עולם'],
  ['windows-1256', hex('e3d1cdc8c720c8c7e1dac7e1e3'), 'مرحبا بالعالم'],
  ['windows-1250', hex('5a61bff3b3e62067ea9c6cb9206a619ff1'), 'Zażółć gęślą jaźń'],
  [
    'windows-1254',
    hex('c7657972656b207261706f72753a2067656c69726c65722079fc7a6465206265fe2061727474fd'),
    'Çeyrek raporu: gelirler yüzde beş arttı',
  ],
])('%s is guessed, of a short text too', (encoding, bytes, text) => {
  expect(decodeText(bytes)).toEqual({ text, encoding: encoding.toLowerCase(), isDoubtful: false })
})

test.each([
  ['naïve', '\xef'],
  ['£', '\xa3'],
  ['©', '\xa9'],
  ['µ', '\xb5'],
  ['“', '\x93'],
])('a single %s in an English text does not make it one of another language', (sign, byte) => {
  const write = (special: string) =>
    `The ${special}5 is there, in a longer sentence of English, which says no more. `.repeat(4)
  const decoded = { text: write(sign), encoding: 'windows-1252', isDoubtful: false }
  expect(decodeText(Buffer.from(write(sign.replace(/\P{ASCII}/u, byte)), 'latin1'))).toEqual(decoded)
})

test('an encoding that nobody knows is doubtful', () => {
  const dos = hex('4465722042657269636874208162657220646173205175617274616c3a20556d7384747a65207374696567656e2e')
  expect(decodeText(dos)).toMatchObject({ isDoubtful: true })
})

test('damaged UTF-8 is read as such, and is doubtful', () => {
  const damaged = Buffer.concat([Buffer.from(russian), hex('ff'), Buffer.from(russian)])
  expect(decodeText(damaged)).toEqual({ text: `${russian}\ufffd${russian}`, encoding: 'utf-8', isDoubtful: true })
})

test('what a page declares is believed when it can be so', () => {
  const bytes = Buffer.from([0xc4, 0xc5])
  expect(decodeText(bytes, 'koi8-r').text).toBe('де')
  expect(decodeText(Buffer.from('é'), 'no-such-encoding').text).toBe('é')
})

test('what is no text is refused', () => {
  expect(() => decodeText(hex('7f454c4602010100000000000000000003003e00'))).toThrow(/not text/)
})
