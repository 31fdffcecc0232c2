import { z } from 'zod'
import { defaultFileTypes, fileTypes } from '../contract/documents.ts'
import { faultOf } from '../contract/faults.ts'
import { CandidateKind, SeqId, Zone } from '../contract/vocabulary.ts'
import { isUuid } from './candidates/candidate-id.ts'
import { type Deciding, isOpenToCurators, isOwned, type OwnerRule } from './deciding.ts'
import { isSchedule } from './lint/lint-schedule.ts'
import { SeqPrefix, Slug } from './neurons/seq-id.ts'
import { pathProblem } from './paths/portable-path.ts'

// `kb.yaml` is parsed with YAML's failsafe schema: every scalar is text, and an empty value is the empty text.

/** Returns a schema in which an empty value means that the setting is absent. */
const orUnset = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), schema)
const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess((value) => (value === '' || value == null ? {} : value), z.object(shape))
/** Returns a schema in which an empty value means an empty list, not the default. */
const list = <Item extends z.ZodType>(item: Item, { error, max = Number.POSITIVE_INFINITY }: ListOptions = {}) =>
  z.preprocess((value) => (value === '' ? [] : value), z.array(item, error).max(max))
type ListOptions = { error?: string; max?: number }
const number = (pattern: RegExp, error: string) => z.string().regex(pattern, error).transform(Number)
const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line')

const Fraction = number(/^(?:0|0?\.[0-9]+|1(?:\.0+)?)$/, 'must be a number from 0 to 1')
const Votes = number(/^[1-9]$/, 'must be a number of people, 1 to 9')
const Flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const Names = list(line(100))

/** Schema of a path of a file or folder. Rejects patterns, since they would match no file. */
const Place = line(100).refine(
  (path) => pathProblem(path.replace(/\/+$/, '')) === undefined,
  'must be the path of a file or folder in the repository, and no pattern',
)
const covered = { paths: list(Place).default([]), tags: Names.default([]) }
const Owner = z
  .object({ ...covered, people: Names })
  .refine(
    ({ paths, tags, people }) => paths.length + tags.length > 0 && people.length > 0,
    'must have people, and paths or tags',
  )
const Interval = z
  .object({ ...covered, days: number(/^[1-9][0-9]{0,3}$/, 'must be a number of days, 1 to 9999') })
  .refine(({ paths, tags }) => paths.length + tags.length > 0, 'must have paths or tags')

const FileTypes = list(
  z.enum(fileTypes, { error: (issue) => `${issue.input} is not a type of file that can be read` }),
  { error: 'must be all, or a list of extensions such as [eml, tsv]' },
)

/** Keys that the server interprets. Readers see them as the API shows them, or not at all. */
const serverKeys: ReadonlySet<string> = new Set([
  ...['seqId', 'id', 'title', 'tags', 'audience', 'edges', 'connector', 'candidate', 'metadata', 'sources'],
  ...['verified', 'owner', 'note', 'noteShared'],
])

const never = 'never'
const Schedule = z
  .string()
  .trim()
  .refine(
    (text) => text === never || isSchedule(text),
    'must be five fields of a crontab, such as "0 4 * * *", or never',
  )
  .transform((text) => (text === never ? null : text))

const part = <Schema extends z.ZodType, Strictest>(schema: Schema, strictest: Strictest) => ({ schema, strictest })

/** Keys of `kb.yaml`, each with its strictest reading, which a value that cannot be parsed gets. */
const parts = {
  id: part(z.string('is missing').refine(isUuid, 'must be a UUID'), null),
  slug: part(Slug, null),
  prefix: part(SeqPrefix, null),
  title: part(line(500), null),
  /** BCP 47 language tag. */
  language: part(
    orUnset(
      z
        .string()
        .regex(/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*$/, 'must be a language tag, such as en or pt-BR')
        .default('en'),
    ),
    'en',
  ),
  tone: part(orUnset(z.string().max(2000).nullable().default(null)), null),
  /** Settings of the policy. Null: the policy approves nothing. */
  policy: part(
    section({
      threshold: Fraction.default(0.8),
      singleCurator: Flag.default(false),
      singleCuratorThreshold: Fraction.default(0.5),
      autoApproveConnectors: Names.default(['lint']),
    }),
    null,
  ),
  /** Zones of candidates. Null: the policy approves nothing, since any zone may have been red. */
  zones: part(
    section({
      kinds: orUnset(z.partialRecord(CandidateKind, Zone).default({})),
      connectors: orUnset(z.record(line(100), Zone).default({})),
    }),
    null,
  ),
  owners: part(
    list(Owner, { error: 'must be a list, each with its people, and paths or tags', max: 200 }).default([]),
    null,
  ),
  approvals: part(section({ yellow: Votes.default(1), red: Votes.optional(), keepOnMerge: Flag.default(false) }), null),
  authorMayApprove: part(orUnset(Flag.default(true)), null),
  /**
   * Treatment of candidates that the policy would approve but that break an answer test: `allow` approves them, a zone keeps them pending
   * there.
   */
  tests: part(section({ onBreak: z.enum(['allow', 'yellow', 'red']).default('yellow') }), { onBreak: 'red' as const }),
  /** Intervals after which pages must be verified again. */
  verify: part(
    list(Interval, { error: 'must be a list, each with its days, and paths or tags', max: 200 }).default([]),
    [],
  ),
  defaultAudience: part(Names.default(['tool', 'public']), []),
  search: part(
    section({
      /** Engine of the index; `auto` chooses by the size of the knowledge base. */
      engine: z.enum(['auto', 'minisearch', 'segments']).default('auto'),
      /** Groups of words and phrases that search treats as interchangeable. */
      synonyms: list(z.array(line(100), 'must be a list of words that mean the same').min(2).max(10), {
        ...{ error: 'must be a list of lists of words', max: 200 },
      }).default([]),
      /** seqIds of Neurons that are ranked first for an exact query. */
      pins: list(z.object({ query: line(200), neurons: z.array(SeqId, 'must be a list of seqIds').min(1).max(10) }), {
        error: 'must be a list, each with a query and its neurons',
        max: 200,
      }).default([]),
    }),
    { engine: 'auto' as const, synonyms: [], pins: [] },
  ),
  /** Days for which a question asked by people is counted after it was last asked; 0 disables counting. */
  questions: part(
    section({
      keepDays: number(/^(?:[0-9]{1,3}|[1-3][0-9]{3})$/, 'must be a whole number of days, 0 to 3999').default(90),
    }),
    { keepDays: 0 },
  ),
  /** Crontab schedule of the lint, in UTC. */
  lint: part(section({ schedule: orUnset(Schedule.nullable().default(null)) }), { schedule: null }),
  /** True if pushes to main become candidates. */
  protectMain: part(orUnset(Flag.default(false)), true),
  /** True if links to a renamed Neuron are rewritten; otherwise the old name becomes an alias. */
  rename: part(section({ rewriteLinks: Flag.default(false) }), { rewriteLinks: false }),
  sources: part(
    section({
      /** File extensions that are accepted besides those that every knowledge base accepts. */
      types: z.preprocess((value) => (value === 'all' ? fileTypes : value), FileTypes).default([]),
      /** Tesseract language codes for text in pictures. Empty: English. */
      ocr: list(z.string().regex(/^[a-z]{3}(?:_[a-z]{3,4})?$/, 'must be codes of Tesseract, such as deu or chi_sim'), {
        max: 5,
      }).default([]),
    }),
    { types: [], ocr: [] },
  ),
  /** True if `#tags` in a page's text are tags of the page, and `#internal` hides it. */
  inlineTags: part(orUnset(Flag.default(false)), true),
  /** Additional front matter keys that readers see in the API, clones and mirrors. */
  publish: part(
    section({
      keys: list(
        line(100).refine((key) => !serverKeys.has(key), 'is a key of the server, not one of your own'),
        { max: 50 },
      ).default([]),
    }),
    { keys: [] },
  ),
}

type Output<Key extends keyof typeof parts> = z.output<(typeof parts)[Key]['schema']>
export type Policy = Output<'policy'>
export type Zones = Output<'zones'>
export type FileType = (typeof fileTypes)[number]

/** Settings of `kb.yaml`. A part that cannot be parsed has its strictest reading. */
export type KbSettings = ReturnType<typeof parseKbSettings>['settings']

export type SettingsProblem = {
  path: string
  severity: 'error' | 'warning'
  message: string
}

/** Parses the data of a `kb.yaml`. Never throws: an invalid part becomes a problem and gets its strictest reading. */
export function parseKbSettings(data: unknown) {
  const whole = z.record(z.string(), z.unknown()).safeParse(data)
  const problems: SettingsProblem[] = []
  if (!whole.success) problems.push({ path: '', severity: 'error', message: 'must be a mapping' })
  const values = whole.success ? whole.data : {}

  const read = <Key extends keyof typeof parts, Read, Strictest>(
    key: Key,
    { schema, strictest }: { schema: z.ZodType<Read>; strictest: Strictest },
  ): Read | Strictest => {
    if (!whole.success) return strictest
    const result = schema.safeParse(values[key], { error: faultOf })
    if (result.success) return result.data
    for (const issue of result.error.issues) {
      problems.push({ path: [key, ...issue.path].join('.'), severity: 'error', message: issue.message })
    }
    return strictest
  }

  const owners = read('owners', parts.owners)
  const approvals = read('approvals', parts.approvals)
  const authorMayApprove = read('authorMayApprove', parts.authorMayApprove)
  const deciding = decidingOf(whole.success, { owners, approvals, authorMayApprove })
  const search = read('search', parts.search)
  const sources = read('sources', parts.sources)
  const settings = {
    id: read('id', parts.id),
    slug: read('slug', parts.slug),
    prefix: read('prefix', parts.prefix),
    title: read('title', parts.title),
    language: read('language', parts.language),
    tone: read('tone', parts.tone),
    policy: read('policy', parts.policy),
    zones: read('zones', parts.zones),
    deciding,
    onBreak: read('tests', parts.tests).onBreak,
    verify: read('verify', parts.verify),
    defaultAudience: read('defaultAudience', parts.defaultAudience),
    searchEngine: search.engine,
    synonyms: search.synonyms,
    pins: search.pins,
    keptQuestions: read('questions', parts.questions).keepDays,
    sourceTypes: new Set<FileType>([...defaultFileTypes, ...sources.types]),
    ocrLanguages: sources.ocr,
    lintSchedule: read('lint', parts.lint).schedule,
    protectMain: read('protectMain', parts.protectMain),
    inlineTags: read('inlineTags', parts.inlineTags),
    publishedKeys: read('publish', parts.publish).keys,
    rewriteLinks: read('rename', parts.rename).rewriteLinks,
  }
  problems.push(
    ...unknownKeys('', values, Object.keys(parts)),
    ...Object.entries(parts).flatMap(([key, { schema }]) =>
      schema instanceof z.ZodPipe && schema.out instanceof z.ZodObject
        ? unknownKeys(`${key}.`, values[key], Object.keys(schema.out.shape))
        : [],
    ),
    ...looserRed(approvals),
    ...unguarded(deciding),
    ...withoutPolicy(deciding, settings.policy, settings.zones),
  )
  return { settings, problems }
}

type DecidingParts = {
  owners: OwnerRule[] | null
  approvals: Output<'approvals'> | null
  authorMayApprove: boolean | null
}

/**
 * Returns who may approve: null, nobody, if that is unknown. A file that is not a mapping has no owners. Red needs at least as many approvals
 * as yellow.
 */
function decidingOf(isMapping: boolean, { owners, approvals, authorMayApprove }: DecidingParts): Deciding | null {
  if (!isMapping) return { owners: [], approvals: { yellow: 1, red: 1, keepOnMerge: false }, authorMayApprove: true }
  if (!owners || !approvals || authorMayApprove === null) return null
  const { yellow, red = yellow, keepOnMerge } = approvals
  return { owners, approvals: { yellow, red: Math.max(yellow, red), keepOnMerge }, authorMayApprove }
}

function looserRed(approvals: DecidingParts['approvals']): SettingsProblem[] {
  const { yellow = 1, red = yellow } = approvals ?? {}
  if (red >= yellow) return []
  const message = `is read as ${yellow}: the red zone needs at least as many approvals as the yellow one`
  return [{ path: 'approvals.red', severity: 'warning', message }]
}

function unguarded(deciding: Deciding | null): SettingsProblem[] {
  if (deciding === null || isOpenToCurators(deciding)) return []
  if (deciding.owners.some((rule) => isOwned(rule, { path: 'kb.yaml', tags: [] }))) return []
  const message = 'names nobody for kb.yaml: each curator alone can change who decides'
  return [{ path: 'owners', severity: 'warning', message }]
}

/** Reports what `authorMayApprove: false` forbids the policy that it would otherwise approve. */
function withoutPolicy(deciding: Deciding | null, policy: Policy | null, zones: Zones | null): SettingsProblem[] {
  if (deciding === null || deciding.authorMayApprove || policy === null || zones === null) return []
  const named = [
    ...policy.autoApproveConnectors,
    ...Object.keys(zones.connectors).filter((connector) => zones.connectors[connector] === 'green'),
  ]
  const approved = named.length === 0 ? 'nothing' : `only what comes by ${[...new Set(named)].join(', ')}`
  const message = `is false: the policy approves ${approved}, whatever the confidence, the kind and the thresholds are`
  return [{ path: 'authorMayApprove', severity: 'warning', message }]
}

function unknownKeys(prefix: string, value: unknown, known: readonly string[]): SettingsProblem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => ({ path: prefix + key, severity: 'warning', message: 'is not a setting' }))
}
