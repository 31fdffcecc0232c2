/** The offset, or the one before it where it is within a character: between the halves of a surrogate pair. */
export function characterStart(text: string, offset: number): number {
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, offset - 1), offset + 1)) ? offset - 1 : offset
}

/** At most so many UTF-16 units from the beginning of a text, with no half of a character at the end. */
export function cutText(text: string, max: number): string {
  return text.slice(0, characterStart(text, max))
}
