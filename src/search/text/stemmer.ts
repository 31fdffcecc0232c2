import { createRequire } from 'node:module'

/** Snowball's algorithms by BCP 47 language. Its `english` is Porter2. */
const algorithms: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  cs: 'czech',
  da: 'danish',
  de: 'german',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hu: 'hungarian',
  hy: 'armenian',
  it: 'italian',
  nb: 'norwegian',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sl: 'slovene',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
}

const require = createRequire(import.meta.url)

/** Matches words that Porter2 may change, by their beginning or end. Porter2 keeps all others, and this test is faster. */
const changedInEnglish = /^'|(?:[seiy']|ed|ing|ion|ism|er|or|al|ful|ll|ent|ant|ic)$/

/** True if a lower-case word may differ from its stem. */
export function mayBeStemmed(word: string, language: string): boolean {
  return language === 'en' ? changedInEnglish.test(word) : language in algorithms
}

/** Returns a function that stems lower-case words. A language without an algorithm keeps its words. */
export function stemmerFor(language: string): (word: string) => string {
  const algorithm = algorithms[language]
  if (algorithm === undefined) return (word) => word
  const stem = snowballStem(algorithm)
  return (word) => (mayBeStemmed(word, language) ? stem(word) : word)
}

/** Loads the package with the first word: one file has the algorithms of all languages and takes 2 MB. */
function snowballStem(algorithm: string): (word: string) => string {
  let stemmer: { stem(word: string): string } | undefined
  return (word) => {
    stemmer ??= load().newStemmer(algorithm)
    return stemmer.stem(word)
  }
}

function load(): typeof import('snowball-stemmers') {
  return require('snowball-stemmers')
}

const word = /^[\u0621-\u064a\u066e-\u06d3]+$/
/** Proclitics (and, for, with, as, so) and the article. */
const article = /^و?(?:[بكف]?ال|لل)(?=.{2})/
/** Endings of the plural, the dual and the feminine. */
const ending = /(?<=.{3})(?:ات|ان|ون|ين|ه|ة)$/

/**
 * Strips the article and the ending of a regular plural from an Arabic word, and unifies weak letters before it: `قناة` and
 * `القنوات`, `مستوى` and `مستويات`. After the light stemmer of Larkey, Ballesteros and Connell, 2007. Undefined for words of
 * other scripts.
 */
export function lightArabic(folded: string): string | undefined {
  if (!word.test(folded)) return undefined
  const bare = folded.replace(article, '').replace(ending, '')
  return bare.replace(/(?<=.{3})[اوي]$/, '').replace(/[وي]$/, 'ا')
}
