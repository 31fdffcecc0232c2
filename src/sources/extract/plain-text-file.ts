import type { Extractor } from '../extracted.ts'
import { withAtxHeadings } from './atx-headings.ts'
import { openDocument } from './document-head.ts'
import { readText } from './encoding/read-text.ts'
import { escapeText } from './markdown/escape-text.ts'

const maxTitle = 100

/** Plain text: what front matter says, its paragraphs, with the headings that are underlined; a short first line of its own is the title. */
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
