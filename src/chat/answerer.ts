import type { Audience } from '../rules/access/audience.ts'
import type { Passage } from '../search/search-index.ts'

/** A question and its answer in a conversation. */
export type Turn = { question: string; answer: string }

export type Question = {
  message: string
  /** Earlier turns, oldest first. */
  history: readonly Turn[]
  /** Passages, best first; none if the knowledge base has nothing on the question. */
  passages: readonly Passage[]
  /** Tone of answers that the knowledge base asks for. */
  tone: string | null
  audience: Audience
  /** Language of the knowledge base, as a BCP 47 tag. */
  language: string
  /** Groups of synonymous words and phrases of the knowledge base. */
  synonyms: readonly (readonly string[])[]
}

/** Name in `answeredBy` of answers without a language model. */
export const extractName = 'extract'

export type Answer = {
  /** Markdown. Every sentence that a Neuron supports ends with its seqId in brackets. */
  text: string
  /** Cited seqIds, in the order of their first citation. */
  cited: string[]
  /** Author of the answer: `extract`, or the name of the model. */
  answeredBy: string
  /** True if the message has two questions and one is refused. */
  isPartial?: true
  /** SeqIds of pages that a refusal quotes without citing them. */
  shown?: readonly string[]
  /** Reason why the configured model did not answer. */
  notice?: string
}

/** Answers a question from passages. */
export interface Answerer {
  /** Yields the text as it comes and returns the whole: the pieces, joined, are `text`. Throws the signal's reason if it aborts. */
  answer(question: Question, signal: AbortSignal): AsyncGenerator<string, Answer>
  /** Translates a question into search words of a language (BCP 47); undefined if no translation is available now. */
  searchWords?(question: string, language: string, signal: AbortSignal): Promise<string | undefined>
}

type Broken = { model: string; said: string; cited: readonly string[]; cause?: unknown }

/** Thrown if a language model gave no answer, or only part of one. The cause is the error of its client. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly model: string
  /** Text yielded before the failure. */
  readonly said: string
  readonly cited: readonly string[]

  constructor(message: string, { model, said, cited, cause }: Broken) {
    super(message, { cause })
    this.model = model
    this.said = said
    this.cited = cited
  }
}
