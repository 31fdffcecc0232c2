import type { Range } from '../../rules/text/sentences.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
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

/** How far a cut moves to fall between words. */
const slack = 24

/** The part of a text, at most so long, that shows the most different matches, and of those the most; its beginning where there are none. */
function excerptOf(text: string, matches: readonly Match[], maxLength: number): Range {
  if (text.length <= maxLength) return { start: 0, end: text.length }
  const { start, end } = bestCluster(matches, maxLength)
  const middle = Math.floor((start + end - maxLength) / 2)
  const from = Math.max(0, Math.min(middle, text.length - maxLength))
  return { start: cutBefore(text, from, start), end: cutAfter(text, from + maxLength, end) }
}

function bestCluster(matches: readonly Match[], maxLength: number): Range {
  let best = { start: 0, end: 0, different: 0, count: 0 }
  const counts = new Map<string, number>()
  let next = 0
  for (const [first, { start, typed }] of matches.entries()) {
    for (let match = matches[next]; match !== undefined; match = matches[++next]) {
      if (next > first && match.end - start > maxLength) break
      counts.set(match.typed, (counts.get(match.typed) ?? 0) + 1)
    }
    const [different, count] = [counts.size, next - first]
    if (different > best.different || (different === best.different && count > best.count)) {
      best = { start, end: Math.min(matches[next - 1]?.end ?? start, start + maxLength), different, count }
    }
    const others = (counts.get(typed) ?? 0) - 1
    if (others > 0) counts.set(typed, others)
    else counts.delete(typed)
  }
  return best
}

/** The first place from `from` on, but not beyond `limit`, where a word begins; else where a character does. */
function cutBefore(text: string, from: number, limit: number): number {
  if (from === 0 || isSpace(text, from - 1)) return from
  const last = Math.min(from + slack, limit)
  for (let at = from; at < last; at++) if (isSpace(text, at)) return at + 1
  let at = from
  while (at < limit && continues(text, at)) at++
  return at
}

/** The last place up to `to`, but not before `limit`, where a word has ended; else where a character has. */
function cutAfter(text: string, to: number, limit: number): number {
  if (to === text.length || isSpace(text, to)) return to
  const first = Math.max(to - slack, limit)
  for (let at = to - 1; at >= first; at--) if (isSpace(text, at)) return at
  let at = to
  while (at > 0 && continues(text, at)) at--
  return at
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at))
}

/** Whether what stands there belongs to the character before it: the second half of a pair, or a mark. */
function continues(text: string, at: number): boolean {
  return /^(?:[\udc00-\udfff]|\u200d|\p{M})/u.test(text.slice(at, at + 2))
}
