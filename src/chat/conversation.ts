import type { ChatQuestion } from '../contract/chat.ts'
import { maxQuestion } from '../contract/search.ts'
import type { KbView } from '../kb/access/kb-view.ts'
import { isHuman } from '../rules/access/caller.ts'
import type { Actor } from '../rules/candidates/candidate.ts'
import { questionTerms } from '../search/query/query-words.ts'
import type { Passage } from '../search/search-index.ts'
import type { Analyser } from '../search/text/analyser.ts'
import type { ChatSession, ChatTurn } from '../state/chat-sessions.ts'
import type { Turn } from './answerer.ts'

/** Maximum turns of a conversation that are considered for a question. */
export const maxHistory = 10

/**
 * Returns the last turns of a conversation that a client stores, oldest first. The assistant's messages answer the question
 * before; system messages of a client are ignored.
 */
export function lastTurnsOf(messages: ChatQuestion['history']): Turn[] {
  const turns: Turn[] = []
  for (const { role, content } of messages) {
    const last = turns.at(-1)
    if (role === 'user') turns.push({ question: content, answer: '' })
    else if (role === 'assistant' && last !== undefined) {
      last.answer = last.answer === '' ? content : `${last.answer}\n\n${content}`
    }
  }
  return turns.slice(-maxHistory)
}

/** True if an actor may continue a session. That of a person or a visitor is theirs alone; that of a key belongs to all keys of the tenant. */
export function mayContinue({ ownerId }: Pick<ChatSession, 'ownerId'>, { id }: Actor): boolean {
  return ownerId === id || !(isHuman({ id: ownerId ?? '' }) || isHuman({ id }))
}

/**
 * Returns the turns of a session without answers based on a Neuron that is hidden or removed by now, because later answers must
 * not rest on it. `grounds`: Neurons that the other answers are based on.
 */
export function readableTurns(turns: readonly ChatTurn[], view: KbView): { history: Turn[]; grounds: Set<string> } {
  const grounds = new Set<string>()
  const history = turns.map((turn) => {
    const { question, answer } = turn
    if (!isReadable(turn, view)) return { question, answer: '' }
    for (const seqId of turn.grounds) grounds.add(seqId)
    return { question, answer }
  })
  return { history, grounds }
}

/** True if an answer is based on visible Neurons alone. */
export function isReadable({ grounds }: Pick<ChatTurn, 'grounds'>, view: KbView): boolean {
  return grounds.every((seqId) => view.seesNeuron(seqId))
}

/** Maximum earlier questions that a question can refer to. */
const maxTurns = 3
/** Maximum terms of a question that can refer to earlier ones. A longer question stands alone, even with pronouns. */
const maxLeaningTerms = 4

/** Connectives that continue a conversation in English, German, French, Spanish and Scandinavian languages. */
const connective =
  /^\W*(?:and|but|or|so|then|also|what about|how about|what if|und|aber|oder|et|mais|ou|y|pero|og|men|eller|och)\b/i
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
  const [, rest = ''] = /^\W*(?:and|but|or|so|then|also)\b(.*)/is.exec(message) ?? []
  return /\b(?:who|what|when|where|why|how|which)\b/i.test(rest) && !pronoun.test(rest)
}

/** Returns the text to search with. A question that refers to earlier ones (`and at weekends?`, `who approves it?`) includes them. */
export function searchQuestion(message: string, history: readonly Turn[], analyser: Analyser): string {
  return questionContext(message, history, analyser).join('\n').slice(0, maxQuestion).toWellFormed()
}

const asksForDefinition = /^\W*what(?:['’]s| is| are| does)\b/i
/** Maximum rarity of the terms of a question about the main subject of all pages. A term that occurs nowhere has rarity 1. */
const maxRarity = 0.15

/**
 * Returns the text for a second search, for an English question such as `What is Hugo?` in Hugo's manual, whose words are on all
 * pages alike; undefined for others.
 * @param found passages for the question itself
 */
export function introductionQuery(query: string, found: readonly Passage[], language: string): string | undefined {
  const rarities = Object.values(found[0]?.rarity ?? {})
  const isOnAll = rarities.length > 0 && rarities.every((rarity) => rarity < maxRarity)
  const asks = isOnAll && /^en\b/i.test(language) && asksForDefinition.test(query)
  return asks ? `${query.slice(0, maxQuestion / 2).toWellFormed()} introduction overview` : undefined
}

function leans(question: string, analyser: Analyser): boolean {
  const terms = questionTerms(question, analyser).length
  if (terms > maxLeaningTerms) return false
  return terms < 2 || connective.test(question) || pronoun.test(question)
}
