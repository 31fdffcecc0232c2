import { openContent, unreadableHead } from '../../markdown/file/content-front-matter.ts'
import { parseFrontMatter } from '../../markdown/file/front-matter.ts'
import type { Extracted, Extractor } from '../extracted.ts'
import { readText } from './decode-text.ts'
import { escapeText } from './markdown/escape-markdown.ts'

const maxTitle = 100

/**
 * Reads plain text: its front matter, and its paragraphs, with underlined headings. Without a title in front matter, the first line is the
 * title if it is short and stands alone.
 */
export const extractPlainText: Extractor = async ({ file }) => {
  const { text, doubts } = await readText(file)
  const { content, head } = openDocument(text, doubts)
  const lines = content
    .replaceAll('\f', '\n\n')
    .split('\n')
    .map((line) => line.trim())
  const markdown = withAtxHeadings(lines.map(escapeText))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
  return { ...head, title: head.title ?? titleOf(lines), markdown, anchors: [], shown: content }
}

function titleOf(lines: readonly string[]): string | undefined {
  const first = lines.findIndex((line) => line !== '')
  const line = lines[first] ?? ''
  const isAlone = /^(?:|=+|-+)$/.test(lines[first + 1] ?? '')
  return isAlone && line.length > 0 && line.length <= maxTitle && /\p{L}/u.test(line) ? line : undefined
}

const underline = /^ {0,3}(?:(=+)|-+)[ \t]*$/
/** Line that is not part of a paragraph: blank, indented, or the start of another block. */
const otherBlock = /^(?:\s*$| {4}|\t|\s*(?:[#>|<]|[-*+]\s|\d+[.)]\s|`{3}|~{3}|[-*_=]{3,}\s*$))/
const closedAtx = /^(\s{0,3}#{1,6}\s.*?\S)\s+#+\s*$/

/** Turns underlined headings into ATX headings. Only a paragraph of one line can be a heading. */
export function withAtxHeadings(lines: readonly string[]): string[] {
  const result: string[] = []
  for (const [index, line] of lines.entries()) {
    const title = result.at(-1) ?? ''
    const before = result.at(-2) ?? ''
    const marks = underline.exec(line)
    if (marks && index > 0 && !otherBlock.test(title) && otherBlock.test(before)) {
      result[result.length - 1] = `${marks[1] ? '#' : '##'} ${title.trim()}`
      // Keeps the numbers of the following lines.
      result.push('')
    } else result.push(line.replace(closedAtx, '$1'))
  }
  return result
}

type Opened = Required<Pick<Extracted, 'title' | 'warnings' | 'doubts'>> & Pick<Extracted, 'tags' | 'audience'>

/** Splits front matter from a document, and returns its title, tags and audience. */
export function openDocument(text: string, doubts: readonly string[]): { content: string; head: Opened } {
  const { content, data, tags, audience, isUnreadable } = openContent(text)
  const { problems } = content === text ? { problems: [] } : parseFrontMatter(text)
  const seenBy = isUnreadable ? [] : audience
  const head = {
    title: typeof data.title === 'string' ? data.title : undefined,
    warnings: problems.map(({ message, line }) => `Front matter, line ${line}: ${message}`),
    doubts: [...doubts, ...(isUnreadable ? [`The document ${unreadableHead}.`] : [])],
    ...(tags.length > 0 && { tags }),
    ...(seenBy && { audience: seenBy }),
  }
  return { content, head }
}
