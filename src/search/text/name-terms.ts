import { fold } from '../../rules/text/fold.ts'
import type { Analyser } from './analyser.ts'
import { isUnspaced } from './script.ts'
import { foldWord } from './spelling.ts'
import type { Token } from './tokens.ts'

/** Prefix of name terms, which are as written and not stemmed. No word contains it. */
export const nameSign = '='
/** Prefixes of the term of an initialism found in a text, and of one formed from words of a text. */
const [initialsSign, writtenOutSign] = ['=#', '=~']
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

const words = /[\p{L}\p{N}]+/gu
/** Matches `BYOD`, and `Bring Your Own Device`, also with short lower-case words: `Point of Sale`. */
const written = /(?<![\p{L}\p{N}])\p{Lu}{3,6}(?![\p{L}\p{N}])/gu
const capitalised =
  /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}{1,30}(?:[ -](?:\p{Ll}{1,3} )?\p{Lu}\p{Ll}{1,30}){2,5}(?![\p{L}\p{N}])/gu
const [least, most] = [3, 6]
/** Maximum words of a question that are examined, and maximum chunks with a word that counts as rare. */
const [maxAsked, rare] = [64, 2]

/** Returns the terms of the initialisms in a text, and of those that its capitalised words spell. */
export function initialismsIn(text: string, analyser: Analyser): string[] {
  const short = text.match(written) ?? []
  // The first word may be the start of the sentence and not of the name.
  const runs = (text.match(capitalised) ?? []).flatMap((run) => [run, run.replace(/^\p{L}+[ -](?:\p{Ll}+ )?/u, '')])
  return [...short.map((one) => initialsSign + fold(one)), ...runs.flatMap((run) => initialismsOf(run, analyser))]
}

/** Returns the initialisms of all words of a name, and of its words that are no stop words. */
export function initialismsOf(name: string, analyser: Analyser, sign = writtenOutSign): string[] {
  const all = name.match(words) ?? []
  const telling = all.filter((word) => !analyser.isStopWord(fold(word)))
  const initials = [all, telling].map((some) => some.map((word) => [...word][0]).join(''))
  const whole = initials.filter(({ length }) => length >= least && length <= most)
  return [...new Set(whole.map((letters) => sign + fold(letters)))]
}

/** Returns the initialism terms of the index that words of a query may mean: a rare word may be one, several words may spell one. */
export function initialismsMeant(run: string, analyser: Analyser, chunksWith: (term: string) => number): string[] {
  const all = run.match(words) ?? []
  const [first = '', last = ''] = [all[0], all.at(-1)]
  const isRare = () => analyser.tokens(run).every(({ term }) => chunksWith(term) <= rare)
  const isName = () => ![first, last].some((word) => analyser.isStopWord(fold(word)))
  // Nearly any three words form the initialism of some name.
  const named = all.length > least || /^\p{Lu}.*\s\p{Lu}/u.test(run) ? initialismsOf(run, analyser, initialsSign) : []
  const meant =
    all.length > 1 ? (isName() ? named : []) : first.length < least || !isRare() ? [] : [writtenOutSign + fold(first)]
  return meant.filter((term) => chunksWith(term) > 0)
}

/** Returns the initialism terms that the first words of a question may mean. */
export function initialismsAsked(question: string, analyser: Analyser, chunksWith: (term: string) => number): string[] {
  const all = (question.match(words) ?? []).slice(0, maxAsked)
  const runs = all.flatMap((_, from) =>
    Array.from({ length: Math.min(most, all.length - from) }, (__, more) => all.slice(from, from + more + 1).join(' ')),
  )
  return [...new Set(runs.flatMap((run) => initialismsMeant(run, analyser, chunksWith)))]
}
