import { expect, test } from 'vitest'
import { decodeText } from '../../../src/ingest/extract/decode-text.ts'

const russian = 'Съешь же ещё этих мягких французских булок, да выпей чаю. '
const cyrillic = Buffer.from([...russian].map((letter) => windows1251(letter)))

function windows1251(letter: string): number {
  if (letter === 'ё') return 0xb8
  const point = letter.charCodeAt(0)
  return point < 128 ? point : point - 0x410 + 0xc0
}

test.each<[string, Buffer, string]>([
  ['UTF-8', Buffer.from('Müller €'), 'Müller €'],
  ['UTF-8 with a mark', Buffer.from('\ufeffMüller'), 'Müller'],
  ['UTF-16 with a mark', Buffer.from('\ufeffMüller', 'utf16le'), 'Müller'],
  ['UTF-16 without', Buffer.from('A longer text', 'utf16le'), 'A longer text'],
  ['UTF-16 of the other order', Buffer.from('A longer text', 'utf16le').swap16(), 'A longer text'],
  ['UTF-32', Buffer.from('fffe0000410000000df60100', 'hex'), 'A\u{1f60d}'],
  ['windows-1252', Buffer.from('caf\xe9 \x80', 'latin1'), 'café €'],
  ['windows-1251', cyrillic, russian],
  ['line ends', Buffer.from('a\r\nb\rc'), 'a\nb\nc'],
])('%s', (_, bytes, text) => {
  expect(decodeText(bytes)).toBe(text)
})

test('what a page declares is believed when it can be so', () => {
  const bytes = Buffer.from([0xc4, 0xc5])
  expect(decodeText(bytes, 'koi8-r')).toBe('де')
  expect(decodeText(Buffer.from('é'), 'no-such-encoding')).toBe('é')
})

test('what is no text is refused', () => {
  expect(() => decodeText(Buffer.from('7f454c4602010100000000000000000003003e00', 'hex'))).toThrow(/not text/)
})
