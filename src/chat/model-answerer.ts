import type { OpenAI } from 'openai'
import { z } from 'zod'
import { parseJson } from '../contract/json.ts'
import { CircuitBreaker, ModelSilent } from '../models/circuit-breaker.ts'
import { clientOf, type LanguageModel, type ModelLimits } from '../models/language-model.ts'
import { cutText } from '../rules/text/whole-characters.ts'
import { AnswerFilter } from './answer-filter.ts'
import type { Answer, Answerer, Question } from './answerer.ts'
import { ModelError } from './model-error.ts'
import { type PromptMessage, promptFor } from './prompt.ts'
import { refuse } from './refused-answer.ts'

/** Characters of an answer; the extract that may have to follow it still fits into what feedback can hold. */
const maxAnswer = 40_000
/** How many times as long as it may be silent a model may take for all of its answer. */
const maxSilences = 10

export type ModelOptions = LanguageModel &
  ModelLimits & {
    /** Of silence: until the answer begins, all attempts included, and between two pieces of it. */
    timeoutMs: number
    /** For connection errors, 408, 409, 429 and 5xx, before the answer has begun. */
    maxRetries: number
    /** Shared by all who ask the model. */
    breaker?: CircuitBreaker
  }

const maxCompletion = 1_000_000
/** How often a request is made smaller by half where it is too long for the model. */
const maxHalvings = 3
/** How servers say that it is. */
const tooLongMessage =
  /context (?:length|size|window)|context_length|too (?:long|large|many (?:input )?tokens)|maximum (?:number|length)/i
/** Characters of search words. */
const maxWords = 300

/** A request is too long for the model. */
class PromptTooLong extends Error {
  override readonly name = 'PromptTooLong'
}

/** Text, in one piece or in parts, of which some are no text: what a model thinks, for one. */
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

/** What is read of a chat completion: of a chunk of it, or of one that comes whole. */
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
 * Answers with a language model. Throws ModelError where the model gives no answer or breaks off. Without passages it refuses and asks no model.
 */
export function modelAnswerer(options: ModelOptions): Answerer {
  const { breaker = new CircuitBreaker() } = options
  let loading: Promise<OpenAI> | undefined
  // Of one attempt; what bounds all of them is the silence.
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
 * The pieces of the model's answer. Throws where the model is paused, silent for too long or cut off, or gives no such answer. An
 * answer that ends without saying why is whole: some servers never say.
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
      // The reader's time is not the model's.
      clearTimeout(timer)
      if (!hasBegun) report()
      hasBegun = true
      const { data } = Completion.safeParse(event)
      if (data === undefined) throw new Error('its answer is not a chat completion')
      const [choice] = data.choices
      const content = choice?.delta?.content ?? choice?.message?.content
      // Who reads it stops at a length, and an answer may come whole.
      for (const piece of content?.match(/[\s\S]{1,10000}/g) ?? []) yield piece
      hasSaid ||= Boolean(content)
      end = choice?.finish_reason ?? end
      timer = listen()
    }
    // A stream that is stopped ends as if it were complete.
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
    // What its reader has left says nothing of the model.
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

/** The chunks of a chat completion, or all of it from a server that does not stream. */
async function* completionOf(
  client: OpenAI,
  request: ReturnType<typeof requestOf>,
  { stop, leaving }: { stop: AbortSignal; leaving: AbortController },
): AsyncGenerator<unknown> {
  const { Stream } = await import('openai/streaming')
  const send = (asked: object) =>
    client.chat.completions.create({ ...request, ...asked, stream: true }, { signal: stop }).asResponse()
  const { max_tokens: most } = request
  // Some models know the limit by another name only, and refuse this one.
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
