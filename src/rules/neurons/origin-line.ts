/** Removes the line that names the part of the Source from which a page was compiled. */
export function withoutOrigin(content: string): string {
  return content.replace(/\n\n(?:From|Aus) \[\[[^\]\n]+\]\][^\n]*\.$/, '')
}
