import { fold, foldCase, withoutPoints } from '../../rules/text/fold.ts'

const ascii = /^[\0-\x7f]*$/
/** Words that are folded as they are: nearly all of English. */
const folded = /^[a-z]+$/
const notOfWords = /[^\p{L}\p{N}\p{M}']+/gu

/** A word as it is compared, before it is stemmed: `10000` of `10,000`, `don't` of `DON’T`. */
export function foldWord(word: string): string {
  if (folded.test(word)) return word
  return bareWord(ascii.test(word) ? word.toLowerCase() : fold(word))
}

/** A word in lower case, with its diacritics; without the points that Arabic and Hebrew are mostly written without. */
export function spelledWord(word: string): string {
  return bareWord(ascii.test(word) ? word.toLowerCase() : withoutPoints(foldCase(word.normalize('NFKC'))))
}

/** Without what is no part of a word: thousands separators, joiners, the brackets that `⑴` has when folded. */
function bareWord(word: string): string {
  if (folded.test(word)) return word
  const bare = plainApostrophes(word).replace(notOfWords, '')
  return /[\u0900-\u097f]/.test(bare) ? oneNasal(bare) : bare
}

/** Hindi with a dot for each nasal that goes before a consonant of its class, and without the dot below: `हिन्दी` as `हिंदी`. */
function oneNasal(word: string): string {
  return word.replace(/\u093c/g, '').replace(/\u0901|ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])/g, '\u0902')
}

/** With `'` for the typographic apostrophe and the letter that looks like it, which Unicode keeps apart. */
export function plainApostrophes(text: string): string {
  return text.replace(/[’ʼ]/g, "'")
}
