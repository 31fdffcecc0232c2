import { plainLine } from '../markdown/as-inline-markdown.ts'
import { fencedLines } from '../markdown/fenced-lines.ts'
import { missingWords } from '../missing-words.ts'
import { joinLines } from './pdf-lines.ts'

export type PdfPage = { number: number; lines: string[] }

/** Part of the words of its plain text from which on the Markdown of a page is not used, if it lacks them. */
const mostLost = 0.2

/** Chooses between the two renderings of a page: layout is lost where Markdown would lose words, as it does on rotated pages. */
export function pageMarkdown(markdown: string, text: string): string {
  const { all, missing } = missingWords(text, markdown)
  return missing > mostLost * all ? plainParagraphs(text) : cleanMarkdown(markdown)
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

/** Removes emphasis, which fonts often only appear to give, and wiki links, which nobody meant. */
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
