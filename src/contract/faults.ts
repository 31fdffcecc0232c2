import { z } from 'zod'
import { ValidationError } from './errors.ts'

type Faults = {
  fieldErrors?: Readonly<Record<string, readonly string[] | undefined>>
  formErrors?: readonly string[]
}

/** Display names of fields whose own names people may not know. Any other field is displayed by the words of its name. */
const fieldWords: Readonly<Record<string, string>> = {
  content: 'text',
  q: 'query',
  kb: 'knowledge base',
  knowledgeBaseId: 'knowledge base',
  url: 'address',
  maxOpen: 'number of open pull requests',
  from: 'first event',
  pending: 'number of waiting candidates',
  approved: 'number of approved candidates',
  paths: 'folder or page',
  origins: 'address',
  perMinute: 'number of questions in a minute',
  perDay: 'number of questions in a day',
  until: 'last day',
  since: 'start',
  writer: 'name',
  retrieves: 'seqIds',
  shouldCite: 'seqId',
}

/** Parses untrusted data. @throws {ValidationError} whose messages complete a sentence: `must be text` */
export function parseSent<Schema extends z.ZodType>(schema: Schema, data: unknown): z.output<Schema> {
  const parsed = schema.safeParse(data, { error: faultOf })
  if (parsed.success) return parsed.data
  const { fieldErrors, formErrors } = z.flattenError<unknown>(parsed.error)
  throw new ValidationError({ ...fieldErrors }, formErrors)
}

/** Returns a sentence for each fault, for a person: without the names of fields. */
export function faultSentences({ fieldErrors = {}, formErrors = [] }: Faults): { field?: string; text: string }[] {
  const ofFields = Object.entries(fieldErrors).flatMap(([field, messages = []]) =>
    messages.map((message) => ({ field, text: sentenceOf(field, message) })),
  )
  return [...formErrors.map((text) => ({ text: /^must /.test(text) ? sentenceOf('body', text) : text })), ...ofFields]
}

/** Returns all of {@link faultSentences} on one line. */
export function faultText(faults: Faults): string {
  return faultSentences(faults)
    .map(({ text }) => text)
    .join(' ')
}

/** Completes a message that begins with a lower-case letter to a sentence. */
function sentenceOf(field: string, message: string): string {
  if (!/^\p{Ll}/u.test(message)) return message
  const words =
    fieldWords[field] ??
    field
      .replace(/(?<=\p{Ll})\p{Lu}/gu, ' $&')
      .replace(/[-_.]/g, ' ')
      .toLowerCase()
  return `The ${words} ${message}${/[.!?]$/.test(message) ? '' : '.'}`
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** Returns the message for a fault without one of its own, to complete a sentence. */
export function faultOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return 'must be given'
    const type = typeWords[issue.expected]
    return type && `must be ${type}`
  }
  if (issue.code === 'invalid_value')
    return `must be ${issue.values
      .map(String)
      .join(', ')
      .replace(/, ([^,]*)$/, ' or $1')}`
  if (issue.code === 'too_small') return boundOf(issue.origin, 'at least', issue.minimum, issue.inclusive)
  if (issue.code === 'too_big') return boundOf(issue.origin, 'at most', issue.maximum, issue.inclusive)
  if (issue.code === 'unrecognized_keys') return `must not have ${issue.keys.join(', ')}`
  if (issue.code !== 'invalid_format') return undefined
  if (issue.format === 'uuid') return 'must be a UUID'
  if (issue.format === 'email') return 'must be an e-mail address'
  // A pattern means nothing to most people, so schemas with one have their own message.
  return 'has the wrong form'
}

function boundOf(origin: string, bound: 'at least' | 'at most', value: number | bigint, inclusive = true): string {
  if (bound === 'at least' && value === 1 && (origin === 'string' || origin === 'array')) return 'must not be empty'
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' items' : ''
  const not = bound === 'at least' ? 'more than' : 'less than'
  return `must ${origin === 'array' ? 'have' : 'be'} ${inclusive ? bound : not} ${value}${unit}`
}
