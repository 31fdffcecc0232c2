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
