import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** By UTF-16 unit: the one that it is compared as. */
let same: Uint16Array | undefined
let hasHan = false

const han = /[\u3400-\u9fff]/
/** Small kana, and those that they are in another size. */
const kana = ['ぁぃぅぇぉっゃゅょゎゕゖ', 'あいうえおつやゆよわかけ']

/** Kana as large Hiragana, and traditional Chinese as simplified; what people type in either way. Keeps the length. */
export function oneScript(text: string): string {
  same ??= withKana()
  if (!hasHan && han.test(text)) addHan(same)
  let written = ''
  for (let at = 0; at < text.length; at++) written += String.fromCharCode(same[text.charCodeAt(at)] ?? 0)
  return written
}

function withKana(): Uint16Array {
  const table = Uint16Array.from({ length: 2 ** 16 }, (_, unit) => unit)
  const [small = '', large = ''] = kana
  for (let at = 0; at < small.length; at++) table[small.charCodeAt(at)] = large.charCodeAt(at)
  for (let katakana = 0x30a1; katakana <= 0x30f6; katakana++) table[katakana] = table[katakana - 0x60] ?? katakana
  return table
}

/** Loads the table of the package with the first ideograph. What has two units in either script stays as it is. */
function addHan(table: Uint16Array): void {
  hasHan = true
  const { default: pairs }: typeof import('opencc-js/dict/TSCharacters') = require('opencc-js/dict/TSCharacters')
  for (const pair of pairs.split('|')) {
    const [traditional = '', simplified = ''] = pair.split(' ')
    if (traditional.length === 1 && simplified.length === 1) table[traditional.charCodeAt(0)] = simplified.charCodeAt(0)
  }
}
