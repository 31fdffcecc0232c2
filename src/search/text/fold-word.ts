import { fold, foldCase, withoutPoints } from '../../rules/text/fold.ts'

const ascii = /^[\0-\x7f]*$/
/** Words that folding keeps: nearly all of English. */
const folded = /^[a-z]+$/
const notOfWords = /[^\p{L}\p{N}\p{M}']+/gu

/** Folds a word for comparison, before stemming: `10000` for `10,000`, `don't` for `DON’T`. */
export function foldWord(word: string): string {
  if (folded.test(word)) return word
  return bareWord(ascii.test(word) ? word.toLowerCase() : fold(word))
}

/** Lower-cases a word and keeps its diacritics, but not the points that Arabic and Hebrew mostly omit. */
export function spelledWord(word: string): string {
  return bareWord(ascii.test(word) ? word.toLowerCase() : withoutPoints(foldCase(word.normalize('NFKC'))))
}

/** Strips characters that are not part of a word: thousands separators, joiners, the brackets of a folded `⑴`. */
function bareWord(word: string): string {
  if (folded.test(word)) return word
  const bare = plainApostrophes(word).replace(notOfWords, '')
  return /[\u0900-\u097f]/.test(bare) ? oneNasal(bare) : bare
}

/** Writes Hindi nasals before a consonant of their class as a dot, and drops the dot below: `हिंदी` for `हिन्दी`. */
function oneNasal(word: string): string {
  return word.replace(/\u093c/g, '').replace(/\u0901|ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])/g, '\u0902')
}

/** Replaces the typographic apostrophe, and the letter that looks like it, by `'`. */
export function plainApostrophes(text: string): string {
  return text.replace(/[’ʼ]/g, "'")
}
