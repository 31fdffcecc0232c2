import { createRequire } from 'node:module'

/**
 * Letters, digits and marks of scripts searched without word boundaries. Most write none; Hangul attaches particles to words,
 * which is why Lucene's CJKAnalyzer makes bigrams of it too.
 */
export const unspaced =
  '[[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]&&[\\p{L}\\p{N}\\p{M}]]'

const startsUnspaced = new RegExp(`^${unspaced}`, 'v')

/** True if a text begins in a script searched without word boundaries. */
export function isUnspaced(text: string): boolean {
  // No such script is below U+0E01, the first Thai letter.
  return text.charCodeAt(0) >= 0xe01 && startsUnspaced.test(text)
}

const composed = /^[\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff\uac00-\ud7a3]+$/

/** True if a text is all kana, ideographs and Hangul syllables of one UTF-16 unit each, which folding keeps. */
export function isComposed(text: string): boolean {
  return composed.test(text)
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Returns the starts of grapheme clusters, and the end of the text. */
export function characterStarts(text: string): number[] {
  if (isComposed(text)) return Array.from({ length: text.length + 1 }, (_, index) => index)
  return [...Array.from(graphemes.segment(text), ({ index }) => index), text.length]
}

const require = createRequire(import.meta.url)

/** Replacement of each UTF-16 unit. */
let same: Uint16Array | undefined
let hasHan = false

const han = /[\u3400-\u9fff]/
/** Small kana, and the same in normal size. */
const kana = ['ぁぃぅぇぉっゃゅょゎゕゖ', 'あいうえおつやゆよわかけ']

/** Writes kana as large Hiragana, and traditional Chinese as simplified: people type either. Keeps the length. */
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

/** Loads the package's table with the first ideograph. Skips pairs with characters of two units. */
function addHan(table: Uint16Array): void {
  hasHan = true
  const { default: pairs }: typeof import('opencc-js/dict/TSCharacters') = require('opencc-js/dict/TSCharacters')
  for (const pair of pairs.split('|')) {
    const [traditional = '', simplified = ''] = pair.split(' ')
    if (traditional.length === 1 && simplified.length === 1) table[traditional.charCodeAt(0)] = simplified.charCodeAt(0)
  }
}
