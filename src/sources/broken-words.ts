/** Of scripts in which few words have one letter. */
const letters = /(?:[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}]\p{M}*)+/gu
const fewest = 20

/** Whether most words of a text are single letters, as where each was placed by itself. */
export function hasBrokenWords(text: string): boolean {
  const words = text.match(letters) ?? []
  const single = words.filter((word) => /^.\p{M}*$/u.test(word)).length
  return single >= fewest && 2 * single > words.length
}
