import { LRUCache } from 'lru-cache'
import { primaryLanguage } from '../../rules/text/language.ts'
import type { Range } from '../../rules/text/sentences.ts'
import { stopWordsFor } from '../../rules/text/stop-words.ts'
import { endOfPlainRun, isNumber, KnownRuns, nextLetter, releaseUnits, unitsOf } from './plain-runs.ts'
import { isComposed, isUnspaced, oneScript } from './script.ts'
import {
  elisionOf,
  foldWord,
  plainApostrophes,
  respellerFor,
  spelledWord,
  splitterFor,
  transliteratorFor,
  withoutElision,
} from './spelling.ts'
import { lightArabic, mayBeStemmed, stemmerFor } from './stemmer.ts'
import { isEmoji, joins, maxWord, pairsOf, runs, type Token, wordsOf } from './tokens.ts'

/** Raise with every change of the rules, or of the package of stemmers. */
const revision = 5
/** Languages that write compounds as one word. */
const joining: ReadonlySet<string> = new Set(['de', 'nl', 'da', 'sv', 'nb', 'nn', 'no'])
const none: readonly string[] = []
/** Maximum cached runs that are not plain, some 5 MB. */
const maxKnown = 2 ** 15
const startsWithLetter = /^\p{L}/u
/** Matches words that have no alternative terms. */
const plainWord = /^[a-z0-9]+$/
/** Matches a zero-padded number: `0004711`. */
const filled = /^0+[1-9]\d{2,}$/
/** Matches the variation selector and skin tone of an emoji. */
const variants = /[\ufe0f\p{EMod}]/gu
const analysers = new Map<string, Analyser>()

/** Returns the analyser of a language, by its BCP 47 tag. An unknown language is folded but not stemmed. */
export function analyserFor(language: string): Analyser {
  const primary = primaryLanguage(language)
  return analysers.getOrInsertComputed(primary, () => new Analyser(primary))
}

/**
 * Turns texts into terms. Words are runs of letters, digits and marks, without case and diacritics, in one of several spellings,
 * stemmed. Hyphens, underscores, dots between letters, and capitals inside a word divide it, and so does a number before its unit
 * (`5GB`). `user's` and `don't` are one word; `10,000` is `10000`, `v1.2.3` is `1`, `2`, `3`, and `p53` stays whole. `C++` and
 * `C#` keep their signs. Scripts without spaces give pairs of characters.
 */
export class Analyser {
  /** Changes whenever texts would give other terms. An index stores it with its terms. */
  readonly version: string
  /** True if the language writes compounds as one word, ending with the main noun: `Mietvertrag`. */
  readonly joinsNouns: boolean
  /** Splits a word that is often written as two: `back up` for `backup`. */
  readonly split: (word: string) => string | undefined
  readonly #language: string
  readonly #respell: (word: string) => string
  readonly #transliterate: (word: string) => string
  readonly #stem: (word: string) => string
  readonly #stopWords: ReadonlySet<string>
  readonly #plain = new KnownRuns()
  /** Tokens of other runs. */
  readonly #known = new LRUCache<string, readonly Token[]>({ max: maxKnown })

  constructor(language: string) {
    this.version = `${revision} ${language} unicode-${process.versions.unicode}`
    this.joinsNouns = joining.has(language)
    this.#language = language
    this.#respell = respellerFor(language)
    this.split = splitterFor(language)
    this.#transliterate = transliteratorFor(language)
    this.#stem = stemmerFor(language)
    this.#stopWords = stopWordsFor(language)
  }

  /** Returns the tokens of a text, in order. `start` and `end` are UTF-16 offsets. */
  tokens(text: string): Token[] {
    const tokens: Token[] = []
    this.eachToken(text, (token, from) => tokens.push(moved(token, from)))
    return tokens
  }

  /** Visits each token in order, with the offset that its own offsets are relative to. Reuses the tokens of known words. */
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

  /** True if queries ignore the folded word. */
  isStopWord(word: string): boolean {
    return this.#stopWords.has(plainApostrophes(word))
  }

  /** True if a word is insignificant beside others: an emoji, or a function word without its apostrophe (`dont`). */
  isIdle(word: string): boolean {
    return isEmoji(word) || (/[ts]$/.test(word) && this.isStopWord(word.replace(/(?<=n)t$|s$/, "'$&")))
  }

  /** True if the term of a folded word may differ from the word. Faster than computing the term. */
  mayChange(word: string): boolean {
    return mayBeStemmed(word, this.#language) || this.#respell(word) !== word
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
    // Numbers are too diverse to cache.
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

  /** Returns no token if nothing of the word is left. */
  #ofWord(run: string, { start, end }: Range): Token[] {
    const begin = start + elisionOf(run.slice(start, Math.min(end, start + maxWord)), this.#language)
    const spelled = this.#respell(spelledWord(run.slice(begin, Math.min(end, begin + maxWord))))
    const folded = foldWord(spelled)
    const plain = this.#stem(folded)
    // Snowball's suffixes have diacritics.
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

/** Returns `1`, `2` and `3` for `v1.2.3`, and the text as written. */
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

/** Returns the tokens of a name such as `notepad++`. A single letter is not found without its sign. */
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

/** Copies a substring, so that the text it was cut from can be freed. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
