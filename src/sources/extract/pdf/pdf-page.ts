import { plainLine } from '../markdown/as-inline-markdown.ts'
import { fencedLines } from '../markdown/fenced-lines.ts'
import { joinLines } from './pdf-lines.ts'

export type PdfPage = { number: number; lines: string[] }

/** Below this part of the words of its plain text, the Markdown of a page is not used. */
const leastRecall = 0.8

/** Chooses between the two renderings of a page: layout is lost where Markdown would lose words, as it does on rotated pages. */
export function pageMarkdown(markdown: string, text: string): string {
  return wordRecall(markdown, text) < leastRecall ? plainParagraphs(text) : cleanMarkdown(markdown)
}

/** Paragraphs of text as it stands on a page, its lines joined. */
export function plainParagraphs(text: string): string {
  return text
    .split(/\n[^\S\n]*\n/)
    .map((paragraph) =>
      paragraph
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    )
    .filter((lines) => lines.length > 0)
    .map((lines) => plainLine(lines.reduce(joinLines)))
    .join('\n\n')
}

function wordRecall(markdown: string, text: string): number {
  const wanted = wordsOf(text)
  if (wanted.length === 0) return 1
  const left = new Map<string, number>()
  for (const word of wordsOf(markdown)) left.set(word, (left.get(word) ?? 0) + 1)
  let found = 0
  for (const word of wanted) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    found += 1
  }
  return found / wanted.length
}

/** Words, and of scripts without spaces the characters; broken words are whole. */
function wordsOf(text: string): string[] {
  const whole = text.replace(/(\p{L})[-\u00AD\u2010]\s*\n\s*(?=\p{Ll})/gu, '$1')
  return whole.toLowerCase().match(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]|[\p{L}\p{N}]+/gu) ?? []
}

/** Without emphasis, which fonts often only seem to give, and wiki links, which nobody meant. */
function cleanMarkdown(markdown: string): string {
  const lines = markdown.split('\n')
  const isFenced = fencedLines(lines)
  const cleaned = lines.map((line, at) => (isFenced[at] ? line : cleanLine(line)))
  return cleaned.join('\n').replace(/^```\w*\n\s*```$/gm, '')
}

function cleanLine(line: string): string {
  return line
    .replace(/(?<!\\)\*+(?=\S)|(?<=\S)(?<!\\)\*+/g, '')
    .replace(/(?<!\\)\[(?=\[)/g, '\\[')
    .trimEnd()
}
