import { newStemmer } from 'snowball-stemmers'
import { stemEnglish } from './english-stemmer.ts'

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

const lettersAndDigits = /^[a-z0-9]+$/

/** What takes a lower-case word to its stem; a language without an algorithm keeps its words. */
export function stemmerFor(language: string): (word: string) => string {
  const algorithm = algorithms[language]
  if (algorithm === undefined) return (word) => word
  const stemmer = newStemmer(algorithm)
  if (algorithm !== 'english') return (word) => stemmer.stem(word)
  return (word) => (lettersAndDigits.test(word) ? stemEnglish(word) : stemmer.stem(word))
}
