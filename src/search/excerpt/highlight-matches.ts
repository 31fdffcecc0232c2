import type { Range } from '../../rules/text/sentences.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
import { isUnspaced } from '../text/script.ts'
import type { Token } from '../text/tokens.ts'

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
