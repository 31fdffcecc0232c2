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

/** What takes a lower-case word to its stem; a language without an algorithm keeps its words. */
export function stemmerFor(language: string): (word: string) => string {
  const algorithm = algorithms[language]
  return algorithm === undefined ? (word) => word : snowballStem(algorithm)
}

/** Loads the package with the first word: it has the algorithms of all languages in one file, and takes 2 MB. */
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
