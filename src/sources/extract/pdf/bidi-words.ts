import type { Box } from './ocr-rows.ts'

/** Direction of a line or page as a whole. */
export type Direction = 'rtl' | 'ltr'
/** Kind of the characters in a piece of a word. */
type Kind = 'rtl' | 'ltr' | 'digits' | 'signs'
type Token = { text: string; kind: Kind; x: number; width: number; word: Box }

const scripts = '\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}'
/** Matches right-to-left characters. Some signs belong to them (UAX #9: AL and R). */
const rtl = `[[[${scripts}]--[\\p{N}\\p{P}]]؟؛۔׳״־׃]`
const ltr = `[\\p{L}--[${scripts}]]`
const rtlLetters = new RegExp(`[${rtl}&&\\p{L}]`, 'gv')
const ltrLetters = new RegExp(ltr, 'gv')
const tokens = new RegExp(
  [
    `(?<rtl>${rtl}(?:[${rtl}\\p{M}"'’\\u200c\\u200d]*[${rtl}\\p{M}])?)`,
    `(?<ltr>${ltr}(?:[\\S--${rtl}]*[${ltr}\\p{N}\\p{M}])?)`,
    '(?<digits>[\\p{Sc}%#]?\\p{N}(?:[\\p{N}.,:\\/٫٬]*\\p{N})?[\\p{Sc}%]?)',
    '(?<signs>\\S)',
  ].join('|'),
  'gv',
)
const brackets = '()[]{}«»‹›<>'
/** Maximum width of a blank, as a multiple of the height of a word. A wider gap separates cells or columns. */
export const widestBlank = 1.5
const lostBlank = new RegExp(`(?<=${rtl})(?=[\\(\\[])|(?<=[\\)\\]])(?=${rtl})`, 'gv')
/** Matches an alef before an alef with a sign, which no word has: the letters of a lam-alef ligature in the wrong order. */
const swappedLigature = /ا([أإآ])ل/g

/** Counts letters of right-to-left scripts, and of others. */
export function countLettersByDirection(text: string): Record<Direction, number> {
  return { rtl: text.match(rtlLetters)?.length ?? 0, ltr: text.match(ltrLetters)?.length ?? 0 }
}

/** Whether the letters of ligatures are in the wrong order, detected by a sequence that no word has. */
export function hasSwappedLigature(text: string): boolean {
  return text.search(swappedLigature) >= 0
}

/**
 * Puts the words of a line into logical order by reversing rule L2 of the Unicode Bidirectional Algorithm (UAX #9). The letters of each
 * word must be in logical order already. A run against the line's direction becomes one box, so that reading the boxes in the line's
 * direction gives the text.
 * @param words of a line, from left to right; their other properties are kept
 */
export function logicalWords(words: readonly Box[], direction: Direction): Box[] {
  const line = words.flatMap(tokensOf)
  const isMirrored = mirrorsBrackets(line)
  const against = direction === 'rtl' ? 'ltr' : 'rtl'
  return runsOf(line, against).flatMap((run) => {
    if (run[0]?.kind === against) return joined(run, against, isMirrored)
    return [...Map.groupBy(run, ({ word }) => word).values()].flatMap((part) => joined(part, direction, isMirrored))
  })
}

/** Splits a word into pieces from left to right. Their positions are estimated by length. */
function tokensOf(word: Box): Token[] {
  const unit = word.width / Math.max(1, word.text.length)
  return Array.from(word.text.matchAll(tokens), ({ 0: text, index, groups = {} }) => ({
    text,
    kind: groups.rtl ? 'rtl' : groups.ltr ? 'ltr' : groups.digits ? 'digits' : 'signs',
    x: word.x + index * unit,
    width: text.length * unit,
    word,
  }))
}

/** Splits tokens into runs of `kind`, including the text between its words, and runs of all others. */
function runsOf(line: readonly Token[], kind: Direction): Token[][] {
  const runs: Token[][] = []
  for (let at = 0; at < line.length; ) {
    const end = line[at]?.kind === kind ? endOfRun(line, at, kind) : at + 1
    const run = line.slice(at, end)
    const last = runs.at(-1)
    const isOfKind = run[0]?.kind === kind
    if (isOfKind || last === undefined || last[0]?.kind === kind) runs.push(run)
    else last.push(...run)
    at = end
  }
  return runs
}

/** Digits behind a left-to-right word belong to it. Otherwise a run ends with its last word. */
function endOfRun(line: readonly Token[], start: number, kind: Direction): number {
  let end = start + 1
  for (let at = end; at < line.length; at++) {
    const [before, token] = [line[at - 1], line[at]]
    if (before === undefined || token === undefined || isApart(before, token)) break
    if (token.kind === kind || (token.kind === 'digits' && kind === 'ltr')) end = at + 1
    else if (token.kind === 'rtl' || token.kind === 'ltr') break
  }
  return end
}

function isApart(before: Token, after: Token): boolean {
  return before.word !== after.word && after.x - before.x - before.width > widestBlank * before.word.height
}

/** Joins a run of tokens into one box. @param run from left to right */
function joined(run: readonly Token[], direction: Direction, isMirrored: boolean): Box[] {
  const [first, last] = [run[0], run.at(-1)]
  if (first === undefined || last === undefined) return []
  const ordered = direction === 'rtl' ? run.toReversed() : run
  const text = ordered.map((token, at) => {
    const isNext = at > 0 && ordered[at - 1]?.word !== token.word
    return (isNext ? ' ' : '') + written(token, isMirrored && direction === 'rtl')
  })
  return [
    { ...first.word, text: withBlanksAtBrackets(text.join('')), x: first.x, width: last.x + last.width - first.x },
  ]
}

/** Restores the blanks at brackets, which are lost where a word was assembled in reading order. */
function withBlanksAtBrackets(text: string): string {
  return text.replace(lostBlank, ' ')
}

function written({ text, kind }: Token, isMirrored: boolean): string {
  if (kind === 'rtl') return text.replace(swappedLigature, 'ال$1')
  const at = kind === 'signs' && isMirrored ? brackets.indexOf(text) : -1
  return at < 0 ? text : (brackets[at ^ 1] ?? text)
}

/** Programs differ in writing a bracket by its shape or its meaning. In reading order, the first one must be an opening one. */
function mirrorsBrackets(line: readonly Token[]): boolean {
  const first = line.findLast(({ text, kind }) => kind === 'signs' && brackets.includes(text))
  return first !== undefined && brackets.indexOf(first.text) % 2 === 1
}
