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
