import { oneLine } from '../../../rules/text/text.ts'
import { type Anchor, type Extracted, ExtractionError } from '../../extracted.ts'
import { withoutOuterFormatSigns } from '../../format-signs.ts'
import { maxMarkdownBytes } from '../limits.ts'
import { cleanMarkdown } from './clean-markdown.ts'

const maxTitle = 200
const maxNote = 500
const maxNotes = 50

/**
 * Cleans the result of every extractor: Markdown without HTML, images and front matter; only links to http, https and mailto;
 * anchors in order and in range.
 * @throws {ExtractionError} `empty`, `too-large`
 */
export function cleanExtracted(extracted: Extracted): Extracted {
  const { title, markdown, searchOnlyFrom, anchors, warnings, doubts = [], tags, audience, recognised } = extracted
  const cleaned = cleanMarkdown(markdown).trimEnd()
  const blankLines = /^(?:[ \t]*\n)*/.exec(cleaned)?.[0] ?? ''
  const text = cleaned.slice(blankLines.length)
  if (!/[\p{L}\p{N}\p{S}]/u.test(text)) throw new ExtractionError('empty', 'The document holds no text.')
  if (Buffer.byteLength(text) > maxMarkdownBytes) {
    const message = `The document's text is longer than ${maxMarkdownBytes / 2 ** 20} MB: split it.`
    throw new ExtractionError('too-large', message)
  }
  const firstLine = countLines(blankLines) + 1
  return {
    title: oneLine(withoutOuterFormatSigns(title ?? ''), maxTitle) || undefined,
    markdown: text,
    ...(searchOnlyFrom !== undefined && { searchOnlyFrom: Math.max(1, searchOnlyFrom - firstLine + 1) }),
    anchors: placeAnchors(anchors, firstLine, countLines(text) + 1),
    warnings: cleanNotes(warnings),
    ...(doubts.length > 0 && { doubts: cleanNotes(doubts) }),
    ...(tags && { tags: cleanTexts(tags) }),
    ...(audience && { audience: cleanTexts(audience) }),
    ...(recognised !== undefined && { recognised }),
  }
}

function cleanNotes(notes: readonly string[]): string[] {
  return cleanTexts(notes).slice(0, maxNotes)
}

function cleanTexts(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => oneLine(text, maxNote)))]
}

/** The last of several on the lines before the text is kept, none after it. */
function placeAnchors(anchors: readonly Anchor[], firstLine: number, lines: number): Anchor[] {
  return anchors
    .map((anchor) => ({ ...anchor, line: Math.max(1, anchor.line - firstLine + 1) }))
    .filter(({ line }) => line <= lines)
    .toSorted((one, other) => one.line - other.line)
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
