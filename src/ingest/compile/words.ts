import stopwords from 'stopword'
import { fold } from '../../knowledge/fold.ts'

/** The lists of the package by language (BCP 47), of the languages whose texts are told apart. */
const lists: Readonly<Record<string, string>> = {
  cs: 'ces',
  da: 'dan',
  de: 'deu',
  en: 'eng',
  es: 'spa',
  fi: 'fin',
  fr: 'fra',
  it: 'ita',
  nb: 'nob',
  nl: 'nld',
  pl: 'pol',
  pt: 'por',
  ru: 'rus',
  sv: 'swe',
  tr: 'tur',
  uk: 'ukr',
}

/** Function words that those lists lack. */
const missing: Readonly<Record<string, string>> = {
  en: `also does done had having were will shall cannot nor not no than whom whose why when yours ours its she her itself per via
    may might must should could would one two three however thus therefore although though since while upon within without
    among using used use uses based many much more most such several both each other another same different new first second
    often sometimes usually generally commonly against including include includes included according additional others large
    small long high low early late common known called retrieved archived made make makes given need needs
    et al etc figure table section chapter page see example following`,
}

/** Words of a text that are enough to tell its language. */
const sample = 5000
const wordPattern = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu
/** Scripts without blanks between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

/** The words of a text as they are written. */
export function wordsOf(text: string, language: string): string[] {
  if (!unspaced.test(text)) return text.match(wordPattern) ?? []
  const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(text)
  return Array.from(segments).flatMap(({ segment, isWordLike }) => (isWordLike ? segment : []))
}

/** The primary language (BCP 47) whose stop words a text has most of; that of the knowledge base where there are few of any. */
export function languageOf(words: readonly string[], fallback: string): string {
  const folded = words.slice(0, sample).map(fold)
  const counts = Object.keys(lists).map((language) => {
    const stopWords = stopWordsFor(language)
    return { language, count: folded.filter((word) => stopWords.has(word)).length }
  })
  const [best] = counts.sort((a, b) => b.count - a.count || (a.language < b.language ? -1 : 1))
  const own = primaryLanguage(fallback)
  return best !== undefined && best.count > folded.length / 8 ? best.language : own
}

/** Words, folded, that say little of what a text is about. */
export function stopWordsFor(language: string): ReadonlySet<string> {
  const words = new Set((stopwords[lists[primaryLanguage(language)] ?? ''] ?? []).map(fold))
  for (const word of missing[primaryLanguage(language)]?.split(/\s+/) ?? []) words.add(word)
  return words
}

function primaryLanguage(tag: string): string {
  return /^[a-z]{2,3}(?![a-z0-9])/i.exec(tag)?.[0].toLowerCase() ?? 'und'
}
