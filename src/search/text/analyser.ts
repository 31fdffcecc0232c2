import { LRUCache } from 'lru-cache'
import { primaryLanguage } from '../../rules/text/language.ts'
import type { Range } from '../../rules/text/sentences.ts'
import { stopWordsFor } from '../../rules/text/stop-words.ts'
import { foldWord, plainApostrophes, spelledWord } from './fold-word.ts'
import { endOfPlainRun, isNumber, KnownRuns, nextLetter, releaseUnits, unitsOf } from './plain-runs.ts'
import { isComposed, isUnspaced, oneScript } from './script.ts'
import { elisionOf, respellerFor, splitterFor, transliteratorFor, withoutElision } from './spelling.ts'
import { lightArabic, mayBeStemmed, stemmerFor } from './stemmer.ts'
import { isEmoji, joins, maxWord, pairsOf, runs, type Token, wordsOf } from './tokens.ts'

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
  /** Calls with each token in order, whose offsets count from `from` on; and makes none anew for a word that it knows. */
  eachToken(text: string, visit: (token: Token, from: number) => void): void
  /** Whether a query leaves it out, asked of the token's folded word. */
  isStopWord(word: string): boolean
  /** Whether a word says little beside others: an emoji, or a function word without its apostrophe (`dont`). */
  isIdle(word: string): boolean
  /** Whether the term of a folded word may be another: told sooner than what it is. */
  mayChange(word: string): boolean
  /** Whether compounds are one word, whose last part tells what it is: `Mietvertrag`. */
  readonly joinsNouns: boolean
  /** A word as two, where many write it so: `back up` of `backup`. */
  split(word: string): string | undefined
}

/** To be raised with every change of the rules, or of the package of the stemmers. */
const revision = 5
/** Of languages that join nouns. */
const joining: ReadonlySet<string> = new Set(['de', 'nl', 'da', 'sv', 'nb', 'nn', 'no'])
const none: readonly string[] = []
/** Runs that are kept beside the plain ones, which take some 5 MB. */
const maxKnown = 2 ** 15
const startsWithLetter = /^\p{L}/u
/** Of letters that are found in no other way. */
const plainWord = /^[a-z0-9]+$/
/** A number that is filled with zeros: `0004711`. */
const filled = /^0+[1-9]\d{2,}$/
/** How an emoji is shown, and the colour of a skin. */
const variants = /[\ufe0f\p{EMod}]/gu
const analysers = new Map<string, Analyser>()

/** The analyser of a language, by its BCP 47 tag; of one that is not known, one that folds but does not stem. */
export function analyserFor(language: string): Analyser {
  const primary = primaryLanguage(language)
  return analysers.getOrInsertComputed(primary, () => new LanguageAnalyser(primary))
}

class LanguageAnalyser implements Analyser {
  readonly version: string
  readonly joinsNouns: boolean
  readonly #language: string
  readonly #respell: (word: string) => string
  readonly #transliterate: (word: string) => string
  readonly #split: (word: string) => string | undefined
  readonly #stem: (word: string) => string
  readonly #stopWords: ReadonlySet<string>
  readonly #plain = new KnownRuns()
  /** Those of other runs. */
  readonly #known = new LRUCache<string, readonly Token[]>({ max: maxKnown })

  constructor(language: string) {
    this.version = `${revision} ${language} unicode-${process.versions.unicode}`
    this.joinsNouns = joining.has(language)
    this.#language = language
    this.#respell = respellerFor(language)
    this.#split = splitterFor(language)
    this.#transliterate = transliteratorFor(language)
    this.#stem = stemmerFor(language)
    this.#stopWords = stopWordsFor(language)
  }

  tokens(text: string): Token[] {
    const tokens: Token[] = []
    this.eachToken(text, (token, from) => tokens.push(moved(token, from)))
    return tokens
  }

  eachToken(text: string, visit: (token: Token, from: number) => void): void {
    const units = unitsOf(text)
    for (let at = nextLetter(units, 0); at < units.length; ) {
      const end = endOfPlainRun(units, at)
      if (end > at) {
        for (const token of this.#ofPlainRun(text, units, at, end)) visit(token, at)
        at = nextLetter(units, end)
        continue
      }
      runs.lastIndex = at
      const { 0: run = '', index = text.length, groups } = runs.exec(text) ?? {}
      if (run === '') break
      for (const token of this.#ofRun(run, groups)) visit(token, index)
      at = nextLetter(units, index + run.length)
    }
    releaseUnits(units)
  }

  isStopWord(word: string): boolean {
    return this.#stopWords.has(plainApostrophes(word))
  }

  isIdle(word: string): boolean {
    return isEmoji(word) || (/[ts]$/.test(word) && this.isStopWord(word.replace(/(?<=n)t$|s$/, "'$&")))
  }

  mayChange(word: string): boolean {
    return mayBeStemmed(word, this.#language) || this.#respell(word) !== word
  }

  split(word: string): string | undefined {
    return this.#split(word)
  }

  #ofRun(
    run: string,
    { dotted, emoji, version, sign }: Readonly<Record<string, string | undefined>> = {},
  ): readonly Token[] {
    if (dotted !== undefined) return ofNumbers(run)
    if (emoji !== undefined) return [{ start: 0, end: run.length, term: run.replace(variants, '') || run, also: none }]
    if (version !== undefined) return [{ start: 0, end: run.length, term: run.slice(1), also: [run.toLowerCase()] }]
    if (sign !== undefined) return withSign(this.#ofWords(run.slice(0, -sign.length)), sign)
    return isUnspaced(run) ? ofPairs(run) : this.#ofWords(run)
  }

  #ofPlainRun(text: string, units: Uint16Array, start: number, end: number): readonly Token[] {
    // There are too many numbers to keep them.
    if (isNumber(units, start)) return this.#ofWord(text.slice(start, end), { start: 0, end: end - start })
    const known = this.#plain.find(units, start, end)
    if (known !== undefined) return known
    const tokens = this.#analysed(text.slice(start, end))
    this.#plain.add(units, start, end, tokens)
    return tokens
  }

  #ofWords(run: string): readonly Token[] {
    const known = this.#known.get(run)
    if (known !== undefined) return known
    const own = copyOf(run)
    const tokens = this.#analysed(own)
    if (own.length <= maxWord) this.#known.set(own, tokens)
    return tokens
  }

  #analysed(run: string): readonly Token[] {
    const words = wordsOf(run).flatMap((range) => this.#ofWord(run, range))
    const isName = words.length > 1 && run.length <= maxWord && startsWithLetter.test(run)
    return isName ? this.#withWhole(words, run) : words
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
    if (folded === spelled && written === spelled && plainWord.test(folded)) {
      return [{ start: begin, end, term, also: filled.test(term) ? [term.replace(/^0+/, '')] : none }]
    }
    const also = new Set([plain, lightArabic(folded) ?? term])
    if (written !== spelled) also.add(this.#stem(foldWord(written)))
    for (const other of withoutElision(folded)) also.add(this.#stem(other))
    also.delete(term)
    also.delete('')
    return [{ start: begin, end, term, also: also.size === 0 ? none : [...also] }]
  }
}

/** `1`, `2` and `3` of `v1.2.3`; what is written is found, too. */
function ofNumbers(run: string): Token[] {
  const whole = run.replace(/^v/i, '').slice(0, maxWord)
  return Array.from(run.matchAll(/v?(?<digits>\d+)/gi), ({ 0: text, index, groups }) => {
    const also = index > 0 ? none : text === groups?.digits ? [whole] : [text.toLowerCase(), whole]
    return { start: index, end: index + text.length, term: groups?.digits ?? text, also }
  })
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
  return pairsOf(run).flatMap(({ start, end, text }) => {
    const pair = text.slice(0, maxWord)
    const term = oneScript(composed ? pair : foldWord(copyOf(pair)))
    return term === '' ? [] : [{ start, end, term, also: none }]
  })
}

/** A text that does not keep a longer one, which it was cut from, in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
