import type { Analyser } from '../text/analyser.ts'
import { isWithinEdits } from '../text/edit-rows.ts'
import { foldWord } from '../text/fold-word.ts'
import { nameWord, wordOfName } from '../text/name-terms.ts'
import { isUnspaced } from '../text/script.ts'
import { nameLeaf } from './names.ts'
import type { QueryPart } from './parse-query.ts'
import { type Query, weighted } from './query-tree.ts'
import { joinWords, literalOf, wordQuery } from './query-words.ts'

/** What of the visible pages it takes to correct a word. */
export type Vocabulary = {
  chunkCount: number
  chunksWith: (term: string) => number
  similarTerms: (word: string, maxEdits: number) => [term: string, chunkCount: number][]
  termsEnding: (ending: string) => [term: string, chunkCount: number][]
  /** How many pages match. */
  pagesWith: (query: Query) => number
}

/** A word that may be misspelled. */
export type Suspect = {
  typed: string
  /** Where it begins in the query, in UTF-16 units. */
  at: number
  /** Folded. */
  word: string
  term: string
  /** How many chunks have it. */
  known: number
}

/** What a word may have been meant to be. */
export type Correction = {
  /** What finds it, each part weighted by how near it is. */
  query: Query
  /** What finds the likeliest reading; */
  likeliest: Query
  /** where those are two words that were typed as one, these; */
  split?: string
  /** and whether it goes on where the word ends. */
  isCompleted: boolean
}

/** A word in no more chunks than this is rare, unless there are very many chunks: those are full of names that stand once. */
const rare = 2
const manyChunks = 20_000
/** One in so many times more is likelier to be meant. */
const likelier = 10
/** Terms that stand for a misspelled word. */
const maxTerms = 5
const minLetters = 4
const minStem = 3
/** From this length on two edits are allowed, and not one. */
const longWord = 8
const longStem = 6
/** The shortest part of a word that was typed as one with another. */
const minPart = 3
const weights = { completed: 0.6, ended: 0.6, split: 0.8, oneEdit: 0.5, twoEdits: 0.25 }

const lettersOnly = /^\p{L}[\p{L}\p{M}]*$/u
const digitsOnly = /^\d+$/

/**
 * The word of a part that no visible page has, or hardly any. Undefined for all others, and for numbers, identifiers, words of fewer
 * than four letters, and scripts without spaces; but for numbers of four digits and more that no page has.
 */
export function suspectOf(
  { word: part, query }: QueryPart,
  analyser: Analyser,
  { chunksWith, pagesWith, chunkCount }: Vocabulary,
): Suspect | undefined {
  const [token, ...others] = part === undefined ? [] : analyser.tokens(part.text)
  if (part === undefined || token === undefined || others.length > 0) return undefined
  const typed = part.text.slice(token.start, token.end)
  const word = foldWord(typed)
  const isNumber = digitsOnly.test(typed)
  if (!(isNumber || lettersOnly.test(typed)) || isUnspaced(typed) || [...word].length < minLetters) return undefined
  const known = chunksWith(token.term)
  if (known > (isNumber || chunkCount > manyChunks ? 0 : rare)) return undefined
  // It may be found in another way, such as in one with its neighbour.
  if (known === 0 && pagesWith(query) > 0) return undefined
  return { typed, at: part.at + token.start, word, term: token.term, known }
}

/**
 * What a word may have been meant to be: a word that it becomes with one edit, from eight letters on with two; words that it
 * begins; or two words that are written apart. For a word that some pages have, only words one edit away that are far likelier, and
 * two words: rare words are typed often, and a walk through all terms for each would take too long.
 */
export function correctionOf(suspect: Suspect, analyser: Analyser, vocabulary: Vocabulary): Correction | undefined {
  const text = literalOf(suspect.typed)
  const ended = suspect.known > 0 ? [] : termsEndingWith(suspect.term, analyser, vocabulary)
  const endedQueries = ended.map((term): Query => ({ type: 'term', term, text, weight: weights.ended }))
  if (digitsOnly.test(suspect.word)) {
    const query = joinWords('or', endedQueries)
    return ended.length === 0 ? undefined : { query, likeliest: query, isCompleted: false }
  }
  const similar = similarTo(suspect, analyser, vocabulary)
  const edited = similar.map(({ term, edits, name }): Query => {
    const weight = edits === 1 ? weights.oneEdit : weights.twoEdits
    const leaf: Query = { type: 'term', term, text, weight }
    return name === undefined ? leaf : joinWords('or', [leaf, nameLeaf(name, text)])
  })
  const completed = suspect.known > 0 ? [] : completedBy(suspect, analyser, vocabulary)
  const split = splitsOf(suspect, analyser, vocabulary)
  const splitQueries = split.map(({ query }) => query)
  const isNear = similar[0]?.edits === 1
  const [likeliest] = isNear ? edited : [...splitQueries, ...completed, ...endedQueries, ...edited]
  if (likeliest === undefined) return undefined
  const words = split.find(({ query }) => query === likeliest)?.words
  return {
    query: joinWords('or', [...splitQueries, ...completed, ...endedQueries, ...edited]),
    likeliest,
    isCompleted: likeliest === completed[0],
    ...(words === undefined ? {} : { split: words }),
  }
}

/** The terms that a word or number which no page has ends, the most frequent first: last parts of compounds. */
export function termsEndingWith(
  term: string,
  analyser: Analyser,
  { chunksWith, termsEnding }: Pick<Vocabulary, 'chunksWith' | 'termsEnding'>,
): string[] {
  const isSought =
    term.length >= minLetters && (digitsOnly.test(term) || (analyser.joinsNouns && lettersOnly.test(term)))
  if (!isSought || chunksWith(term) > 0) return []
  const found = termsEnding(term).sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
  return found.slice(0, maxTerms).map(([one]) => one)
}

type Similar = { term: string; edits: number; count: number; startsAlike: boolean; name?: string }

/** The likeliest terms, and what is as near or nearer. */
function similarTo({ word, term: own, known }: Suspect, analyser: Analyser, vocabulary: Vocabulary): Similar[] {
  const maxEdits = word.length < longWord ? 1 : 2
  const found = new Map<string, Similar>()
  const add = (term: string, edits: number, startsAlike: boolean, name?: string) => {
    const count = vocabulary.chunksWith(term)
    if (term === own || count === 0 || count < likelier * known || (found.get(term)?.edits ?? 3) <= edits) return
    found.set(term, { term, edits, count, startsAlike, ...(name === undefined ? {} : { name }) })
  }
  for (const [name] of known > 0 ? [] : vocabulary.similarTerms(nameWord(word), maxEdits)) {
    const meant = wordOfName(name)
    const term = meant && termOf(meant, analyser)
    if (meant !== undefined && term !== undefined) add(term, editsBetween(word, meant), word[0] === meant[0], meant)
  }
  if (known === 0 && own.length >= minStem) {
    for (const [term] of vocabulary.similarTerms(own, own.length < longStem ? 1 : maxEdits)) {
      if (term.length >= minStem && lettersOnly.test(term)) add(term, editsBetween(own, term), own[0] === term[0])
    }
  }
  const isNear = [...found.values()].some(({ edits }) => edits === 1)
  if (known > 0) {
    for (const term of oneEditFrom(own)) add(term, 1, own[0] === term[0])
  } else if (!isNear) {
    // What a slip in its ending keeps from being stemmed; words that are their own stem are found above.
    for (const edited of oneEditFrom(word)) {
      if (own === word && !analyser.mayChange(edited)) continue
      const term = termOf(edited, analyser)
      if (term !== undefined) add(term, 1, word[0] === edited[0])
    }
  }
  const likeliest = [...found.values()].sort((a, b) => likelihood(b) - likelihood(a) || (a.term < b.term ? -1 : 1))
  const most = likeliest[0]?.edits ?? 0
  return likeliest.filter(({ edits }) => edits <= most).slice(0, maxTerms)
}

/** A word of more edits, or that begins otherwise, is meant where it is so many times more frequent: a rare one may be a slip itself. */
function likelihood({ edits, startsAlike, count }: Similar): number {
  return count / (edits === 1 ? 1 : likelier) / (startsAlike ? 1 : likelier)
}

function termOf(word: string, analyser: Analyser): string | undefined {
  const [token, ...others] = analyser.tokens(word)
  return others.length > 0 || (token && analyser.isStopWord(word)) ? undefined : token?.term
}

/** 1 or 2. */
function editsBetween(one: string, other: string): number {
  return isWithinEdits(one, other, 1) ? 1 : 2
}

function completedBy({ typed }: Suspect, analyser: Analyser, { pagesWith }: Vocabulary): Query[] {
  const query = wordQuery(`${typed}*`, analyser)
  if (query === undefined || pagesWith(query) === 0) return []
  const names = nameLeaf(foldWord(typed), literalOf(typed), 'prefix')
  return [joinWords('or', [weighted(query, weights.completed), names])]
}

/** The two words that one was meant to be, where they stand one after the other somewhere. */
function splitsOf(
  { typed, known }: Suspect,
  analyser: Analyser,
  { chunksWith, pagesWith }: Vocabulary,
): { query: Query; words: string }[] {
  const splits: { query: Query; words: string }[] = []
  for (let at = minPart; at <= typed.length - minPart; at++) {
    const words = `${typed.slice(0, at)} ${typed.slice(at)}`
    const terms = analyser.tokens(words).map(({ term }) => term)
    if (terms.length !== 2 || terms.some((term) => chunksWith(term) === 0)) continue
    const query: Query = { type: 'phrase', terms, text: literalOf(typed), weight: weights.split }
    if (pagesWith(query) > known) splits.push({ query, words })
  }
  return splits
}

/** Letters that people type, by script. Words of other scripts only lose letters, or swap them. */
const alphabets: readonly [script: RegExp, letters: string][] = [
  [/^[a-z]/, 'abcdefghijklmnopqrstuvwxyz'],
  [/^\p{Script=Cyrillic}/u, 'абвгдежзиклмнопрстуфхцчшщъыьэюяіїєґ'],
  [/^\p{Script=Greek}/u, 'αβγδεζηθικλμνξοπρστυφχψως'],
]

/**
 * Every word that a folded word becomes with one edit, each once: 54n + 25 of n Latin letters. After Norvig, "How to Write a
 * Spelling Corrector", 2007.
 */
function oneEditFrom(word: string): Set<string> {
  const letters = alphabets.find(([script]) => script.test(word))?.[1] ?? ''
  const edited = new Set<string>()
  for (let at = 0; at <= word.length; at++) {
    const [before, after] = [word.slice(0, at), word.slice(at)]
    if (after !== '') edited.add(before + after.slice(1))
    if (after.length > 1) edited.add(before + after.charAt(1) + after.charAt(0) + after.slice(2))
    for (const letter of letters) {
      edited.add(before + letter + after)
      if (after !== '') edited.add(before + letter + after.slice(1))
    }
  }
  edited.delete(word)
  return edited
}
