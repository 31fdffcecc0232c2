/** A code fence of CommonMark, however far it is indented, as one in a list is. */
const fence = /^\s*(?<marks>`{3,}(?=[^`]*$)|~{3,})(?<rest>.*)$/s

/** The lines of a text that stand outside of code fences, each with its 1-based number and without its line ending. */
export function* unfencedLines(text: string): Generator<{ line: string; number: number }> {
  let open: string | undefined
  for (const [at, written] of text.split('\n').entries()) {
    const line = written.replace(/\r$/, '')
    const { marks = '', rest = '' } = fence.exec(line)?.groups ?? {}
    if (open === undefined) {
      if (marks === '') yield { line, number: at + 1 }
      else open = marks
    } else if (marks.startsWith(open) && rest.trim() === '') open = undefined
  }
}
