import type { Range } from '../../rules/text/sentences.ts'
import type { Match } from './highlight-matches.ts'

/** How far a cut moves to fall between words. */
const slack = 24

/** The part of a text, at most so long, that shows the most different matches, and of those the most; its beginning where there are none. */
export function excerptOf(text: string, matches: readonly Match[], maxLength: number): Range {
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
