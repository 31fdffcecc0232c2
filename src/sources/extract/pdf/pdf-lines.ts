/** Number of hyphens that no real word has. */
const absurd = 6
const joined = /^[-–]*\p{L}.*[-–]$/u

/**
 * True if blanks were read as hyphens, as from a font without a sign for blanks: each word of the line ends in a hyphen. A single word that
 * ends in one may be broken at the line's end, but not if the next line begins with a capital.
 */
export function hasHyphensForBlanks(line: string, next: string): boolean {
  const words = line.split(' ')
  if (!words.every((word) => joined.test(word))) return false
  return words.length > 1 || hyphensIn(line) > 2 || /^\p{Lu}/u.test(next)
}

/** Replaces the hyphens of a line by blanks. */
export function blanksForHyphens(line: string): string {
  return line
    .replace(/[-–]+(?:\s+|$)/g, ' ')
    .replace(/[-–]+/g, ' ')
    .trim()
}

/** Replaces hyphens by blanks within words that have too many of them. */
export function withoutAbsurdHyphens(line: string): string {
  return line.replace(/\S+/g, (word) => {
    const isJoined = hyphensIn(word) >= absurd || (hyphensIn(word) > 2 && joined.test(word))
    return isJoined && !word.includes('://') ? blanksForHyphens(word) : word
  })
}

function hyphensIn(word: string): number {
  return word.match(/(?<=[^-–])[-–]+/g)?.length ?? 0
}

/** Scripts without blanks between words, with their punctuation. */
const unspaced = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\u3001-\u303f\uff01-\uff60]`
const blankWithin = new RegExp(`(?<=${unspaced}) (?=${unspaced})`, 'gu')
const [atEnd, atStart] = [new RegExp(`${unspaced}$`, 'u'), new RegExp(`^${unspaced}`, 'u')]

/** Removes blanks where a script has none. */
export function withoutBlanksWithin(text: string): string {
  return text.replace(blankWithin, '')
}

/** Joins two lines: a word broken between them without its hyphen, others with a blank if their script has blanks. */
export function joinLines(before: string, after: string): string {
  if (atEnd.test(before.slice(-2)) && atStart.test(after)) return before + after
  return /\p{L}[-\u00AD\u2010]$/u.test(before) && /^\p{Ll}/u.test(after)
    ? before.slice(0, -1) + after
    : `${before} ${after}`
}
