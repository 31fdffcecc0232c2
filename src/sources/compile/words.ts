import { fold } from '../../rules/text/fold.ts'
import { primaryLanguage } from '../../rules/text/language.ts'
import { stopWordsFor as functionWordsFor } from '../../rules/text/stop-words.ts'

/** Languages that are detected. */
const languages = [
  'cs',
  'da',
  'de',
  'en',
  'es',
  'fi',
  'fr',
  'it',
  'nb',
  'nl',
  'pl',
  'pt',
  'ru',
  'sv',
  'tr',
  'uk',
] as const

/** Words that are common in any document: searchable, but never its subject. */
const common: Readonly<Record<string, string>> = {
  en: `also had she her may might must should could would one two three however thus therefore although though since while upon
    within without among using used use uses based many much more most such several both each other another same different new
    first second often sometimes usually generally commonly against including include includes included according additional
    others large small long high low early late common known called retrieved archived made make makes given need needs
    come came get got like over said still take under way well
    et al etc figure table section chapter page see example following`,
}

/** Maximum words from which the language of a text is detected. */
const sample = 5000
const wordPattern = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu
/** Scripts without blanks between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

export function sourceWords(text: string, language: string): string[] {
  if (!unspaced.test(text)) return text.match(wordPattern) ?? []
  const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(text)
  return Array.from(segments).flatMap(({ segment, isWordLike }) => (isWordLike ? segment : []))
}

/** Returns the primary language (BCP 47) with the most stop words in a text, or that of the knowledge base if there are few. */
export function languageOf(words: readonly string[], fallback: string): string {
  const folded = words.slice(0, sample).map(fold)
  const counts = languages.map((language) => {
    const stopWords = sourceStopWords(language)
    return { language, count: folded.filter((word) => stopWords.has(word)).length }
  })
  const own = primaryLanguage(fallback)
  const [best] = counts.sort((a, b) => b.count - a.count || Number(b.language === own) - Number(a.language === own))
  return best !== undefined && best.count > folded.length / 8 ? best.language : own
}

/** Returns the folded stop words. */
export function sourceStopWords(language: string): ReadonlySet<string> {
  const primary = primaryLanguage(language)
  return new Set([...functionWordsFor(primary), ...(common[primary]?.split(/\s+/) ?? [])])
}
