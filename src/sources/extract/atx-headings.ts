const underline = /^ {0,3}(?:(=+)|-+)[ \t]*$/
/** Line that is not part of a paragraph: blank, indented, or the start of another block. */
const otherBlock = /^(?:\s*$| {4}|\t|\s*(?:[#>|<]|[-*+]\s|\d+[.)]\s|`{3}|~{3}|[-*_=]{3,}\s*$))/
const closedAtx = /^(\s{0,3}#{1,6}\s.*?\S)\s+#+\s*$/

/** Underlined headings become those of `#`; of several lines above, only a paragraph of one line is a heading. */
export function withAtxHeadings(lines: readonly string[]): string[] {
  const result: string[] = []
  for (const [index, line] of lines.entries()) {
    const title = result.at(-1) ?? ''
    const before = result.at(-2) ?? ''
    const marks = underline.exec(line)
    if (marks && index > 0 && !otherBlock.test(title) && otherBlock.test(before)) {
      result[result.length - 1] = `${marks[1] ? '#' : '##'} ${title.trim()}`
      // A blank line, so that every line stays where it is.
      result.push('')
    } else result.push(line.replace(closedAtx, '$1'))
  }
  return result
}
