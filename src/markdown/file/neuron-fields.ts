import { z } from 'zod'
import { faultOf } from '../../contract/faults.ts'
import * as answered from '../../contract/neurons.ts'
import { EdgeType, SeqId } from '../../contract/vocabulary.ts'
import type { NeuronFields } from '../../rules/neurons/neuron.ts'
import type { YamlMap, YamlValue } from '../yaml/yaml.ts'

/** Problem of a front matter key. */
export type FieldFinding = { key: string; rule: string; severity: 'error' | 'warning'; message: string }

const Text = z.string('must be text')
const Uuid = z.guid('must be a UUID')
const Flag = Text.toLowerCase()
  .pipe(z.enum(['true', 'false'], 'must be true or false'))
  .transform((text) => text === 'true')
const JsonObject = Text.refine(isJsonObject, 'must be a JSON object, as text')
/** Schema of a list of texts, or as in Obsidian, of one text with commas. */
const TextList = z.union([z.string().transform(splitAtCommas), z.array(z.string())], 'must be a list of texts')
/** Schema of tags. Blanks separate tags that are given as one text, since tools that write them so allow no blanks in a tag. */
const Tags = z
  .union([z.string().transform((text) => text.split(/[,\s]+/)), z.array(z.string())], 'must be a list of texts')
  .transform((tags) => tags.map((tag) => tag.replace(/^#/, '')).filter((tag) => tag !== ''))
const Items = z.array(z.unknown(), 'must be a list')
const Edge = z.object(
  { type: EdgeType, target: z.string('needs a target').min(1, 'needs a target') },
  'must be a map of type and target',
)
// Fields that answers repeat are parsed by the schemas of the answers, so that no file can break an answer.
const SourceReference = z.object(answered.SourceField.shape, 'must be a map of texts')
/** Schema of a day. Accepts and ignores a time after it, which other tools write. */
const Day = z
  .string()
  .transform((text) => text.replace(/^(.{10})[T ].*$/s, '$1'))
  .pipe(z.iso.date('must be a day, such as 2026-11-26'))
const Verified = z.object(
  { ...answered.VerifiedField.shape, at: Day, until: Day.exactOptional() },
  'must be a map of by, at, until and edition',
)

/** Keys in the order in which they are written. */
export const neuronKeys = [
  'seqId',
  'id',
  'title',
  'tags',
  'audience',
  'aliases',
  'edges',
  'connector',
  'sourceUrl',
  'candidate',
  'metadata',
  'sources',
  'verified',
  'note',
  'noteShared',
] as const satisfies readonly (keyof NeuronFields)[]

const known: ReadonlySet<string> = new Set(neuronKeys)
/** Key that stores another tool's `id`, which would otherwise be taken for ours. */
export const foreignIdKey = 'imported-id'
/** Matches spellings of list keys in other tools. */
const spellings = { tags: /^\s*tags?\s*$/i, aliases: /^\s*alias(?:es)?\s*$/i, audience: /^\s*audience\s*$/i } as const
type Spelled = keyof typeof spellings

export function isSpelled(key: Spelled, name: string): boolean {
  return spellings[key].test(name)
}

/** Returns the keys that count as `key`, itself first. */
export function spelledKeys(data: YamlMap, key: Spelled): string[] {
  const names = Object.keys(data).filter((name) => isSpelled(key, name))
  return names.sort((a, b) => Number(b === key) - Number(a === key))
}

/**
 * Reads the typed fields of front matter. A value of the wrong shape is a finding and counts as absent, except `audience`: an unreadable
 * one must not widen who sees the Neuron, so it becomes the empty list, which shows it to curators only. A key with an empty value counts
 * as absent.
 */
export function readNeuronFields(data: YamlMap): {
  fields: NeuronFields
  extra: Record<string, YamlValue>
  findings: FieldFinding[]
} {
  const findings: FieldFinding[] = []
  const complain = (key: string, message: string, severity: FieldFinding['severity'] = 'error'): void => {
    findings.push({ key, rule: 'invalid-front-matter', severity, message })
  }
  const read = <T>(key: string, schema: z.ZodType<T>): T | undefined => {
    const value = data[key]
    if (value === undefined || value === '') return undefined
    const result = schema.safeParse(value, { error: faultOf })
    if (!result.success) complain(key, `${key} ${messageOf(result.error)}`)
    return result.data
  }
  const readSpelled = (key: Spelled, schema: z.ZodType<string[]>): string[][] =>
    spelledKeys(data, key).flatMap((name) => {
      const list = read(name, schema)
      return list === undefined ? [] : [list]
    })
  const allOf = ([first = [], ...more]: string[][]) => (more.length === 0 ? first : [...new Set([first, more].flat(2))])
  const readEach = <T>(key: keyof NeuronFields, schema: z.ZodType<T>): T[] => {
    return (read(key, Items) ?? []).flatMap((item, index) => {
      const result = schema.safeParse(item, { error: faultOf })
      if (!result.success) complain(key, `${key}, item ${index + 1}: ${messageOf(result.error)}`)
      return result.success ? [result.data] : []
    })
  }
  // This key may hold the data of another tool.
  const readVerified = () => {
    const { verified = '' } = data
    const result = verified === '' ? undefined : Verified.safeParse(verified, { error: faultOf })
    if (result?.success === false) complain('verified', `verified ${messageOf(result.error)}`, 'warning')
    return result?.data
  }
  const tags = allOf(readSpelled('tags', Tags))
  // Two audiences narrow each other.
  const [audience, ...others] = readSpelled('audience', TextList)
  const isUnread = findings.some(({ key }) => isSpelled('audience', key) || mentionsInternal(data[key]))
  const seenBy = audience?.filter((name) => others.every((other) => other.includes(name)))
  const foreignId = data.id !== undefined && data.id !== '' && !Uuid.safeParse(data.id).success ? data.id : undefined
  if (foreignId !== undefined) complain('id', 'id is no UUID: the server keeps it as imported-id', 'warning')
  const fields: NeuronFields = {
    ...defined('seqId', read('seqId', SeqId)),
    ...defined('id', foreignId === undefined ? read('id', Uuid) : undefined),
    ...defined('title', read('title', Text)),
    tags,
    ...defined('audience', isUnread ? [] : seenBy),
    aliases: allOf(readSpelled('aliases', TextList)),
    edges: readEach('edges', Edge),
    ...defined('candidate', read('candidate', Text)),
    ...defined('connector', read('connector', Text)),
    ...defined('sourceUrl', read('sourceUrl', Text)),
    ...defined('metadata', read('metadata', JsonObject)),
    sources: readEach('sources', SourceReference),
    ...defined('verified', readVerified()),
    ...(typeof data.owner === 'string' && data.owner.trim() !== '' && { owner: data.owner.trim() }),
    ...defined('note', read('note', Text)),
    noteShared: read('noteShared', Flag) ?? false,
  }
  const isExtra = (key: string) => !known.has(key) && !Object.values(spellings).some((spelling) => spelling.test(key))
  const extra = Object.fromEntries(Object.entries(data).filter(([key]) => isExtra(key)))
  if (foreignId !== undefined && extra[foreignIdKey] === undefined) extra[foreignIdKey] = foreignId
  return { fields, extra, findings }
}

function mentionsInternal(value: YamlValue | undefined): boolean {
  return /\binternal\b/i.test(JSON.stringify(value ?? ''))
}

function defined<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  const entry: { [P in K]?: T } = {}
  if (value !== undefined) entry[key] = value
  return entry
}

function messageOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .join('; ')
}

function splitAtCommas(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
