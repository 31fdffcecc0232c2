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
