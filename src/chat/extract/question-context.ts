import { maxQuestion } from '../../contract/search.ts'
import type { Passage } from '../../search/answer/passage.ts'
import { questionTerms } from '../../search/query/question.ts'
import type { Analyser } from '../../search/text/analyser.ts'
import type { Turn } from '../answerer.ts'
import { kindOf } from './question-kind.ts'

/** How far back a question may lean on the ones before it. */
const maxTurns = 3
/** A question with more terms than this stands for itself, whatever pronouns it has. */
const maxLeaningTerms = 4

/** English, German, French, Spanish and Scandinavian words that go on with what was said. */
const connective =
  /^\W*(?:and|but|or|so|then|also|what about|how about|what if|und|aber|oder|et|mais|ou|y|pero|og|men|eller|och)\b/i
/** Those after which a whole question may follow. */
const conjunction = /^\W*(?:and|but|or|so|then|also)\b/i
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

/** Whether a question goes on with the conversation by its first word alone, as `And when does the lead change?` does. English. */
export function isWholeQuestion(message: string): boolean {
  return conjunction.test(message) && !pronoun.test(message.replace(conjunction, '')) && kindOf(message) !== 'other'
}

/**
 * The text to search with for a question: one that goes on with the conversation (`and at weekends?`, `who approves it?`) takes
 * the questions before it along.
 */
export function searchQuestion(message: string, history: readonly Turn[], analyser: Analyser): string {
  return questionContext(message, history, analyser).join('\n').slice(0, maxQuestion).toWellFormed()
}

/** No term of a question about what everything is about is rarer than this, of 1 for one that stands nowhere. */
const maxRarity = 0.15

/**
 * The text to search with again for a question such as `What is Hugo?` in Hugo's manual, whose words stand on all pages alike;
 * undefined for any other. English.
 * @param found what the question itself found.
 */
export function introductionQuery(query: string, found: readonly Passage[], language: string): string | undefined {
  const rarities = Object.values(found[0]?.rarity ?? {})
  const isOnAll = rarities.length > 0 && rarities.every((rarity) => rarity < maxRarity)
  const asks = isOnAll && /^en\b/i.test(language) && kindOf(query) === 'definition'
  return asks ? `${query.slice(0, maxQuestion / 2).toWellFormed()} introduction overview` : undefined
}

function leans(question: string, analyser: Analyser): boolean {
  const terms = questionTerms(question, analyser).length
  if (terms > maxLeaningTerms) return false
  return terms < 2 || connective.test(question) || pronoun.test(question)
}
