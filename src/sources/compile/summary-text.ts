import { escapeInline } from './inline-text.ts'
import type { CountedWords } from './page-words.ts'
import type { TitledPart } from './parts/part-titles.ts'

export type Summary = {
  filename: string
  /** Sentences as plain text. */
  gist: readonly string[]
  /** Markdown of what stands before the first section. */
  opening: string
  parts: readonly TitledPart[]
  /** Number of parts without the limit. */
  found: number
  figures: { words: number; pages: number; slides: number; sheets: number }
}

/** The Markdown of a document's summary: its best sentences, its opening, its parts, its figures. */
export function summaryText({ filename, gist, opening, parts, found, figures }: Summary, words: CountedWords): string {
  return [
    gist.map((sentence) => `- ${escapeInline(sentence)}`).join('\n'),
    opening,
    `## ${words.contents}`,
    outlineOf(parts),
    found > parts.length ? words.joined(found, parts.length) : '',
    words.figures(escapeInline(filename), { ...figures, parts: parts.length }),
  ]
    .filter((text) => text !== '')
    .join('\n\n')
}

/** The parts as a nested list of wiki links, below the sections that they stand in. */
function outlineOf(parts: readonly TitledPart[]): string {
  const lines: string[] = []
  let open: string[] = []
  for (const { path, name, title } of parts) {
    const parted = path.findIndex((section, depth) => open[depth] !== section)
    for (const [depth, section] of path.entries()) {
      if (parted >= 0 && depth >= parted) lines.push(`${'  '.repeat(depth)}- ${escapeInline(section)}`)
    }
    lines.push(`${'  '.repeat(path.length)}- [[${title}]]`)
    open = name === undefined ? path : [...path, name]
  }
  return lines.join('\n')
}
