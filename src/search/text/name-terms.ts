import type { Analyser } from './analyser.ts'
import { foldWord } from './fold-word.ts'
import { isUnspaced } from './script.ts'
import type { Token } from './tokens.ts'

/** Prefix of name terms, which are as written and not stemmed. No word contains it. */
export const nameSign = '='
/** Prefixes of the terms of an initialism in a text, and of one that a text spells out. */
export const [initialsSign, writtenOutSign] = ['=#', '=~']
/** Maximum words of a name that is found as a whole, and characters of its term. */
const maxWords = 8
const maxLength = 128

/** Returns the term of a word in page names, folded and not stemmed. */
export function nameWord(word: string): string {
  return nameSign + word
}

/** Returns the word of such a term; undefined for other terms. */
export function wordOfName(term: string): string | undefined {
  return isNameTerm(term) && !/^=[=#~]/.test(term) ? term.slice(1) : undefined
}

export function isNameTerm(term: string): boolean {
  return term.startsWith(nameSign)
}

/** Returns the term of a whole name; undefined if it has no words, or too many. */
export function wholeName(name: string, analyser: Analyser): string | undefined {
  return wholeOf(wordsOf(name, analyser.tokens(name)))
}

function wholeOf(words: readonly string[]): string | undefined {
  const term = nameSign + nameSign + words.join(nameSign)
  return words.length === 0 || words.length > maxWords || term.length > maxLength ? undefined : term
}

/** Returns the name terms of a page's title and aliases. */
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
