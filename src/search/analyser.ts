import { foldCase } from '../knowledge/fold.ts'
import { primaryLanguage } from '../knowledge/language.ts'
import { stopWordsFor } from '../knowledge/stop-words.ts'
import { elisionOf } from './elision.ts'
import { bareWord, foldWord, plainApostrophes } from './fold-word.ts'
import { isComposed, isUnspaced } from './script.ts'
import { stemmerFor } from './stemmer.ts'
import { joins, maxWord, pairsOf, type Range, runs, wordsOf } from './tokens.ts'

/** One word of a text, at one position. */
export type Token = Range & {
  /** What it is indexed by: never empty, without spaces. */
  term: string
  /**
   * What else it is found by: at the first word of an identifier or a hyphened word the whole (`snakecas` of `snake_case`),
   * and the stem without diacritics where that is another.
   */
  also: readonly string[]
}

/**
 * Takes texts to terms. Words are runs of letters, digits and marks, without case and diacritics, stemmed. Hyphens,
 * underscores and capitals inside a word divide it; dots and slashes end it. `user's` and `don't` are one word; `10,000` is
 * `10000`, `v1.2.3` is `v1`, `2`, `3`, and `p53` stays whole. Scripts without spaces give pairs of characters.
 */
export type Analyser = {
  /** Changes whenever texts would give other terms: an index keeps it beside its terms. */
  readonly version: string
  /** In order; `start` and `end` are UTF-16 offsets into the text as given. */
  tokens(text: string): Token[]
  /** Whether a query leaves it out, asked of the token's folded word. */
  isStopWord(word: string): boolean
}

/** To be raised with every change of the rules, or of the package of the stemmers. */
const revision = 2
const maxCached = 50_000
const none: readonly string[] = []
const startsWithLetter = /^\p{L}/u
const analysers = new Map<string, Analyser>()

/** The analyser of a language, by its BCP 47 tag; of one that is not known, one that folds but does not stem. */
export function analyserFor(language: string): Analyser {
  const primary = primaryLanguage(language)
  const known = analysers.get(primary)
  if (known !== undefined) return known
  const analyser = new LanguageAnalyser(primary)
  analysers.set(primary, analyser)
  return analyser
}

class LanguageAnalyser implements Analyser {
  readonly version: string
  readonly #language: string
  readonly #stem: (word: string) => string
  readonly #stopWords: ReadonlySet<string>
  /** Tokens by run of words, with offsets in the run. */
  readonly #cache = new Map<string, readonly Token[]>()

  constructor(language: string) {
    this.version = `${revision} ${language} unicode-${process.versions.unicode}`
    this.#language = language
    this.#stem = stemmerFor(language)
    this.#stopWords = stopWordsFor(language)
  }

  tokens(text: string): Token[] {
    const tokens: Token[] = []
    for (const { 0: run, index } of text.matchAll(runs)) {
      for (const { start, end, term, also } of isUnspaced(run) ? ofPairs(run) : this.#ofWords(run)) {
        tokens.push({ start: index + start, end: index + end, term, also })
      }
    }
    return tokens
  }

  isStopWord(word: string): boolean {
    return this.#stopWords.has(plainApostrophes(word))
  }

  #ofWords(run: string): readonly Token[] {
    const known = this.#cache.get(run)
    if (known !== undefined) return known
    const own = copyOf(run)
    const words = wordsOf(own).flatMap((range) => this.#ofWord(own, range))
    if (own.length > maxWord) return words
    const tokens = words.length > 1 && startsWithLetter.test(own) ? this.#withWhole(words, own) : words
    if (this.#cache.size >= maxCached) this.#cache.clear()
    this.#cache.set(own, tokens)
    return tokens
  }

  #withWhole([first, ...others]: readonly Token[], run: string): Token[] {
    const joined = run.replace(joins, '')
    const [whole] = this.#ofWord(joined, { start: 0, end: joined.length })
    if (first === undefined || whole === undefined) return others
    const also = new Set([whole.term, ...whole.also, ...first.also])
    also.delete(first.term)
    return [{ ...first, also: [...also] }, ...others]
  }

  /** None where nothing of the word is left. */
  #ofWord(run: string, { start, end }: Range): Token[] {
    const begin = start + elisionOf(run.slice(start, Math.min(end, start + maxWord)), this.#language)
    const word = run.slice(begin, Math.min(end, begin + maxWord))
    const folded = foldWord(word)
    const plain = this.#stem(folded)
    // Snowball's suffixes are spelled with their diacritics.
    const term =
      folded === word.toLowerCase() ? plain : foldWord(this.#stem(bareWord(foldCase(word.normalize('NFKC')))))
    if (term === '') return []
    return [{ start: begin, end, term, also: plain === term || plain === '' ? none : [plain] }]
  }
}

function ofPairs(run: string): Token[] {
  const composed = isComposed(run)
  return pairsOf(run).flatMap(({ start, end }) => {
    const pair = run.slice(start, Math.min(end, start + maxWord))
    const term = composed ? pair : foldWord(copyOf(pair))
    return term === '' ? [] : [{ start, end, term, also: none }]
  })
}

/** A text that does not keep a longer one, which it was cut from, in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
