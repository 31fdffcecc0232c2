import type { Analyser } from './analyser.ts'
import { foldWord } from './fold-word.ts'
import { isUnspaced } from './script.ts'
import type { Token } from './tokens.ts'

/** No word has this sign: what begins with it is a name, as it is written and not stemmed. */
export const nameSign = '='
/** Begins the term of an initialism that a text has, and of one that it writes out. */
export const [initialsSign, writtenOutSign] = ['=#', '=~']
/** Words that a name has at most to be found as a whole, and the characters of its term. */
const maxWords = 8
const maxLength = 128

/** The term of a word in the names of pages, folded and not stemmed. */
export function nameWord(word: string): string {
  return nameSign + word
}

/** The word of such a term; undefined for every other term. */
export function wordOfName(term: string): string | undefined {
  return isNameTerm(term) && !/^=[=#~]/.test(term) ? term.slice(1) : undefined
}

export function isNameTerm(term: string): boolean {
  return term.startsWith(nameSign)
}

/** The term of a name as a whole; undefined where it has no words, or too many. */
export function wholeName(name: string, analyser: Analyser): string | undefined {
  return wholeOf(wordsOf(name, analyser.tokens(name)))
}

function wholeOf(words: readonly string[]): string | undefined {
  const term = nameSign + nameSign + words.join(nameSign)
  return words.length === 0 || words.length > maxWords || term.length > maxLength ? undefined : term
}

/** What the names of a page, its title and its aliases, are found by beside their words. */
export function nameTerms(names: readonly string[], analyser: Analyser): string[] {
  const terms = new Set<string>()
  for (const name of names) {
    const words = wordsOf(name, analyser.tokens(name))
    for (const word of words) if (!isUnspaced(word)) terms.add(nameWord(word))
    const whole = wholeOf(words)
    if (whole !== undefined) terms.add(whole)
  }
  return [...terms]
}

function wordsOf(name: string, tokens: readonly Token[]): string[] {
  return tokens.map(({ start, end }) => foldWord(name.slice(start, end))).filter((word) => word !== '')
}
