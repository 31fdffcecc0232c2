/** Letter runs of scripts in which few words have one letter. */
const letters = /(?:[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}]\p{M}*)+/gu
const fewest = 20

/** Whether most words of a text are single letters, as where each was placed by itself. */
export function hasBrokenWords(text: string): boolean {
  const words = text.match(letters) ?? []
  const single = words.filter((word) => /^.\p{M}*$/u.test(word)).length
  return single >= fewest && 2 * single > words.length
}

/** Letters of a word; where more seem to be one, the blanks between words are lost. */
const longestWord = 16
const spacedLetters = /^\p{L}\p{M}*(?:\s+\p{L}\p{M}*){4,}$/u

/** Returns a text with spaced letters (`A N N U A L   R E P O R T`) joined to words. An alphabet stays as it is, and so does any other text. */
export function joinLetters(text: string): string {
  const trimmed = text.trim()
  if (!spacedLetters.test(trimmed)) return text
  const joined = trimmed
    .split(/\s{2,}/)
    .map((word) => word.replace(/\s+/g, ''))
    .join(' ')
  const codes = Array.from(joined.toLowerCase(), (letter) => letter.codePointAt(0) ?? 0)
  const isAlphabet = codes.every((code, at) => at === 0 || code === (codes[at - 1] ?? 0) + 1)
  return isAlphabet || joined.split(' ').some((word) => word.length > longestWord) ? text : joined
}

/** Joins the letters of a piece of text that wider gaps separate from the rest in PDF.js, if most of them are spaced (`Th e`). */
export function joinPiece(piece: string): string {
  const parts = piece.split(' ')
  const single = parts.filter((part) => /^.\p{M}*$/u.test(part)).length
  const joined = parts.join('')
  return 2 * single >= parts.length && joined.length <= longestWord ? joined || piece : piece
}
