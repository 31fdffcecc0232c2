import type { Audience } from '../rules/access/audience.ts'
import type { Passage } from '../search/answer/passage.ts'

/** One exchange of a conversation. */
export type Turn = { question: string; answer: string }

export type Question = {
  message: string
  /** Oldest first. */
  history: readonly Turn[]
  /** Best first; none where the knowledge base holds nothing on it. */
  passages: readonly Passage[]
  /** How the knowledge base wants its answers to sound. */
  tone: string | null
  audience: Audience
  /** BCP 47. */
  language: string
  /** Groups of words and phrases that mean the same in the knowledge base. */
  synonyms: readonly (readonly string[])[]
}

export type Answer = {
  /** Markdown; every sentence that a Neuron supports ends with its seqId in brackets. */
  text: string
  /** seqIds, in the order of their first citation. */
  cited: string[]
  /** `extract`, or the name of the model. */
  answeredBy: string
  /** Why the answer is not by the model that is configured. */
  notice?: string
}

/** Answers a question from passages. */
export interface Answerer {
  /**
   * Yields the text as it comes and returns the whole; what was yielded, joined, is `text`. Ends early with the signal's
   * reason thrown.
   */
  answer(question: Question, signal: AbortSignal): AsyncGenerator<string, Answer>
  /** Words to search for, in a language (BCP 47), of a question in another one; undefined where nobody can translate it now. */
  searchWords?(question: string, language: string, signal: AbortSignal): Promise<string | undefined>
}
