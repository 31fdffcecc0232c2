import type { OpenAI } from 'openai'
import { z } from 'zod'
import { parseJson } from '../contract/json.ts'
import { CircuitBreaker, ModelSilent } from '../models/circuit-breaker.ts'
import { clientOf, type LanguageModel, type ModelLimits } from '../models/language-model.ts'
import { cutText } from '../rules/text/whole-characters.ts'
import { AnswerFilter } from './answer-filter.ts'
import { type Answer, type Answerer, ModelError, type Question } from './answerer.ts'
import { type PromptMessage, promptFor } from './prompt.ts'
import { refuse } from './refused-answer.ts'

/** Maximum characters of an answer; an extract after it still fits into feedback. */
const maxAnswer = 40_000
/** Maximum duration of an answer, as a multiple of the permitted silence. */
const maxSilences = 10

export type ModelOptions = LanguageModel &
  ModelLimits & {
    /** Milliseconds of silence permitted until the answer begins, all attempts included, and between two pieces of it. */
    timeoutMs: number
    /** Retries after connection errors, 408, 409, 429 and 5xx, before the answer has begun. */
    maxRetries: number
    /** Circuit breaker shared by all requests to the model. */
    breaker?: CircuitBreaker
  }

const maxCompletion = 1_000_000
/** Maximum times that a request too long for the model is halved. */
const maxHalvings = 3
/** Messages of servers about a request that is too long. */
const tooLongMessage =
  /context (?:length|size|window)|context_length|too (?:long|large|many (?:input )?tokens)|maximum (?:number|length)/i
/** Maximum characters of search words. */
const maxWords = 300

class PromptTooLong extends Error {
  override readonly name = 'PromptTooLong'
}

/** Text, whole or in parts, some of which are no text, such as the reasoning of a model. */
const Content = z.object({
  content: z
    .union([
      z.string(),
      z
        .array(z.object({ type: z.string(), text: z.string().nullish() }))
        .transform((parts) => parts.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('')),
    ])
    .nullish(),
})

/** Fields read from a chat completion, streamed or whole. */
const Completion = z.object({
  choices: z.array(
    z.object({
      delta: Content.nullish(),
      message: Content.nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
})

/**
 * Answers with a language model. Throws ModelError if the model gives no answer or breaks off. Refuses without asking the model
 * if there are no passages.
 */
export function modelAnswerer(options: ModelOptions): Answerer {
  const { breaker = new CircuitBreaker() } = options
  let loading: Promise<OpenAI> | undefined
  // Timeout of one attempt; the silence bounds all of them.
  const load = () =>
    (loading ??= clientOf(options, { use: 'chat', timeout: 2 * options.timeoutMs, maxRetries: options.maxRetries }))
  return {
    async *answer(question, signal) {
      signal.throwIfAborted()
      if (question.passages.length === 0) return yield* refuse(question.language)
      return yield* converse(await load(), { ...options, breaker }, question, signal)
    },
    async searchWords(question, language, signal) {
      const content = `Translate this question to words to search for in the language "${language}", as a page that answers it has them: at most 12, names as they are, no sentence, nothing else.\n\n${question}`
      const messages: PromptMessage[] = [{ role: 'user', content }]
      const filter = new AnswerFilter([])
      let text = ''
      try {
        for await (const piece of pieces(await load(), { ...options, breaker }, messages, signal)) {
          text += filter.push(piece)
          if (text.length > maxAnswer) break
        }
      } catch {
        signal.throwIfAborted()
        return undefined
      }
      const [line = ''] = (text + filter.end()).trim().split('\n')
      return cutText(line, maxWords) || undefined
    },
  }
}

type Asking = ModelOptions & { breaker: CircuitBreaker }

async function* converse(
  client: OpenAI,
  asking: Asking,
  question: Question,
  signal: AbortSignal,
  halvings = 0,
): AsyncGenerator<string, Answer> {
  const { model } = asking
  const { messages, citable } = promptFor(question, asking, 0.5 ** halvings)
  const filter = new AnswerFilter(citable)
  let text = ''
  const add = (piece: string): string => {
    const next = cutText(text === '' ? piece.trimStart() : piece, maxAnswer - text.length)
    text += next
    return next
  }
  try {
    for await (const piece of pieces(client, asking, messages, signal)) {
      const next = add(filter.push(piece))
      if (next !== '') yield next
      if (text.length >= maxAnswer) break
    }
    const rest = add(filter.end())
    if (rest !== '') yield rest
    if (text === '') throw new Error('its answer is empty')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof PromptTooLong && text === '' && halvings < maxHalvings)
      return yield* converse(client, asking, question, signal, halvings + 1)
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

/**
 * Yields the model's answer in pieces. Throws if the model is paused, silent for too long or cut off, or the response is invalid.
 * An answer without a finish reason is complete: some servers never send one.
 */
async function* pieces(
  client: OpenAI,
  asking: Asking,
  messages: readonly PromptMessage[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { timeoutMs, breaker } = asking
  const report = breaker.begin()
  const [silence, leaving] = [new AbortController(), new AbortController()]
  const tooLong = AbortSignal.timeout(timeoutMs * maxSilences)
  const stop = AbortSignal.any([signal, silence.signal, leaving.signal, tooLong])
  const listen = () => setTimeout(() => silence.abort(), timeoutMs)
  let timer = listen()
  let hasBegun = false
  let hasSaid = false
  let end: string | undefined
  let failure: unknown = signal.reason
  try {
    for await (const event of completionOf(client, requestOf(asking, messages), { stop, leaving })) {
      // The time that the reader takes does not count.
      clearTimeout(timer)
      if (!hasBegun) report()
      hasBegun = true
      const { data } = Completion.safeParse(event)
      if (data === undefined) throw new Error('its answer is not a chat completion')
      const [choice] = data.choices
      const content = choice?.delta?.content ?? choice?.message?.content
      // Divides an answer that comes whole, because the reader stops at a length.
      for (const piece of content?.match(/[\s\S]{1,10000}/g) ?? []) yield piece
      hasSaid ||= Boolean(content)
      end = choice?.finish_reason ?? end
      timer = listen()
    }
    // A stopped stream ends as if it were complete.
    stop.throwIfAborted()
    if (end === undefined && !hasSaid) throw new Error('its answer broke off')
  } catch (error) {
    failure = error
    if (silence.signal.aborted) failure = new ModelSilent(hasBegun ? 'it fell silent' : 'it did not answer in time')
    else if (tooLong.aborted) failure = new ModelSilent('it took too long')
    else if (!hasSaid && isTooLong(error)) failure = new PromptTooLong(error.message)
    throw failure
  } finally {
    clearTimeout(timer)
    leaving.abort()
    // An answer that the reader abandoned is not the model's failure.
    if (!hasBegun || failure !== undefined) report(signal.aborted ? signal.reason : (failure ?? new Error('left')))
  }
  if (end === 'length') yield ' …'
  if (end === 'content_filter') throw new Error('its answer was held back by its content filter')
}

function requestOf({ model, temperature, maxAnswerTokens }: ModelOptions, messages: readonly PromptMessage[]) {
  return {
    ...{ model, messages: [...messages] },
    ...(temperature !== undefined && { temperature }),
    ...(maxAnswerTokens !== undefined && { max_tokens: maxAnswerTokens }),
  }
}

function isTooLong(error: unknown): error is Error {
  return error instanceof Error && 'status' in error && tooLongMessage.test(error.message)
}

/** Yields the chunks of a chat completion, or all of it from a server that does not stream. */
async function* completionOf(
  client: OpenAI,
  request: ReturnType<typeof requestOf>,
  { stop, leaving }: { stop: AbortSignal; leaving: AbortController },
): AsyncGenerator<unknown> {
  const { Stream } = await import('openai/streaming')
  const send = (asked: object) =>
    client.chat.completions.create({ ...request, ...asked, stream: true }, { signal: stop }).asResponse()
  const { max_tokens: most } = request
  // Some models accept the limit under another name only, and reject this one.
  const response = await send({}).catch((error: unknown) => {
    if (most === undefined || !String(error).includes('max_completion_tokens')) throw error
    return send({ max_tokens: undefined, max_completion_tokens: most })
  })
  if (/\bjson\b/i.test(response.headers.get('content-type') ?? '')) yield parseJson(await textOf(response))
  else yield* Stream.fromSSEResponse(response, leaving)
}

async function textOf({ body }: Response): Promise<string> {
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.length > maxCompletion) throw new Error('its answer is too long')
  }
  return text
}
