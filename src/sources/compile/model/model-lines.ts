import type { TitledPart } from '../parts/part-titles.ts'
import type { SourceBlock } from '../source-blocks.ts'

export type ShownLine = {
  text: string
  /** Index of its part; absent before the first part. */
  part?: number
}

const maxPiece = 12_000
/** Maximum characters of a line that is not split into sentences: citing a whole paragraph proves little. */
const maxLine = 300
/** Maximum characters of a part's beginning in the outline. */
const leastBeginning = 120
const mostBeginning = 2000

export function piecesOf(parts: readonly TitledPart[], indexes: readonly number[]): ShownLine[][] {
  const pieces: ShownLine[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const part of indexes) {
    const { heading, blocks = [] } = parts[part] ?? {}
    for (const text of shownLines(heading ? [heading, ...blocks] : blocks)) {
      if (size + text.length > maxPiece) {
        pieces.push([])
        size = 0
      }
      pieces.at(-1)?.push({ text, part })
      size += text.length + 1
    }
  }
  return pieces
}

/** Returns the beginnings of a document and of as many parts as fit. */
export function beginningsOf(preamble: readonly SourceBlock[], parts: readonly TitledPart[]): ShownLine[] {
  const most = parts.length === 0 ? maxPiece : Math.floor(maxPiece / (parts.length + 1))
  const each = Math.max(leastBeginning, parts.length === 0 ? most : Math.min(mostBeginning, most))
  const shown: ShownLine[] = beginning(preamble, each).map((text) => ({ text }))
  for (const [part, { blocks }] of parts.slice(0, maxPiece / leastBeginning).entries()) {
    shown.push(...beginning(blocks, each).map((text) => ({ text, part })))
  }
  return shown
}

/** Returns the lines, numbered from 1, below the number and the name of their part. */
export function numbered(lines: readonly ShownLine[], parts: readonly TitledPart[]): string {
  let open: number | undefined
  return lines
    .flatMap(({ text, part }, index) => {
      const line = `${index + 1}| ${text}`
      if (part === open || part === undefined) return [line]
      open = part
      return [`Part ${part + 1}: ${modelHeadings(parts[part])}`, line]
    })
    .join('\n')
}

export function modelHeadings(part: TitledPart | undefined): string {
  const { path = [], name, lastName } = part ?? {}
  return [...path, name ?? '', lastName ?? ''].filter((heading) => heading !== '').join(' > ')
}

function beginning(blocks: readonly SourceBlock[], most: number): string[] {
  const lines: string[] = []
  let size = 0
  for (const line of shownLines(blocks)) {
    size += line.length
    if (size > most && lines.length > 0) break
    lines.push(line.slice(0, Math.max(most, maxLine)))
  }
  return lines
}

function* shownLines(blocks: readonly SourceBlock[]): Generator<string> {
  for (const { lines } of blocks) {
    for (const line of lines) {
      if (line.trim() === '') continue
      if (line.length <= maxLine) yield line
      else for (const sentence of line.split(/(?<=[.!?。！？]["'”»)]?)\s+/)) yield* slices(sentence)
    }
  }
}

/** Returns the first and further characters of a text without sentences, such as a row of a table. */
function* slices(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += maxPiece) yield text.slice(at, at + maxPiece).toWellFormed()
}
