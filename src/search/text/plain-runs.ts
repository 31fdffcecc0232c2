/** A longer one may be cut, or be encoded data. */
const maxLength = 20

/** What an ASCII character is to a run of words. */
const kind = { letter: 1, joining: 2, divider: 3 }
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-zA-Z]/.test(character)) return kind.letter
  return /[0-9_.'+#-]/.test(character) ? kind.joining : kind.divider
})

/** The first place from `at` on where a run of words, see `runs`, can begin; the length of the text where there is none. */
export function nextLetter(text: string, at: number): number {
  let next = at
  while (next < text.length && kinds[text.charCodeAt(next)] === kind.divider) next++
  return next
}

/**
 * The end of the run that begins at `at`, if it is a word of ASCII letters between dividers: nearly all runs of English text are,
 * and for them the expression `runs` is not needed. `at` itself for any other.
 */
export function endOfPlainRun(text: string, at: number): number {
  if (at > 0 && kinds[text.charCodeAt(at - 1)] !== kind.divider) return at
  let end = at
  while (end < text.length && kinds[text.charCodeAt(end)] === kind.letter) end++
  if (end - at > maxLength) return at
  if (end === text.length || kinds[text.charCodeAt(end)] === kind.divider) return end
  // A full stop at the end of a sentence.
  const isEnd = text[end] === '.' && (end + 1 === text.length || kinds[text.charCodeAt(end + 1)] === kind.divider)
  return isEnd ? end : at
}
