import { maxQuestion } from '../../contract/search.ts'
import { questionTerms } from '../../search/query/query-words.ts'
import type { Passage } from '../../search/search-index.ts'
import type { Analyser } from '../../search/text/analyser.ts'
import type { Turn } from '../answerer.ts'
import { kindOf } from './question-kind.ts'

/** Maximum earlier questions that a question can refer to. */
const maxTurns = 3
/** Maximum terms of a question that refers to earlier ones, whatever pronouns it has. */
const maxLeaningTerms = 4

/** Connectives that continue a conversation in English, German, French, Spanish and Scandinavian languages. */
const connective =
  /^\W*(?:and|but|or|so|then|also|what about|how about|what if|und|aber|oder|et|mais|ou|y|pero|og|men|eller|och)\b/i
/** Connectives that a complete question may follow. */
const conjunction = /^\W*(?:and|but|or|so|then|also)\b/i
const pronoun =
  /\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|same|else|instead|er|sie|es|das|dies|dort|ça|cela|eso|esto|det|den|dem|disse|dessa)\b/i

/** Returns the question and the earlier questions that it refers to, latest first. */
export function questionContext(message: string, history: readonly Turn[], analyser: Analyser): string[] {
  const texts = [message]
  for (const { question } of history.slice(-maxTurns).toReversed()) {
    if (!leans(texts.at(-1) ?? '', analyser)) break
    texts.push(question)
  }
  return texts
}

/** True if an English question continues the conversation by its first word alone: `And when does the lead change?` */
export function isWholeQuestion(message: string): boolean {
  return conjunction.test(message) && !pronoun.test(message.replace(conjunction, '')) && kindOf(message) !== 'other'
}

/** Returns the text to search with. A question that refers to earlier ones (`and at weekends?`, `who approves it?`) includes them. */
export function searchQuestion(message: string, history: readonly Turn[], analyser: Analyser): string {
  return questionContext(message, history, analyser).join('\n').slice(0, maxQuestion).toWellFormed()
}

/** Maximum rarity of the terms of a question about the main subject; 1 is a term that occurs nowhere. */
const maxRarity = 0.15

/**
 * Returns the text for a second search, for an English question such as `What is Hugo?` in Hugo's manual, whose words are on all
 * pages alike; undefined for others.
 * @param found passages for the question itself
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
