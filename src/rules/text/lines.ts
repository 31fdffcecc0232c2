import { cutText } from './whole-characters.ts'

/** Matches control characters, line and paragraph separators, and marks that change the direction of text. */
const unsafeInLine = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Matches control characters except tabs and line feeds, and marks that change the direction of text. */
const unshown = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu

/**
 * Returns a text that stays on one line wherever it is shown: a commit trailer, a log, a terminal. Control, separator and bidi characters
 * become spaces, white space is collapsed, and the result is cut to `max` UTF-16 units without splitting a character.
 */
export function oneLine(text: string, max: number): string {
  const line = text.toWellFormed().replace(unsafeInLine, ' ').replace(/\s+/gu, ' ').trim()
  return line.length <= max ? line : cutText(line, max).trimEnd()
}

/** Replaces characters of a multi-line text that are invisible, control a terminal, or reverse its direction. */
export function readableText(text: string, instead = '\ufffd'): string {
  return text.replace(unshown, instead)
}

/** True if a text contains NUL or half a surrogate pair, which no store accepts. */
export function hasBadCharacters(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** Splits a typed list into its items: trimmed, and without empty and repeated items. */
export function typedItems(text: string, separator: RegExp | string): string[] {
  return [...new Set(text.split(separator).map((item) => item.trim()))].filter((item) => item !== '')
}

/** Splits a typed list of tags, each of which may begin with a `#`. */
export function typedTags(text: string): string[] {
  return typedItems(text.replace(/(?<=^|[,\n])[^\S\n]*#/g, ''), /[,\n]/)
}

/** Returns the start of each line, in UTF-16 units. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** Returns a function that gives the 1-based line of an offset, fast for any number of calls. */
export function lineFinder(text: string): (offset: number) => number {
  const starts = lineStarts(text)
  return (offset) => {
    let [from, to] = [0, starts.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((starts[middle] ?? 0) <= offset) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** Compares by UTF-16 unit: the same order on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
