import type { Analyser } from '../text/analyser.ts'
import { isWithinEdits } from '../text/edit-rows.ts'
import { nameWord, wordOfName } from '../text/name-terms.ts'
import { isUnspaced } from '../text/script.ts'
import { foldWord } from '../text/spelling.ts'
import { nameLeaf, type QueryPart } from './parse-query.ts'
import { type Query, weighted } from './query-tree.ts'
import { joinWords, literalOf, wordQuery } from './query-words.ts'

/** Statistics of the visible pages, to correct a word. */
export type Vocabulary = {
  chunkCount: number
  chunksWith: (term: string) => number
  similarTerms: (word: string, maxEdits: number) => [term: string, chunkCount: number][]
  termsEnding: (ending: string) => [term: string, chunkCount: number][]
  /** Returns the number of pages that match a query. */
  pagesWith: (query: Query) => number
}

export type Suspect = {
  typed: string
  /** Start in the query, in UTF-16 units. */
  at: number
  /** The folded word. */
  word: string
  term: string
  /** Number of chunks with the term. */
  known: number
}

export type Correction = {
  /** Query for all readings, each weighted by its similarity. */
  query: Query
  /** Query for the likeliest reading. */
  likeliest: Query
  /** The two words, if the likeliest reading is two words typed as one. */
  split?: string
  /** True if the likeliest reading completes the word. */
  isCompleted: boolean
}

/** Maximum chunks with a rare word. In very many chunks only an absent word is rare: they are full of names that occur once. */
const rare = 2
const manyChunks = 20_000
/** Factor by which a more frequent word is likelier to be meant. */
const likelier = 10
/** Maximum corrected terms for a word. */
const maxTerms = 5
const minLetters = 4
const minStem = 3
/** Minimum length of a word, and of a stem, for two edits. */
const longWord = 8
const longStem = 6
/** Minimum length of a part of a word that is split in two. */
const minPart = 3
const weights = { completed: 0.6, ended: 0.6, split: 0.8, oneEdit: 0.5, twoEdits: 0.25 }

const lettersOnly = /^\p{L}[\p{L}\p{M}]*$/u
const digitsOnly = /^\d+$/

/**
 * Returns the word of a part if hardly any visible page has it. Undefined for other words, and for numbers, identifiers, words of
 * fewer than four letters, and scripts without spaces; but numbers of four digits and more that no page has are included.
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
  // The part may match otherwise, e.g. the word joined with its neighbour.
  if (known === 0 && pagesWith(query) > 0) return undefined
  return { typed, at: part.at + token.start, word, term: token.term, known }
}

/**
 * Returns the likely readings of a word: words one edit away, two from eight letters on; words that it begins; two words typed as
 * one. For a word that some pages have, only words one edit away that are far likelier, and two words: rare words are typed
 * often, and walking through all terms for each would take too long.
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

/** Returns terms that end with a word or number which no page has, most frequent first: the last parts of compounds. */
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

/** Returns the likeliest terms, and those at least as similar. */
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
    // Finds words whose ending has a typo that prevents stemming. Words that are their own stem are found above.
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

/**
 * Returns a frequency weighted by similarity: a word with more edits, or another first letter, must be that much more frequent. A
 * rare one may be a typo itself.
 */
function likelihood({ edits, startsAlike, count }: Similar): number {
  return count / (edits === 1 ? 1 : likelier) / (startsAlike ? 1 : likelier)
}

function termOf(word: string, analyser: Analyser): string | undefined {
  const [token, ...others] = analyser.tokens(word)
  return others.length > 0 || (token && analyser.isStopWord(word)) ? undefined : token?.term
}

/** Returns the edits, 1 or 2, between two words that are at most two edits apart. */
function editsBetween(one: string, other: string): number {
  return isWithinEdits(one, other, 1) ? 1 : 2
}

function completedBy({ typed }: Suspect, analyser: Analyser, { pagesWith }: Vocabulary): Query[] {
  const query = wordQuery(`${typed}*`, analyser)
  if (query === undefined || pagesWith(query) === 0) return []
  const names = nameLeaf(foldWord(typed), literalOf(typed), 'prefix')
  return [joinWords('or', [weighted(query, weights.completed), names])]
}

/** Returns the two words that were typed as one, if they occur consecutively. */
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

/** Letters to insert, by script. Words of other scripts only lose or swap letters. */
const alphabets: readonly [script: RegExp, letters: string][] = [
  [/^[a-z]/, 'abcdefghijklmnopqrstuvwxyz'],
  [/^\p{Script=Cyrillic}/u, 'абвгдежзиклмнопрстуфхцчшщъыьэюяіїєґ'],
  [/^\p{Script=Greek}/u, 'αβγδεζηθικλμνξοπρστυφχψως'],
]

/** Returns every word one edit away from a folded word: 54n + 25 for n Latin letters. After Norvig, "How to Write a Spelling Corrector", 2007. */
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
