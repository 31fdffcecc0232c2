/** Matches what would be structure at the beginning of a line, or code, emphasis of several words, wiki links or HTML in it. */
const signs = /^(?:#{1,6}(?=\s|$)|>|~{3})|[`\\]|\[(?=\[)|<(?=[A-Za-z/!?])|(?<!\S)[*_](?=\S)/g

/**
 * Escapes a line of plain text, so that it reads the same as Markdown. Lists and tables written by hand stay what they look like.
 */
export function escapeText(line: string): string {
  return line.replace(signs, '\\$&')
}
