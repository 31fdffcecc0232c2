import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'
import { nameWord, wholeName } from '../text/name-terms.ts'
import { isUnspaced } from '../text/script.ts'
import type { ParsedQuery, QueryPart } from './parse-query.ts'
import type { Leaf, Query } from './query-tree.ts'
import { joinWords } from './query-words.ts'

/** Bonus weights: a word is in a name as typed; the whole name was typed; the name begins with what was typed. */
const weights = { word: 0.3, whole: 1.5, beginning: 0.75 }

/**
 * Adds bonuses to a query without changing which pages match: pages with its words in their names as typed score higher, and
 * pages with exactly this name highest.
 */
export function withNames(parsed: ParsedQuery, analyser: Analyser): ParsedQuery {
  const required = parsed.required.map((part): QueryPart => {
    const name = ofWord(part, analyser)
    return name === undefined ? part : { ...part, query: joinWords('or', [part.query, name]) }
  })
  const { name, isOpen } = parsed
  return name === undefined ? { ...parsed, required } : withWholeName({ ...parsed, required }, name, isOpen, analyser)
}

/** Adds a bonus for pages with this name. @param isOpen also for names that begin so */
export function withWholeName(parsed: ParsedQuery, name: string, isOpen: boolean, analyser: Analyser): ParsedQuery {
  const [first, ...others] = parsed.required
  const whole = wholeName(name, analyser)
  if (first === undefined || whole === undefined) return parsed
  const text = first.word?.text ?? name
  const names: Query[] = [{ type: 'term', term: whole, text, weight: weights.whole, isBonus: true }]
  if (isOpen) names.push({ type: 'prefix', prefix: whole, text, weight: weights.beginning, isBonus: true })
  return { ...parsed, required: [{ ...first, query: joinWords('or', [first.query, ...names]) }, ...others] }
}

/** Returns a leaf for a word of a name as written. @param word folded */
export function nameLeaf(word: string, text: string, type: 'term' | 'prefix' = 'term'): Leaf {
  const name = nameWord(word)
  return {
    ...(type === 'term' ? { type, term: name } : { type, prefix: name }),
    text,
    weight: weights.word,
    isBonus: true,
  }
}

function ofWord({ word }: QueryPart, analyser: Analyser): Leaf | undefined {
  if (word === undefined) return undefined
  const [token, ...others] = analyser.tokens(word.text)
  if (token === undefined || others.length > 0) return undefined
  const written = foldWord(word.text.slice(token.start, token.end))
  return isUnspaced(written) ? undefined : nameLeaf(written, word.text)
}
