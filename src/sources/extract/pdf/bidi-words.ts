import type { Box } from './ocr-rows.ts'

/** Direction of a line or page as a whole. */
export type Direction = 'rtl' | 'ltr'
/** Kind of the characters in a piece of a word. */
type Kind = 'rtl' | 'ltr' | 'digits' | 'signs'
type Token = { text: string; kind: Kind; x: number; width: number; word: Box }

const scripts = '\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}'
/** Some signs are written in the same direction as the letters (UAX #9: AL and R). */
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
/** Widest blank, as a multiple of the height of a word. A wider gap separates cells or columns. */
export const widestBlank = 1.5
const lostBlank = new RegExp(`(?<=${rtl})(?=[\\(\\[])|(?<=[\\)\\]])(?=${rtl})`, 'gv')
/** Alef never stands before another alef with a sign: they are two letters of a ligature with lam, read in the wrong order. */
const swappedLigature = /ا([أإآ])ل/g

/** Letters of scripts that are written from right to left, and of others. */
export function countLettersByDirection(text: string): Record<Direction, number> {
  return { rtl: text.match(rtlLetters)?.length ?? 0, ltr: text.match(ltrLetters)?.length ?? 0 }
}

/** Whether letters of ligatures stand in the wrong order, by a sequence that no word has. */
export function hasSwappedLigature(text: string): boolean {
  return text.search(swappedLigature) >= 0
}

/**
 * Puts the words of a line into logical order: the reverse of reordering rule L2 of the Unicode Bidirectional Algorithm (UAX #9),
 * for words whose letters are in logical order. What runs against the line's direction becomes one box, so that the boxes as they
 * stand, read in that direction, are the text.
 * @param words of a line, from left to right; what else is known of them is kept
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

/** Pieces of a word from left to right; their places are guessed by their length. */
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

/** Runs of `kind`, with what stands between its words, and of all else. */
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

/** Digits behind a word that is written from left to right belong to it; else a run ends with its last word. */
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

/** @param run from left to right */
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

/** The blank of a bracket is lost where its word was put together in the order in which it is read. */
function withBlanksAtBrackets(text: string): string {
  return text.replace(lostBlank, ' ')
}

function written({ text, kind }: Token, isMirrored: boolean): string {
  if (kind === 'rtl') return text.replace(swappedLigature, 'ال$1')
  const at = kind === 'signs' && isMirrored ? brackets.indexOf(text) : -1
  return at < 0 ? text : (brackets[at ^ 1] ?? text)
}

/** Some programs write brackets as they look, others as what they are: read from the right, the first one has to open. */
function mirrorsBrackets(line: readonly Token[]): boolean {
  const first = line.findLast(({ text, kind }) => kind === 'signs' && brackets.includes(text))
  return first !== undefined && brackets.indexOf(first.text) % 2 === 1
}
