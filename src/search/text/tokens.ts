import type { Range } from '../../rules/text/sentences.ts'
import { characterStarts, unspaced } from './script.ts'

/** A word of a text, at one position. */
export type Token = Range & {
  /** Term that the word is indexed by: not empty, without spaces. */
  term: string
  /**
   * Alternative terms: on the first word of an identifier or a hyphenated word the whole (`snakecas` for `snake_case`); the stem
   * without diacritics if it differs; another spelling of its letters (`mueller` for `müller`, `dont` for `don't`); on the first
   * of numbers with dots all of them (`3.14`).
   */
  also: readonly string[]
}

/** Maximum length of a term. Longer words are hashes or unspaced text, whose rest is not worth indexing. */
export const maxWord = 64
/** Minimum length of encoded data. A shorter word counts as a name, however mixed its letters are. */
const minEncoded = 20

const letter = `[[\\p{L}\\p{N}]--${unspaced}]`
/** Pattern of letters, digits, marks, and invisible characters inside a word: soft hyphen and joiners. */
const inside = `[[\\p{L}\\p{N}\\p{M}\\u00ad\\u200c\\u200d\\u2060]--${unspaced}]`
const word = `${letter}${inside}{0,255}(?:['’＇]${letter}${inside}{0,255}){0,8}`
const join = `(?:_{1,8}|[\\-‐‑]|(?<=\\p{L})\\.(?=\\p{L}))`
/** Pattern of the signs of names such as `C++`, `Notepad++` or `C#`. `#` counts only after a single letter: it divides `issue#12`. */
const sign = `\\+\\+(?![+\\p{L}])|(?<=(?<!${inside})\\p{L})#(?![#${inside}])`

/** Pattern of pictographs, but not arrows and similar signs, which are punctuation. */
const picture =
  '[[\\p{Emoji_Presentation}[\\p{Extended_Pictographic}--[\\u0000-\\u25ff]]]--\\p{RI}](?:\\ufe0f|\\p{EMod})?'

/**
 * Matches the runs of a text: numbers with thousands separators; numbers joined by dots, as the group `dotted`; the first number
 * of another version with its `v`, as the group `version`; runs of the unspaced scripts; words, several if underscores, hyphens
 * or dots join them, with the sign of a name as the group `sign`; and emoji, as the group `emoji`. Every repetition is bounded,
 * because a regular expression keeps a way back for each character. The rest of a longer word is skipped.
 */
export const runs = new RegExp(
  [
    `\\d{1,3}(?:,\\d{3}){1,6}(?!,?${letter})`,
    `(?<!${inside})(?<dotted>[vV]?\\d{1,15}(?:\\.\\d{1,15}){1,7})(?!${inside})`,
    `(?<!${inside})(?<version>[vV]\\d{1,9})(?=\\.\\d)`,
    `${unspaced}{1,10000}`,
    `(?<!${inside})${word}(?:${join}${word}){0,64}(?<sign>${sign})?`,
    `(?<emoji>\\p{RI}{2}|${picture}(?:\\u200d${picture}){0,8})`,
  ].join('|'),
  'gv',
)

/** Matches the joiners between words of a name: `snake_case`, `on-call`, `Node.js`. */
export const joins = /_+|[-‐‑]|(?<=\p{L})\.(?=\p{L})/gu

/** Joins the words of a name: `foobar` for `foo-bar` and `fooBar`. */
export function unjoined(name: string): string {
  return name.replace(joins, '').toLowerCase()
}

/**
 * Matches word starts inside a name: by case, `camel|Case`, `HTTP|Server2`, `HTTP2|Server`, and between a number and its unit, `5|GB`.
 * `IDs`, `URLs`, `B2B` and `p53` are one word each.
 */
const humps =
  /(?<=\p{Ll})(?=\p{Lu})|(?<=[\p{Lu}\p{N}])(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))|(?<=^\p{Nd}{1,15})(?=\p{L}{1,15}$)/u

/** Matches a word without joiners and capitals inside, as nearly all are. */
const plainWord = /^[A-Za-z][a-z]{0,63}$/

/** Returns the words of a run: between its joiners, and by the kind of its letters. */
export function wordsOf(run: string): Range[] {
  if (plainWord.test(run)) return [{ start: 0, end: run.length }]
  const words: Range[] = []
  let start = 0
  for (const join of run.matchAll(joins)) {
    words.push(...humpsOf(run, start, join.index))
    start = join.index + join[0].length
  }
  words.push(...humpsOf(run, start, run.length))
  return words
}

function humpsOf(run: string, start: number, end: number): Range[] {
  // Longer ones are encoded data, where case has no meaning.
  if (end - start > maxWord) return [{ start, end }]
  const words: Range[] = []
  const word = run.slice(start, end)
  if (isEncoded(word)) return [{ start, end }]
  for (const { length } of word.split(humps)) {
    const from = words.at(-1)?.end ?? start
    words.push({ start: from, end: from + length })
  }
  return words
}

/** True if a word is encoded data, such as base64: long, and at most places the kind of character changes. */
function isEncoded(word: string): boolean {
  if (word.length <= minEncoded) return false
  let changes = 0
  for (let at = 1; at < word.length; at++)
    if (kindOf(word.charCodeAt(at)) !== kindOf(word.charCodeAt(at - 1))) changes++
  return changes * 2 > word.length
}

/** Returns the kind of an ASCII character: digit, capital, or anything else. */
function kindOf(code: number): number {
  if (code >= 48 && code <= 57) return 0
  return code >= 65 && code <= 90 ? 1 : 2
}

/** Matches the mark that lengthens the last vowel of a foreign word, which some omit: `サーバー`. As in Lucene, from four characters on. */
const lengthened = /(?<=[ァ-ヺー]{3})ー(?![ァ-ヺー])/g

/**
 * Returns the characters of an unspaced run in overlapping pairs, as Lucene's CJKAnalyzer, and the last one alone, so that every
 * character begins a token.
 */
export function pairsOf(run: string): (Range & { text: string })[] {
  const all = characterStarts(run)
  const left = new Set(Array.from(run.matchAll(lengthened), ({ index }) => index))
  const characters = all
    .slice(0, -1)
    .flatMap((start, index) => (left.has(start) ? [] : { start, end: all[index + 1] ?? start }))
  return characters.map(({ start, end }, index) => {
    const next = characters[index + 1] ?? { start: end, end }
    return { start, end: next.end, text: run.slice(start, end) + run.slice(next.start, next.end) }
  })
}

/** True if a word is an emoji, which is optional beside other words. */
export function isEmoji(word: string): boolean {
  return /^[\p{Emoji_Presentation}\p{Extended_Pictographic}]/u.test(word)
}
