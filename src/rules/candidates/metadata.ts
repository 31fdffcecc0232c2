import { z } from 'zod'
import { EndUser } from '../../contract/candidates.ts'
import { ValidationError } from '../../contract/errors.ts'
import { faultOf } from '../../contract/faults.ts'
import { ObjectId } from '../../contract/identifiers.ts'
import { prototypeKeys } from '../../contract/json.ts'
import { Zone } from '../../contract/vocabulary.ts'
import { portablePath } from '../paths/portable-path.ts'
import { hasBadCharacters, oneLine } from '../text/lines.ts'
import type { Candidate } from './candidate.ts'

const maxBytes = 16 * 1024
const maxKeys = 64
const maxDepth = 5
const maxTags = 64
const maxWord = 100

/** Metadata of a candidate: the JSON text to store (text that was submitted stays byte for byte) and the parsed object. */
export type Metadata = { text: string | null; data: Record<string, unknown> }

/** Metadata keys that Ganglion interprets. */
export type MetadataFields = {
  connector?: string
  /** HTTP or HTTPS URL. Any other scheme stays in the metadata only, and is never linked to. */
  sourceUrl?: string
  /** Target as the caller named it. It may not exist. */
  targetNeuron?: string
  tags: string[]
  /** Requested audience, which can only narrow the page's own. */
  audience?: string[]
  actionZone?: Zone
  /** Requested portable path below `neurons/`. */
  path?: string
  /** Version of the target that the caller has read: a commit of main that contains it, or its number. */
  baseCommit?: string
  baseVersion?: number
  /** True if `tags` replace the target's tags; otherwise they are added. */
  replaceTags?: boolean
}

/**
 * Parses metadata. Throws ValidationError with `fieldErrors.metadata` if it is not a JSON object, exceeds a limit, or has hostile keys or
 * text.
 */
export function parseMetadata(input: string | object | null | undefined): Metadata {
  if (input === null || input === undefined) return { text: null, data: {} }
  const value: unknown = typeof input === 'string' ? parseJson(input) : input
  checkTree(value)
  const text = typeof input === 'string' ? input : JSON.stringify(value)
  const data = JsonObject.safeParse(parseJson(text))
  if (!data.success) throw invalid('must be a JSON object')
  return { text, data: data.data }
}

/** Returns a reader of text values by key. The metadata of a record was validated when it was submitted. */
export function textsOf(metadata: string | null): (key: string) => string | undefined {
  const data: unknown = metadata === null ? {} : JSON.parse(metadata)
  return (key) => {
    const value = typeof data === 'object' && data !== null ? Reflect.get(data, key) : undefined
    return typeof value === 'string' ? value : undefined
  }
}

/** True if a key, a person or a visitor sent a candidate over HTTP. */
export function isClient({ createdBy }: Pick<Candidate, 'createdBy'>): boolean {
  return /^(?:key|user|visitor):/.test(createdBy.id)
}

/** Returns the end user on whose behalf a client sent a candidate. */
export function endUserOf({ metadata, createdBy }: Pick<Candidate, 'metadata' | 'createdBy'>): EndUser | undefined {
  if (metadata === null || !isClient({ createdBy })) return undefined
  return z.object({ onBehalfOf: EndUser }).safeParse(JSON.parse(metadata)).data?.onBehalfOf
}

/** Returns how the reason of an undo names an end user. */
export function forWhom(id: string): string {
  return ` on behalf of ${id}`
}

/**
 * Reads the known keys. Throws ValidationError with `fieldErrors.metadata` for a value of the wrong type; nothing is coerced.
 * @param known fields to check; {@link SentFields} for metadata that was just sent
 */
export function readMetadata(data: Record<string, unknown>, known: typeof Fields = Fields): MetadataFields {
  if (Object.keys(data).length === 0) return { tags: [] }
  const result = known.safeParse(data, { error: faultOf })
  if (!result.success) {
    throw invalid(...result.error.issues.map((issue) => `${issue.path.join(' ')} ${issue.message}`))
  }
  const { connector, sourceUrl, targetNeuron, tags, audience, actionZone, path, baseCommit, baseVersion, replaceTags } =
    result.data
  return {
    ...(connector && { connector }),
    ...(sourceUrl && isWebAddress(sourceUrl) && { sourceUrl }),
    ...(targetNeuron && { targetNeuron }),
    tags,
    ...(audience && { audience }),
    ...(actionZone && { actionZone }),
    ...(path && { path: neuronPath(path) }),
    ...(baseCommit && { baseCommit }),
    ...(baseVersion && { baseVersion }),
    ...(replaceTags && { replaceTags }),
  }
}

/** Returns the known keys whose values {@link readMetadata} would reject. */
export function unfitKeys(data: Record<string, unknown>): string[] {
  const result = Fields.safeParse(data)
  return result.success ? [] : [...new Set(result.error.issues.map(({ path: [key] }) => String(key)))]
}

const JsonObject = z.record(z.string(), z.unknown())

const Word = z.string().transform((text, context) => {
  const line = oneLine(text, text.length)
  if (line.length > maxWord) context.addIssue(`must be at most ${maxWord} characters`)
  return line
})

const Words = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(','))], 'must be an array of strings')
  .pipe(z.array(Word))
  .transform((words) => [...new Set(words.filter((word) => word !== ''))])
  .refine((words) => words.length <= maxTags, `must be at most ${maxTags}`)

const Fields = z.object({
  connector: Word.nullish(),
  sourceUrl: z.string().nullish(),
  targetNeuron: Word.nullish(),
  tags: Words.nullish().transform((tags) => tags ?? []),
  audience: Words.nullish(),
  actionZone: Zone.nullish(),
  path: z.string().nullish(),
  baseCommit: ObjectId.nullish(),
  baseVersion: z.int().positive().nullish(),
  replaceTags: z.boolean().nullish(),
})

/** Fields of metadata that is submitted. A record of before may have another value of `onBehalfOf`, which names nobody. */
export const SentFields = Fields.extend({ onBehalfOf: EndUser.nullish() })

function parseJson(text: string): unknown {
  if (Buffer.byteLength(text) > maxBytes) throw invalid(`must be at most ${maxBytes} bytes`)
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('must be a JSON object')
  }
}

/** Checks depth and size of a JSON value without recursing deeper than the limit. Runs before `JSON.stringify`, which has no limit. */
function checkTree(root: unknown): void {
  let keys = 0
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string' && hasBadCharacters(value))
      throw invalid('must not hold NUL or half a surrogate pair')
    if (typeof value !== 'object' || value === null) return
    if (depth > maxDepth) throw invalid(`must be at most ${maxDepth} levels deep`)
    if (Array.isArray(value)) {
      for (const item of value) visit(item, depth + 1)
      return
    }
    for (const [key, item] of Object.entries(value)) {
      if (++keys > maxKeys) throw invalid(`must have at most ${maxKeys} keys`)
      if (prototypeKeys.has(key)) throw invalid(`must not have the key ${key}`)
      visit(key, depth)
      visit(item, depth + 1)
    }
  }
  visit(root, 1)
}

function isWebAddress(text: string): boolean {
  return !/[\s\p{Cc}\p{Bidi_Control}]/u.test(text) && /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

function neuronPath(wish: string): string {
  const name = portablePath(wish.trim())
    .replace(/^(?:neurons\/)+/i, '')
    .replace(/(?<=[^/])\.md$/i, '')
  return portablePath(`neurons/${name}.md`)
}

function invalid(...messages: string[]): ValidationError {
  return new ValidationError({ metadata: messages })
}
