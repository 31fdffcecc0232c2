import type { Range } from '../../rules/text/sentences.ts'
import { characterStarts, unspaced } from './script.ts'

/** One word of a text, at one position. */
export type Token = Range & {
  /** What it is indexed by: never empty, without spaces. */
  term: string
  /**
   * What else it is found by: at the first word of an identifier or a hyphened word the whole (`snakecas` of `snake_case`), the
   * stem without diacritics where that is another, and another way to write its letters (`mueller` of `müller`, `dont` of
   * `don't`); at the first of numbers with dots all of them (`3.14`).
   */
  also: readonly string[]
}

/** Longer words are cut to this: of a hash or of text without spaces, more tells nothing. */
export const maxWord = 64
/** Shorter ones are taken for names, however their letters are mixed. */
const minEncoded = 20

const letter = `[[\\p{L}\\p{N}]--${unspaced}]`
/** Letters, digits, marks, and what shows nothing inside a word: soft hyphen and joiners. */
const inside = `[[\\p{L}\\p{N}\\p{M}\\u00ad\\u200c\\u200d\\u2060]--${unspaced}]`
const word = `${letter}${inside}{0,255}(?:['’＇]${letter}${inside}{0,255}){0,8}`
const join = `(?:_{1,8}|[\\-‐‑]|(?<=\\p{L})\\.(?=\\p{L}))`
/** What belongs to a name such as `C++`, `Notepad++` or `C#`; `#` only behind a single letter, as in `issue#12` it divides. */
const sign = `\\+\\+(?![+\\p{L}])|(?<=(?<!${inside})\\p{L})#(?![#${inside}])`

/** What is shown as a picture; arrows and the like are punctuation. */
const picture =
  '[[\\p{Emoji_Presentation}[\\p{Extended_Pictographic}--[\\u0000-\\u25ff]]]--\\p{RI}](?:\\ufe0f|\\p{EMod})?'

/**
 * What a text is cut into first: numbers with their thousands set apart; numbers that dots join, as the group `dotted`; the
 * first number of another version with its `v`, as the group `version`; runs of the unspaced scripts; words, several where underscores,
 * hyphens or dots join them, and as the group `sign` what ends a name; and emoji, as the group `emoji`. Every repetition is bounded, since a regular expression keeps a way back for each character;
 * what is left of a word beyond that is passed over.
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

/** What joins words to one name: `snake_case`, `on-call`, `Node.js`. */
export const joins = /_+|[-‐‑]|(?<=\p{L})\.(?=\p{L})/gu

/** What the analyser divides, in one: `foobar` of `foo-bar` and of `fooBar`. */
export function unjoined(name: string): string {
  return name.replace(joins, '').toLowerCase()
}

/**
 * Where a word begins inside another: by case, `camel|Case`, `HTTP|Server2`, `HTTP2|Server`, and between a number and its unit,
 * `5|GB`. `IDs`, `URLs`, `B2B` and `p53` are one word each.
 */
const humps =
  /(?<=\p{Ll})(?=\p{Lu})|(?<=[\p{Lu}\p{N}])(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))|(?<=^\p{Nd}{1,15})(?=\p{L}{1,15}$)/u

/** A word without joins and humps, as nearly all are. */
const plainWord = /^[A-Za-z][a-z]{0,63}$/

/** The words of a run of words: between its joins, and by the kind of its letters. */
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
  // Longer ones are no words but encoded data, where case says nothing.
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

/** Whether a word is encoded data, such as base64, and no name: long, and more often than not one kind follows another. */
function isEncoded(word: string): boolean {
  if (word.length <= minEncoded) return false
  let changes = 0
  for (let at = 1; at < word.length; at++)
    if (kindOf(word.charCodeAt(at)) !== kindOf(word.charCodeAt(at - 1))) changes++
  return changes * 2 > word.length
}

/** Digit, capital, and anything else; of ASCII, which encodings are in. */
function kindOf(code: number): number {
  if (code >= 48 && code <= 57) return 0
  return code >= 65 && code <= 90 ? 1 : 2
}

/** The line that lengthens the last vowel of a foreign word, which some leave out: `サーバー`. As Lucene, of four characters and more. */
const lengthened = /(?<=[ァ-ヺー]{3})ー(?![ァ-ヺー])/g

/**
 * The characters of a run of an unspaced script in overlapping pairs, as Lucene's CJKAnalyzer has them, and the last one
 * alone, so that every character begins one of them.
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

/** Whether a word is an emoji: it may be there or not beside other words. */
export function isEmoji(word: string): boolean {
  return /^[\p{Emoji_Presentation}\p{Extended_Pictographic}]/u.test(word)
}
