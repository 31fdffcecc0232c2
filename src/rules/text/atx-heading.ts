const anchor = /(?:^|[ \t]+)\{:?[ \t]*#([^\s{}]+)[^{}]*\}[ \t]*$/

const opening = /^ {0,3}(#{1,6})(?:[ \t]+|$)/
const lastBlanks = /(?<![ \t])[ \t]+$/

/** Parses an ATX heading of Markdown: its level, 1 to 6, and its text, which may be empty. Takes linear time. */
export function atxHeading(line: string): { level: number; text: string } | undefined {
  const [mark, { length: level } = ''] = opening.exec(line) ?? []
  if (mark === undefined) return undefined
  const text = line.slice(mark.length).replace(lastBlanks, '')
  let end = text.length
  while (text[end - 1] === '#') end--
  const isClosed = end < text.length && (end === 0 || /[ \t]/.test(text.charAt(end - 1)))
  return { level, text: isClosed ? text.slice(0, end).replace(lastBlanks, '') : text }
}

/** Splits a heading into its text and its explicit id, as in `Setup {#setup}`. */
export function splitAnchor(heading: string): { text: string; id?: string } {
  const found = heading.includes('#') ? anchor.exec(heading) : null
  return found?.[1] === undefined ? { text: heading } : { text: heading.slice(0, found.index), id: found[1] }
}
