import type { Range } from '../../rules/text/sentences.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
import { excerptOf } from './highlight-excerpt.ts'
import { type Match, matchesOf } from './highlight-matches.ts'

/**
 * An excerpt of plain text around what leaves match, as HTML: escaped, with `<mark>` around the matched words and phrases and
 * nothing else, `…` where it is cut. The beginning of the text where nothing matches.
 * @param maxLength UTF-16 units of the text.
 */
export function highlight(text: string, leaves: readonly Leaf[], analyser: Analyser, maxLength = 240): string {
  return highlightMatches(text, matchesOf(text, leaves, analyser), maxLength)
}

/** The same for matches that are known, in any order. */
export function highlightMatches(text: string, matches: readonly Match[], maxLength = 240): string {
  const inOrder = matches.toSorted((a, b) => a.start - b.start)
  const { start, end } = trimmed(text, excerptOf(text, inOrder, maxLength))
  const before = text.slice(0, start).trim() === '' ? '' : '…'
  const after = text.slice(end).trim() === '' ? '' : '…'
  return before + marked(text, { start, end }, inOrder) + after
}

function trimmed(text: string, { start, end }: Range): Range {
  const part = text.slice(start, end)
  return { start: start + part.length - part.trimStart().length, end: start + part.trimEnd().length }
}

function marked(text: string, excerpt: Range, matches: readonly Match[]): string {
  let html = ''
  let at = excerpt.start
  for (const { start, end } of merged(matches, excerpt)) {
    html += `${escaped(text.slice(at, start))}<mark>${escaped(text.slice(start, end))}</mark>`
    at = end
  }
  return html + escaped(text.slice(at, excerpt.end))
}

/** What of the matches stands in an excerpt, with those in one that overlap or touch. */
function merged(matches: readonly Match[], excerpt: Range): Range[] {
  const ranges: Range[] = []
  for (const match of matches) {
    const [start, end] = [Math.max(match.start, excerpt.start), Math.min(match.end, excerpt.end)]
    const last = ranges.at(-1)
    if (start >= end) continue
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else ranges.push({ start, end })
  }
  return ranges
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
