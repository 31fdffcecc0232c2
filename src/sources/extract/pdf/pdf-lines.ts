/** Hyphens in a word that no word has. */
const absurd = 6
const joined = /^[-–]*\p{L}.*[-–]$/u

/**
 * Whether the blanks of a line were recognised as hyphens, as where a font has no sign for them: each of its words ends in one. A
 * single one may be a word that the line breaks, but not before a capital.
 */
export function hasHyphensForBlanks(line: string, next: string): boolean {
  const words = line.split(' ')
  if (!words.every((word) => joined.test(word))) return false
  return words.length > 1 || hyphensIn(line) > 2 || /^\p{Lu}/u.test(next)
}

/** A line with blanks for the hyphens that stand for some. */
export function blanksForHyphens(line: string): string {
  return line
    .replace(/[-–]+(?:\s+|$)/g, ' ')
    .replace(/[-–]+/g, ' ')
    .trim()
}

/** The same for single words that are whole lines. */
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

/** Joins a word that the end of a line has broken; other words with a blank, where their script has blanks. */
export function joinLines(before: string, after: string): string {
  if (atEnd.test(before.slice(-2)) && atStart.test(after)) return before + after
  return /\p{L}[-\u00AD\u2010]$/u.test(before) && /^\p{Ll}/u.test(after)
    ? before.slice(0, -1) + after
    : `${before} ${after}`
}
