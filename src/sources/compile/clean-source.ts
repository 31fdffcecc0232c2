import { withoutComments } from '../../markdown/comments.ts'
import { linkKey } from '../../rules/links/link-target.ts'
import type { Extracted } from '../extracted.ts'
import { keyOf, runningLines } from './running-lines.ts'
import { type SourceBlock, sourceBlocks } from './source-blocks.ts'
import { documentTitle } from './titles/document-title.ts'
import { headingText } from './titles/heading-text.ts'
import { linkableTitle, maxTitle } from './titles/linkable-title.ts'

/** A document's own title, and its blocks without the heading that is that title. */
export type EntitledSource = { title: string; blocks: SourceBlock[] }

/** Maximum blocks before the heading that shows a document's title. */
const maxBeforeTitle = 20
/** Maximum characters of the file name that is appended to a title another Neuron has. */
const maxName = 120

/**
 * Returns the title of a document, and its blocks without running headers and footers. Comments are left out, too: if the document is cut
 * into pages, a comment could begin on one page and end on another. The title gets the file's name appended if a Neuron of another origin
 * has it (`taken`, as returned by `linkKey`).
 */
export function entitledSource(
  extracted: Pick<Extracted, 'title' | 'markdown' | 'searchOnlyFrom' | 'anchors'>,
  filename: string,
  taken: ReadonlySet<string>,
): EntitledSource {
  const { lines, running } = compiledLines(extracted)
  const repeated = new Set([...running].map((line) => keyOf(lines[line - 1] ?? '')))
  const blocks = sourceBlocks(lines.map((line, at) => (running.has(at + 1) ? '' : line)).join('\n'))
  const isRunning = (text: string) => repeated.has(keyOf(text))
  const title = documentTitle({ own: extracted.title, blocks, filename, isRunning })
  const shown = blocks
    .slice(0, maxBeforeTitle)
    .findIndex(
      ({ depth, lines }) => depth > 0 && linkKey(linkableTitle(headingText(lines[0] ?? ''))) === linkKey(title),
    )
  const suffix = ` (${linkableTitle(filename, maxName)})`
  return {
    title: taken.has(linkKey(title)) ? linkableTitle(title, maxTitle - suffix.length) + suffix : title,
    blocks: shown < 0 ? blocks : blocks.toSpliced(shown, 1),
  }
}

/** Returns a document's lines without comments, and the 1-based numbers of its running headers and footers. */
export function compiledLines({
  markdown,
  searchOnlyFrom,
  anchors,
}: Pick<Extracted, 'markdown' | 'searchOnlyFrom' | 'anchors'>): { lines: string[]; running: Set<number> } {
  const lines = cleaned(firstLines(withoutComments(markdown), searchOnlyFrom)).split('\n')
  return { lines, running: runningLines(lines, anchors) }
}

/** Returns the text up to the line before `end`, 1-based. */
export function firstLines(text: string, end = Number.POSITIVE_INFINITY): string {
  let at = 0
  for (let line = 1; line < end; line++) {
    const next = text.indexOf('\n', at)
    if (next < 0) return text
    at = next + 1
  }
  return text.slice(0, at)
}

/** Replaces control characters and byte order marks by blanks, and CRLF by LF. The number of lines stays the same. */
function cleaned(markdown: string): string {
  return markdown
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\t\n]|\uFEFF/gu, ' ')
}
