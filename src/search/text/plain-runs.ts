/** A longer one may be cut, or be encoded data. */
export const maxPlainRun = 20

/** What a UTF-16 unit is to a run of words; 0 beyond ASCII. */
const kind = { letter: 1, digit: 2, joining: 3, divider: 4 }
const kinds = new Uint8Array(2 ** 16)
for (let code = 0; code < 128; code++) kinds[code] = kindOf(String.fromCharCode(code))

const [comma, fullStop] = [44, 46]

function kindOf(character: string): number {
  if (/[a-zA-Z]/.test(character)) return kind.letter
  if (/[0-9]/.test(character)) return kind.digit
  return /[_.'+#-]/.test(character) ? kind.joining : kind.divider
}

/** The first place from `at` on where a run of words, see `runs`, can begin; the length of the text where there is none. */
export function nextLetter(text: Uint16Array, at: number): number {
  let next = at
  while (next < text.length && (kinds[text[next] ?? 0] ?? 0) >= kind.joining) next++
  return next
}

/**
 * The end of the run that begins at `at`, if it is a word of ASCII letters, or a number of digits, between dividers: nearly all runs
 * of English text are, and for them the expression `runs` is not needed. `at` itself for any other.
 */
export function endOfPlainRun(text: Uint16Array, at: number): number {
  const ofRun = kinds[text[at] ?? 0]
  if ((ofRun !== kind.letter && ofRun !== kind.digit) || (at > 0 && !isDivider(text, at - 1))) return at
  let end = at + 1
  while (end < text.length && kinds[text[end] ?? 0] === ofRun) end++
  if (end - at > maxPlainRun) return at
  if (end === text.length) return end
  // The number may go on: `10,000`.
  if (isDivider(text, end)) return text[end] === comma && ofRun === kind.digit ? at : end
  // A full stop at the end of a sentence.
  return text[end] === fullStop && (end + 1 === text.length || isDivider(text, end + 1)) ? end : at
}

export function isNumber(text: Uint16Array, at: number): boolean {
  return kinds[text[at] ?? 0] === kind.digit
}

function isDivider(text: Uint16Array, at: number): boolean {
  return kinds[text[at] ?? 0] === kind.divider
}
