/** Returns the offset, or the one before it if it is between the halves of a surrogate pair. */
export function characterStart(text: string, offset: number): number {
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, offset - 1), offset + 1)) ? offset - 1 : offset
}

/** Returns at most `max` UTF-16 units from the start of a text, without half a character at the end. */
export function cutText(text: string, max: number): string {
  return text.slice(0, characterStart(text, max))
}
