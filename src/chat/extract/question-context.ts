import { maxQuestion } from '../../contract/search.ts'
import { questionTerms } from '../../search/query/question.ts'
import type { Analyser } from '../../search/text/analyser.ts'
import type { Turn } from '../answerer.ts'

/** How far back a question may lean on the ones before it. */
const maxTurns = 3
/** A question with more terms than this stands for itself, whatever pronouns it has. */
const maxLeaningTerms = 4

/** English, German, French, Spanish and Scandinavian words that go on with what was said. */
const connective =
  /^\W*(?:and|but|or|so|then|also|what about|how about|what if|und|aber|oder|et|mais|ou|y|pero|og|men|eller|och)\b/i
const pronoun =
  /\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|same|else|instead|er|sie|es|das|dies|dort|ça|cela|eso|esto|det|den|dem|disse|dessa)\b/i

/** What a question is about: its own text, and that of the questions before it which it leans on, the latest first. */
export function questionContext(message: string, history: readonly Turn[], analyser: Analyser): string[] {
  const texts = [message]
  for (const { question } of history.slice(-maxTurns).toReversed()) {
    if (!leans(texts.at(-1) ?? '', analyser)) break
    texts.push(question)
  }
  return texts
}

/**
 * The text to search with for a question: one that goes on with the conversation (`and at weekends?`, `who approves it?`) takes
 * the questions before it along.
 */
export function searchQuestion(message: string, history: readonly Turn[], analyser: Analyser): string {
  return questionContext(message, history, analyser).join('\n').slice(0, maxQuestion).toWellFormed()
}

function leans(question: string, analyser: Analyser): boolean {
  const terms = questionTerms(question, analyser).length
  if (terms > maxLeaningTerms) return false
  return terms < 2 || connective.test(question) || pronoun.test(question)
}
