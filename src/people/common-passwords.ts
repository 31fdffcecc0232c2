import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/** Loaded when somebody chooses a password: the lists take some memory and time. */
const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

/** Characters that are looked at: the time grows with the square of their number, and what follows makes nothing easier. */
const maxLooked = 64
/** Of 0 to 4. Below it, a million guesses find the password. */
const minScore = 2

/** @param about words of the person's own, e.g. their name */
export function isEasyToGuess(password: string, about: readonly string[]): boolean {
  const own = about.flatMap(wordsOf).filter((word) => word.length > 2)
  return estimator.check(password.slice(0, maxLooked), [...own, 'ganglion']).score < minScore
}

/** A text, its words, and these written as one. */
function wordsOf(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}]+/u)
  return [text, ...words, words.join('')]
}
