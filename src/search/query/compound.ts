import type { Analyser } from '../text/analyser.ts'
import { foldWord } from '../text/fold-word.ts'
import { isUnspaced } from '../text/script.ts'

const lettersOnly = /^\p{L}[\p{L}\p{M}]*$/u

/**
 * The term of two words that some write as one, such as `website` of `web site`; undefined where they are no such words: only
 * letters, in a script with spaces, and no stop words but particles, as in `back up`.
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

/** Words of a question that are paired, at most. */
const maxWords = 64

/** The terms of nouns that a text writes as a verb and its particle (`backup` of `back up`), in its first words, each once. */
export function particleNouns(text: string, analyser: Analyser): string[] {
  const words = text.split(/\s+/, maxWords)
  const nouns = words.flatMap((word, index) => {
    const next = words[index + 1] ?? ''
    return analyser.split(word + next) === undefined ? [] : (compoundOf(word, next, analyser) ?? [])
  })
  return [...new Set(nouns)]
}
