/** A page's content without the line that says which part of its Source it was made of. */
export function withoutOrigin(content: string): string {
  return content.replace(/\n\n(?:From|Aus) \[\[[^\]\n]+\]\][^\n]*\.$/, '')
}
