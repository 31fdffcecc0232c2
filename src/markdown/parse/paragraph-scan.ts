import { withoutBlockId } from '../obsidian-marks.ts'
import { scanInline } from './inline-scan.ts'
import { longest } from './piece.ts'

/** A line that begins as only one of a paragraph can. */
const paragraphLine = /^(?:[^\s#>\-+=|~<:*_\d]|\d(?!\d{0,8}[.)](?:\s|$))|[*_](?=\S)|#(?=\p{L}))(?:.*\S)? *$/su

/** What a reader sees of the lines, if they certainly are one paragraph and that is certain without a parser. */
export function scanParagraph(lines: readonly string[]): string | undefined {
  if (!lines.every((line) => paragraphLine.test(line))) return undefined
  const source = lines.join('\n').trimEnd()
  return source.length <= longest ? scanInline(withoutBlockId(source)) : undefined
}
