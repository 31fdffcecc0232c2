import { primaryLanguage } from '../../knowledge/text/language.ts'
import { stopWordsFor } from '../../knowledge/text/stop-words.ts'
import { elisionOf } from './elision.ts'
import { foldWord, plainApostrophes, spelledWord } from './fold-word.ts'
import { KnownRuns } from './known-runs.ts'
import { endOfPlainRun, nextLetter } from './plain-runs.ts'
import { isComposed, isUnspaced } from './script.ts'
import { respellerFor, splitterFor, transliteratorFor } from './spelling.ts'
import { stemmerFor } from './stemmer.ts'
import { joins, maxWord, pairsOf, type Range, runs, wordsOf } from './tokens.ts'

/** One word of a text, at one position. */
export type Token = Range & {
  /** What it is indexed by: never empty, without spaces. */
  term: string
  /**
   * What else it is found by: at the first word of an identifier or a hyphened word the whole (`snakecas` of `snake_case`), the
   * stem without diacritics where that is another, and another way to write its letters (`mueller` of `müller`).
   */
  also: readonly string[]
}

/**
 * Takes texts to terms. Words are runs of letters, digits and marks, without case and diacritics, in one of several spellings,
 * stemmed. Hyphens, underscores, dots between letters, and capitals inside a word divide it, and so does a number before its
 * unit (`5GB`). `user's` and `don't` are one word; `10,000` is `10000`, `v1.2.3` is `1`, `2`, `3`, and `p53` stays whole.
 * `C++` and `C#` keep their signs. Scripts without spaces give pairs of characters.
 */
export type Analyser = {
  /** Changes whenever texts would give other terms: an index keeps it beside its terms. */
  readonly version: string
  /** In order; `start` and `end` are UTF-16 offsets into the text as given. */
  tokens(text: string): Token[]
  /** Whether a query leaves it out, asked of the token's folded word. */
  isStopWord(word: string): boolean
  /** A word as two, where many write it so: `back up` of `backup`. */
  split(word: string): string | undefined
}

/** To be raised with every change of the rules, or of the package of the stemmers. */
const revision = 3
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
  readonly #respell: (word: string) => string
  readonly #transliterate: (word: string) => string
  readonly #split: (word: string) => string | undefined
  readonly #stem: (word: string) => string
  readonly #stopWords: ReadonlySet<string>
  readonly #known = new KnownRuns()

  constructor(language: string) {
    this.version = `${revision} ${language} unicode-${process.versions.unicode}`
    this.#language = language
    this.#respell = respellerFor(language)
    this.#split = splitterFor(language)
    this.#transliterate = transliteratorFor(language)
    this.#stem = stemmerFor(language)
    this.#stopWords = stopWordsFor(language)
  }

  tokens(text: string): Token[] {
    const tokens: Token[] = []
    let at = nextLetter(text, 0)
    while (at < text.length) {
      const end = endOfPlainRun(text, at)
      if (end > at) {
        for (const token of this.#ofPlainRun(text, at, end)) tokens.push(moved(token, at))
        at = nextLetter(text, end)
        continue
      }
      runs.lastIndex = at
      const { 0: run = '', index = text.length, groups } = runs.exec(text) ?? {}
      if (run === '') break
      for (const token of this.#ofRun(run, groups)) tokens.push(moved(token, index))
      at = nextLetter(text, index + run.length)
    }
    return tokens
  }

  isStopWord(word: string): boolean {
    return this.#stopWords.has(plainApostrophes(word))
  }

  split(word: string): string | undefined {
    return this.#split(word)
  }

  #ofRun(run: string, { version, sign }: Readonly<Record<string, string | undefined>> = {}): readonly Token[] {
    if (version !== undefined) return [{ start: 0, end: run.length, term: run.slice(1), also: [run.toLowerCase()] }]
    if (sign !== undefined) return withSign(this.#ofWords(run.slice(0, -sign.length)), sign)
    return isUnspaced(run) ? ofPairs(run) : this.#ofWords(run)
  }

  #ofPlainRun(text: string, start: number, end: number): readonly Token[] {
    return this.#known.find(text, start, end) ?? this.#ofWords(text.slice(start, end))
  }

  #ofWords(run: string): readonly Token[] {
    const known = this.#known.find(run, 0, run.length)
    if (known !== undefined) return known
    const own = copyOf(run)
    const words = wordsOf(own).flatMap((range) => this.#ofWord(own, range))
    if (own.length > maxWord) return words
    const tokens = words.length > 1 && startsWithLetter.test(own) ? this.#withWhole(words, own) : words
    this.#known.set(own, tokens)
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
    const spelled = this.#respell(spelledWord(run.slice(begin, Math.min(end, begin + maxWord))))
    const folded = foldWord(spelled)
    const plain = this.#stem(folded)
    // Snowball's suffixes are spelled with their diacritics.
    const term = folded === spelled ? plain : foldWord(this.#stem(spelled))
    if (term === '') return []
    const written = this.#transliterate(spelled)
    const also = new Set([plain, ...(written === spelled ? [] : [this.#stem(foldWord(written))])])
    also.delete(term)
    also.delete('')
    return [{ start: begin, end, term, also: also.size === 0 ? none : [...also] }]
  }
}

function moved({ start, end, term, also }: Token, by: number): Token {
  return { start: start + by, end: end + by, term, also }
}

/** A name such as `notepad++`; a single letter is nothing without its sign. */
function withSign(words: readonly Token[], sign: string): Token[] {
  const last = words.at(-1)
  if (last === undefined) return []
  const others = [...last.term].length > 1 ? [last.term, ...last.also] : none
  return [
    ...words.slice(0, -1),
    { ...last, end: last.end + sign.length, term: last.term.slice(0, maxWord - sign.length) + sign, also: others },
  ]
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
