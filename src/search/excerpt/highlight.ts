import type { Range } from '../../rules/text/sentences.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
import { isUnspaced } from '../text/script.ts'
import type { Token } from '../text/tokens.ts'

/**
 * Returns an excerpt of plain text around the matches of leaves, as HTML: escaped, `<mark>` around matches, `…` where it is cut.
 * The beginning of the text if nothing matches.
 * @param maxLength in UTF-16 units
 */
export function highlight(text: string, leaves: readonly Leaf[], analyser: Analyser, maxLength = 240): string {
  return highlightMatches(text, matchesOf(text, leaves, analyser), maxLength)
}

/** Returns the excerpt of {@link highlight} for known matches, in any order. */
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

/** Clips matches to an excerpt, and merges those that overlap or touch. */
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

/** Maximum distance that a cut moves to fall between words. */
const slack = 24

/** Returns the range of at most `maxLength` with the most different matches, then the most matches; the beginning if there are none. */
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

/** Returns the first word start from `from`, at most `limit`; else the first character start. */
function cutBefore(text: string, from: number, limit: number): number {
  if (from === 0 || isSpace(text, from - 1)) return from
  const last = Math.min(from + slack, limit)
  for (let at = from; at < last; at++) if (isSpace(text, at)) return at + 1
  let at = from
  while (at < limit && continues(text, at)) at++
  return at
}

/** Returns the last word end up to `to`, at least `limit`; else the last character end. */
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

/** True if the code unit at `at` belongs to the character before it: a low surrogate or a mark. */
function continues(text: string, at: number): boolean {
  return /^(?:[\udc00-\udfff]|\u200d|\p{M})/u.test(text.slice(at, at + 2))
}

/** A match of a leaf. */
export type Match = Range & {
  /** Typed text of the leaf. A word searched in several ways counts once. */
  typed: string
}

const join = /^(?:_{1,8}|[-‐‑.])?$/

/** Returns the matches of leaves in a text, by their start. A phrase is one match. */
export function matchesOf(text: string, leaves: readonly Leaf[], analyser: Analyser): Match[] {
  const tokens = analyser.tokens(text)
  const byFirstTerm = Map.groupBy(leaves, (leaf) =>
    leaf.type === 'phrase' ? leaf.terms[0] : leaf.type === 'term' ? leaf.term : undefined,
  )
  const prefixes = byFirstTerm.get(undefined) ?? []
  const matches: Match[] = []
  const seek = (term: string, index: number, start: number) => {
    for (const sought of [byFirstTerm.get(term), prefixes]) {
      for (const leaf of sought ?? []) {
        const end = endOfMatch(leaf, term, index, tokens, text)
        if (end !== undefined) matches.push({ start, end, typed: leaf.text })
      }
    }
  }
  for (const [index, { start, term, also }] of tokens.entries()) {
    seek(term, index, start)
    for (const other of also) seek(other, index, start)
  }
  return matches
}

/** Returns the end of a leaf's match that begins at a token found by `term`; undefined if there is none. */
function endOfMatch(
  leaf: Leaf,
  term: string,
  index: number,
  tokens: readonly Token[],
  text: string,
): number | undefined {
  if (leaf.type === 'term') return endOfTerm(term, index, tokens, text)
  if (leaf.type === 'prefix') return term.startsWith(leaf.prefix) ? endOfPrefix(leaf.prefix, index, tokens) : undefined
  const isThere = leaf.terms.every((sought, offset) => {
    const token = tokens[index + offset]
    return token !== undefined && (token.term === sought || token.also.includes(sought))
  })
  return isThere ? tokens[index + leaf.terms.length - 1]?.end : undefined
}

/** Returns the end of a term's match. If the term is a whole identifier, the match extends over its other words. */
function endOfTerm(term: string, index: number, tokens: readonly Token[], text: string): number | undefined {
  const first = tokens[index]
  if (first === undefined || first.term === term) return first?.end
  let { end } = first
  let length = end - first.start
  for (let next = tokens[index + 1]; next !== undefined && length < term.length; next = tokens[++index + 1]) {
    if (!join.test(text.slice(end, next.start))) break
    end = next.end
    length += next.end - next.start
  }
  return end
}

/** Returns the end of a prefix's match. In scripts without spaces a token is a pair of characters, and a prefix is the first alone. */
function endOfPrefix(prefix: string, index: number, tokens: readonly Token[]): number | undefined {
  const [token, next] = [tokens[index], tokens[index + 1]]
  return token !== undefined && next !== undefined && isUnspaced(prefix) ? Math.min(token.end, next.start) : token?.end
}
