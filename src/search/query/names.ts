import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'
import { nameWord, wholeName } from '../text/name-terms.ts'
import { isUnspaced } from '../text/script.ts'
import type { ParsedQuery, QueryPart } from './parse-query.ts'
import type { Leaf, Query } from './query-tree.ts'
import { joinWords } from './query-words.ts'

/** What counts beside a word's own score: that it stands in a name as it is written, and that the whole name was written. */
const weights = { word: 0.3, whole: 1.5, beginning: 0.75 }

/**
 * The same query, which finds the same pages: those that have its words in their names as they were typed, and not only in another
 * form, score higher, and highest those whose name it is.
 */
export function withNames(parsed: ParsedQuery, analyser: Analyser): ParsedQuery {
  const required = parsed.required.map((part): QueryPart => {
    const name = ofWord(part, analyser)
    return name === undefined ? part : { ...part, query: joinWords('or', [part.query, name]) }
  })
  const { name, isOpen } = parsed
  return name === undefined ? { ...parsed, required } : withWholeName({ ...parsed, required }, name, isOpen, analyser)
}

/** The same query, where pages of this name score highest. @param isOpen those whose name begins so score higher, too. */
export function withWholeName(parsed: ParsedQuery, name: string, isOpen: boolean, analyser: Analyser): ParsedQuery {
  const [first, ...others] = parsed.required
  const whole = wholeName(name, analyser)
  if (first === undefined || whole === undefined) return parsed
  const text = first.word?.text ?? name
  const names: Query[] = [{ type: 'term', term: whole, text, weight: weights.whole, isBonus: true }]
  if (isOpen) names.push({ type: 'prefix', prefix: whole, text, weight: weights.beginning, isBonus: true })
  return { ...parsed, required: [{ ...first, query: joinWords('or', [first.query, ...names]) }, ...others] }
}

/** A word in a name as it is written. @param word folded. */
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
