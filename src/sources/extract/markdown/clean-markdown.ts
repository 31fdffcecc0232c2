import { isDeepStrictEqual } from 'node:util'
import { CodeRuns, runLength } from '../../../markdown/code-runs.ts'
import { withoutOuterFormatSigns } from '../../format-signs.ts'
import { raisedText } from '../raised-text.ts'
import { cleanLine } from './clean-line.ts'
import { endOfAutolink } from './escape-markdown.ts'
import { fencedLines } from './fenced-lines.ts'

/** Maximum number of passes in which lines are cleaned until their fences stay. Only texts made for it need more. */
const maxPasses = 4

const raised = /<(su[bp])(?:\s[^<>]{0,200})?>([^<>\\`]{1,60})<\/\1\s*>/iy

/** Treatment of tags in Markdown: `escape` shows them as text. */
export type OwnHtml = 'escape' | 'drop'

const sign = /[\\`<]/g
const tag =
  /<(?:\/?[A-Za-z][\w:-]{0,60}(?:[^<>"']|"[^"]{0,999}"|'[^']{0,999}'){0,999}|!--.{0,9999}?--|[!?][^<>]{0,999})>/y

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

/** Cleans lines. Removing a part of a line can leave a fence behind, which changes what the lines below it are. */
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
  // Escapes a line so that it is safe in a fence and outside.
  return lines.map(cleanLine)
}

function unfenced(lines: readonly string[], isFenced: readonly boolean[], change: (line: string) => string): string[] {
  return lines.map((line, index) => (isFenced[index] ? line : change(line)))
}

function cleanHeading(line: string): string {
  const [marks] = /^ {0,3}#{1,6}[ \t]+/.exec(line) ?? []
  return marks === undefined ? line : marks + withoutOuterFormatSigns(line.slice(marks.length))
}

/**
 * Returns a line outside of fences without the tags and comments that are complete on it, and with superscripts and subscripts as text. The
 * two sides of a removed tag may form another one, so the line must be cleaned afterwards. Takes linear time.
 */
function withoutTags(line: string): string {
  if (!line.includes('<')) return line
  const codeRuns = new CodeRuns(line)
  const kept: string[] = []
  let from = 0
  sign.lastIndex = 0
  for (let found = sign.exec(line); found; found = sign.exec(line)) {
    const at = found.index
    const script = found[0] === '<' ? raisedAt(line, at) : undefined
    const tagEnd = script?.end ?? (found[0] === '<' ? endOfTag(line, at) : undefined)
    if (tagEnd !== undefined) {
      kept.push(line.slice(from, at), script?.text ?? '')
      from = tagEnd
    }
    sign.lastIndex = tagEnd ?? endOfOther(line, at, codeRuns)
  }
  const rest = kept.join('') + line.slice(from)
  // The indentation of removed HTML would turn the rest into code.
  return /^[ \t]*</.test(line) ? rest.trim() : rest
}

function raisedAt(line: string, at: number): { text: string; end: number } | undefined {
  raised.lastIndex = at
  const [, kind = '', text = ''] = raised.exec(line) ?? []
  if (text === '') return undefined
  const base = line.slice(Math.max(0, at - 1), at)
  return { text: raisedText(text, kind.toLowerCase() === 'sub' ? 'sub' : 'sup', base), end: raised.lastIndex }
}

/** Returns the end of a tag, or undefined for an address in angle brackets or a sign by itself. */
function endOfTag(line: string, at: number): number | undefined {
  if (endOfAutolink(line, at) !== undefined) return undefined
  tag.lastIndex = at
  return tag.exec(line) === null ? undefined : tag.lastIndex
}

/** Returns the end of anything but a tag: an escaped sign, code, an address in angle brackets, or a single sign. */
function endOfOther(line: string, at: number, codeRuns: CodeRuns): number {
  if (line[at] === '\\') return at + 2
  if (line[at] === '`') return codeRuns.endOfCode(at) ?? at + runLength(line, at)
  return endOfAutolink(line, at) ?? at + 1
}
