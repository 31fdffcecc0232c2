import { plainLine } from '../markdown/escape-markdown.ts'
import { fencedLines } from '../markdown/fenced-lines.ts'
import { missingWords } from '../missing-words.ts'
import { joinLines } from './pdf-lines.ts'

export type PdfPage = { number: number; lines: string[] }

/** Share of a page's words that its Markdown may lack. Above it, the plain text is used. */
const mostLost = 0.2

/** Chooses between two renderings of a page. Uses the plain text if the Markdown would lose words, as on rotated pages. */
export function pageMarkdown(markdown: string, text: string): string {
  const { all, missing } = missingWords(text, markdown)
  return missing > mostLost * all ? plainParagraphs(text) : cleanMarkdown(markdown)
}

/** Returns the paragraphs of a page's plain text, with their lines joined. */
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

/** Removes emphasis, which is often only a side effect of fonts, and wiki links, which are unintended. */
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

const maxRuns = 40

/** Returns a list of page numbers for people, such as `pages 1–3, 7`. A list of more than 40 ranges ends with the number of other pages. */
export function pageList(pages: readonly number[]): string {
  const runs: [first: number, last: number][] = []
  for (const page of pages.toSorted((one, other) => one - other)) {
    const run = runs.at(-1)
    if (run !== undefined && page <= run[1] + 1) run[1] = page
    else runs.push([page, page])
  }
  const shown = runs.slice(0, maxRuns).map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
  const rest = runs.slice(maxRuns).reduce((sum, [first, last]) => sum + last - first + 1, 0)
  return `${pages.length === 1 ? 'page' : 'pages'} ${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} others`}`
}
