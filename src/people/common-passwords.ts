import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/** Estimator of guesses. This module is loaded when somebody chooses a password, since the lists take memory and time. */
const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

/** Maximum characters scored. Scoring takes quadratic time, and further characters never weaken a password. */
const maxLooked = 64
/** Minimum zxcvbn score (0–4). A lower score means fewer than 10⁶ guesses. */
const minScore = 2

/** True if a password is easy to guess. @param about words of the person, e.g. their name */
export function isEasyToGuess(password: string, about: readonly string[]): boolean {
  const own = about.flatMap(wordsOf).filter((word) => word.length > 2)
  return estimator.check(password.slice(0, maxLooked), [...own, 'ganglion']).score < minScore
}

/** Returns the text, each of its words, and the words joined without spaces. */
function wordsOf(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}]+/u)
  return [text, ...words, words.join('')]
}
