import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'
import { isUnspaced } from '../text/script.ts'

const lettersOnly = /^\p{L}[\p{L}\p{M}]*$/u

/**
 * Returns the term of two words that are also written as one, such as `website` for `web site`. Undefined unless both are words
 * of letters in a script with spaces. Stop words count only as particles, as in `back up`.
 */
export function compoundOf(first: string, second: string, analyser: Analyser): string | undefined {
  const isWord = (word: string) => lettersOnly.test(word) && !isUnspaced(word)
  const isStopWord = (word: string) => analyser.isStopWord(foldWord(word))
  if (!isWord(first) || !isWord(second)) return undefined
  const compound = (first + second).toLowerCase()
  if ((isStopWord(first) || isStopWord(second)) && analyser.split(compound) === undefined) return undefined
  const tokens = analyser.tokens(compound)
  return tokens.length === 1 ? tokens[0]?.term : undefined
}

/** Maximum words of a question to pair. */
const maxWords = 64

/** Returns the terms of nouns that a text writes as verb and particle (`backup` for `back up`). */
export function particleNouns(text: string, analyser: Analyser): string[] {
  const words = text.split(/\s+/, maxWords)
  const nouns = words.flatMap((word, index) => {
    const next = words[index + 1] ?? ''
    return analyser.split(word + next) === undefined ? [] : (compoundOf(word, next, analyser) ?? [])
  })
  return [...new Set(nouns)]
}
