import { isDeepStrictEqual } from 'node:util'
import { withoutOuterFormatSigns } from '../../format-signs.ts'
import { cleanLine } from './clean-line.ts'
import { fencedLines } from './fenced-lines.ts'
import { withoutTags } from './without-tags.ts'

/** How often lines are cleaned until their fences stay. More is needed by texts alone that are made for it. */
const maxPasses = 4

/** How tags in Markdown are treated: `escape` shows them as text. */
export type OwnHtml = 'escape' | 'drop'

/**
 * Makes the Markdown of a document safe, line by line: well-formed, without control characters and HTML. Images become their
 * alternative text, and links other than http, https and mailto their text. A first line that would open front matter becomes
 * another thematic break. Takes linear time.
 */
export function cleanMarkdown(markdown: string, html: OwnHtml = 'escape'): string {
  const text = markdown
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(/[\r\v\f\u0085\u2028\u2029]/g, ' ')
    .replace(/[^\P{Cc}\n\t]|\uFEFF/gu, '')
  const lines = text.split('\n')
  const cleaned = cleanLines(html === 'drop' ? unfenced(lines, fencedLines(lines), withoutTags) : lines)
  const first = cleaned.findIndex((line) => line.trim() !== '')
  const start = cleaned[first]?.trim() ?? ''
  if (start.startsWith('---')) cleaned[first] = /^-+$/.test(start) ? '***' : `\\${start}`
  return cleaned.join('\n')
}

/** What is left out of a line can leave a fence behind, which changes what the lines below it are. */
function cleanLines(given: readonly string[]): string[] {
  let lines = given
  let isFenced = fencedLines(lines)
  for (let pass = 0; pass < maxPasses; pass++) {
    const cleaned = unfenced(lines, isFenced, (line) => cleanHeading(cleanLine(line)))
    const before = isFenced
    isFenced = fencedLines(cleaned)
    if (isDeepStrictEqual(isFenced, before)) return cleaned
    lines = cleaned
  }
  // Safe in a fence and outside of one.
  return lines.map(cleanLine)
}

function unfenced(lines: readonly string[], isFenced: readonly boolean[], change: (line: string) => string): string[] {
  return lines.map((line, index) => (isFenced[index] ? line : change(line)))
}

function cleanHeading(line: string): string {
  const [marks] = /^ {0,3}#{1,6}[ \t]+/.exec(line) ?? []
  return marks === undefined ? line : marks + withoutOuterFormatSigns(line.slice(marks.length))
}
