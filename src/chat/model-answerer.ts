import type { OpenAI } from 'openai'
import { z } from 'zod'
import { clientOf, type LanguageModel } from '../models/language-model.ts'
import { AnswerFilter } from './answer-filter.ts'
import type { Answer, Answerer, Question } from './answerer.ts'
import { ModelError } from './model-error.ts'
import { type Message, promptFor } from './prompt.ts'
import { refuse } from './refusal.ts'

/** Characters of an answer; the extract that may have to follow it still fits into what feedback can hold. */
const maxAnswer = 40_000
/** How many times as long as it may be silent a model may take for all of its answer. */
const maxSilences = 10

export type ModelOptions = LanguageModel & {
  /** Of silence: until the answer begins, and between two pieces of it. */
  timeoutMs: number
  /** For connection errors, 408, 409, 429 and 5xx, before the answer has begun. */
  maxRetries: number
}

/** What is read of a chunk of a streamed chat completion. */
const Chunk = z.object({
  choices: z.array(
    z.object({
      delta: z.object({ content: z.string().nullish() }).nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
})

/**
 * Answers with a language model. Throws ModelError where the model gives no answer or breaks off. Without passages it refuses and asks no model.
 */
export function modelAnswerer(options: ModelOptions): Answerer {
  let client: Promise<OpenAI> | undefined
  return {
    async *answer(question, signal) {
      signal.throwIfAborted()
      if (question.passages.length === 0) return yield* refuse(question.language)
      client ??= clientOf(options, { timeout: options.timeoutMs, maxRetries: options.maxRetries })
      return yield* converse(await client, options, question, signal)
    },
  }
}

async function* converse(
  client: OpenAI,
  { model, timeoutMs }: ModelOptions,
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<string, Answer> {
  const { messages, citable } = promptFor(question)
  const filter = new AnswerFilter(citable)
  let text = ''
  const add = (piece: string): string => {
    const next = cutTo(maxAnswer - text.length, text === '' ? piece.trimStart() : piece)
    text += next
    return next
  }
  try {
    for await (const piece of pieces(client, { model, messages, timeoutMs }, signal)) {
      const next = add(filter.push(piece))
      if (next !== '') yield next
      if (text.length >= maxAnswer) break
    }
    const rest = add(filter.end())
    if (rest !== '') yield rest
    if (text === '') throw new Error('its answer is empty')
  } catch (error) {
    signal.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    throw new ModelError(`The language model failed: ${reason}`, {
      model,
      said: text,
      cited: filter.cited,
      cause: error,
    })
  }
  return { text, cited: filter.cited.filter((seqId) => text.includes(`[${seqId}]`)), answeredBy: model }
}

/** The pieces of the model's answer. Throws where it is silent for too long, ends before its end, or is no such answer. */
async function* pieces(
  client: OpenAI,
  { model, messages, timeoutMs }: { model: string; messages: Message[]; timeoutMs: number },
  signal: AbortSignal,
): AsyncGenerator<string> {
  // The client's own time-out ends when the response begins.
  const silence = new AbortController()
  const tooLong = AbortSignal.timeout(timeoutMs * maxSilences)
  const stop = AbortSignal.any([signal, silence.signal, tooLong])
  const stream = await client.chat.completions.create({ model, messages, stream: true }, { signal: stop })
  const listen = () => setTimeout(() => silence.abort(), timeoutMs)
  let timer = listen()
  let end: string | undefined
  try {
    for await (const event of stream) {
      // The reader's time is not the model's.
      clearTimeout(timer)
      const { data } = Chunk.safeParse(event)
      if (data === undefined) throw new Error('its answer is not a chat completion')
      const [choice] = data.choices
      if (choice?.delta?.content) yield choice.delta.content
      end = choice?.finish_reason ?? end
      timer = listen()
    }
  } finally {
    clearTimeout(timer)
  }
  // A stream that is stopped ends as if it were complete.
  if (silence.signal.aborted) throw new Error('it fell silent')
  if (stop.aborted) throw new Error('it took too long')
  if (end === undefined) throw new Error('its answer broke off')
  if (end === 'length') yield ' …'
  if (end === 'content_filter') throw new Error('its answer was held back by its content filter')
}

function cutTo(max: number, text: string): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
