import { createRequire } from 'node:module'

/**
 * Letters, digits and marks of scripts that are searched without word boundaries: most write none, and Hangul writes its
 * particles onto the words, which is why Lucene's CJKAnalyzer makes bigrams of it too.
 */
export const unspaced =
  '[[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]&&[\\p{L}\\p{N}\\p{M}]]'

const startsUnspaced = new RegExp(`^${unspaced}`, 'v')

/** Whether a text begins in a script that is searched without word boundaries. */
export function isUnspaced(text: string): boolean {
  // Before U+0E01, the first Thai letter, there is none.
  return text.charCodeAt(0) >= 0xe01 && startsUnspaced.test(text)
}

const composed = /^[\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff\uac00-\ud7a3]+$/

/** Whether a text is all kana, ideographs and Hangul syllables of one UTF-16 unit each, which folding leaves as they are. */
export function isComposed(text: string): boolean {
  return composed.test(text)
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Where what a reader sees as the characters of a text begin, and at last where the text ends. */
export function characterStarts(text: string): number[] {
  if (isComposed(text)) return Array.from({ length: text.length + 1 }, (_, index) => index)
  return [...Array.from(graphemes.segment(text), ({ index }) => index), text.length]
}

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
