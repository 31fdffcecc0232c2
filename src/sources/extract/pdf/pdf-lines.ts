/** Joins a word that the end of a line has broken. */
export function joinLines(before: string, after: string): string {
  return /\p{L}[-\u00AD\u2010]$/u.test(before) && /^\p{Ll}/u.test(after)
    ? before.slice(0, -1) + after
    : `${before} ${after}`
}
