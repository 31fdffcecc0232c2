import { z } from 'zod'
import { defaultFileTypes, fileTypes } from '../contract/documents.ts'
import { faultOf } from '../contract/faults.ts'
import { CandidateKind, SeqId, Zone } from '../contract/vocabulary.ts'
import { isUuid } from './candidates/candidate-id.ts'
import { type Deciding, isOpenToCurators, isOwned } from './deciding.ts'
import type { VerifyRule } from './freshness.ts'
import { isSchedule } from './lint/lint-schedule.ts'
import { SeqPrefix, Slug } from './neurons/seq-id.ts'
import { pathProblem } from './paths/portable-path.ts'

/** `kb.yaml` is parsed with YAML's failsafe schema: every scalar is text, and an empty value is the empty text. */
const notEmpty = (value: unknown) => (value === '' || value === null ? undefined : value)
const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line')

const Fraction = z
  .string()
  .regex(/^(?:0|0?\.[0-9]+|1(?:\.0+)?)$/, 'must be a number from 0 to 1')
  .transform(Number)
const Flag = z.enum(['true', 'false']).transform((text) => text === 'true')
/** An empty value is an empty list, not the default list. */
const Names = z.preprocess((value) => (value === '' ? [] : value), z.array(line(100)))

/** Paths of files and folders. Patterns are rejected, since they would match no file. */
const Places = z
  .preprocess(
    (value) => (value === '' ? [] : value),
    z.array(
      line(100).refine(
        (path) => pathProblem(path.replace(/\/+$/, '')) === undefined,
        'must be the path of a file or folder in the repository, and no pattern',
      ),
    ),
  )
  .default([])

const Policy = z.object({
  threshold: Fraction.default(0.8),
  singleCurator: Flag.default(false),
  singleCuratorThreshold: Fraction.default(0.5),
  autoApproveConnectors: Names.default(['lint']),
})
const Zones = z.object({
  kinds: z.preprocess(notEmpty, z.partialRecord(CandidateKind, Zone).default({})),
  connectors: z.preprocess(notEmpty, z.record(line(100), Zone).default({})),
})

const Owners = z
  .preprocess(
    (value) => (value === '' ? [] : value),
    z
      .array(
        z
          .object({ paths: Places, tags: Names.default([]), people: Names })
          .refine(
            ({ paths, tags, people }) => paths.length + tags.length > 0 && people.length > 0,
            'must have people, and paths or tags',
          ),
        'must be a list, each with its people, and paths or tags',
      )
      .max(200),
  )
  .default([])
const Verify = z
  .preprocess(
    (value) => (value === '' ? [] : value),
    z
      .array(
        z
          .object({
            paths: Places,
            tags: Names.default([]),
            days: z
              .string()
              .regex(/^[1-9][0-9]{0,3}$/, 'must be a number of days, 1 to 9999')
              .transform(Number),
          })
          .refine(({ paths, tags }) => paths.length + tags.length > 0, 'must have paths or tags'),
        'must be a list, each with its days, and paths or tags',
      )
      .max(200),
  )
  .default([])
const Votes = z
  .string()
  .regex(/^[1-9]$/, 'must be a number of people, 1 to 9')
  .transform(Number)
const Approvals = z.object({
  yellow: Votes.default(1),
  red: Votes.optional(),
  keepOnMerge: Flag.default(false),
})

const SearchEngine = z.enum(['auto', 'minisearch', 'segments'])
const Synonyms = z
  .preprocess(
    (value) => (value === '' ? [] : value),
    z
      .array(
        z.array(line(100), 'must be a list of words that mean the same').min(2).max(10),
        'must be a list of lists of words',
      )
      .max(200),
  )
  .default([])
const Pins = z
  .preprocess(
    (value) => (value === '' ? [] : value),
    z
      .array(
        z.object({
          query: line(200),
          neurons: z.array(SeqId, 'must be a list of seqIds').min(1).max(10),
        }),
        'must be a list, each with a query and its neurons',
      )
      .max(200),
  )
  .default([])
const Search = z.object({ engine: SearchEngine.default('auto'), synonyms: Synonyms, pins: Pins })
const Questions = z.object({
  keepDays: z
    .string()
    .regex(/^(?:[0-9]{1,3}|[1-3][0-9]{3})$/, 'must be a whole number of days, 0 to 3999')
    .transform(Number)
    .default(90),
})

const Sources = z.object({
  types: z
    .preprocess(
      (value) => (value === 'all' ? fileTypes : value === '' ? [] : value),
      z.array(z.enum(fileTypes, { error: (issue) => `${issue.input} is not a type of file that can be read` }), {
        error: 'must be all, or a list of extensions such as [eml, tsv]',
      }),
    )
    .default([]),
  ocr: z
    .preprocess(
      notEmpty,
      z
        .array(z.string().regex(/^[a-z]{3}(?:_[a-z]{3,4})?$/, 'must be codes of Tesseract, such as deu or chi_sim'))
        .max(5),
    )
    .default([]),
})

/** Keys that the server interprets. Readers see them as the API shows them, or not at all. */
const serverKeys: ReadonlySet<string> = new Set([
  ...['seqId', 'id', 'title', 'tags', 'audience', 'edges', 'connector', 'candidate', 'metadata', 'sources'],
  ...['verified', 'owner', 'note', 'noteShared'],
])
const Publish = z.object({
  keys: z
    .preprocess(
      (value) => (value === '' ? [] : value),
      z.array(line(100).refine((key) => !serverKeys.has(key), 'is a key of the server, not one of your own')).max(50),
    )
    .default([]),
})

const Rename = z.object({ rewriteLinks: Flag.default(false) })

const Tests = z.object({ onBreak: z.enum(['allow', 'yellow', 'red']).default('yellow') })

const never = 'never'
const Lint = z.object({
  schedule: z.preprocess(
    notEmpty,
    z
      .string()
      .trim()
      .refine(
        (text) => text === never || isSchedule(text),
        'must be five fields of a crontab, such as "0 4 * * *", or never',
      )
      .transform((text) => (text === never ? null : text))
      .nullable()
      .default(null),
  ),
})

export type FileType = (typeof fileTypes)[number]
export type Policy = z.infer<typeof Policy>
export type Zones = z.infer<typeof Zones>

/** Settings of `kb.yaml`. A part that cannot be parsed is null, or has its strictest reading. */
export type KbSettings = {
  id: string | null
  slug: string | null
  prefix: string | null
  title: string | null
  /** BCP 47 language tag, e.g. `en` or `pt-BR`. */
  language: string
  tone: string | null
  /** Null: the policy approves nothing. */
  policy: Policy | null
  /** Null: the policy approves nothing, since any zone may have been red. */
  zones: Zones | null
  /** Null: nobody may approve anything, since the approvers are unknown. */
  deciding: Deciding | null
  /**
   * Treatment of candidates that the policy would approve but that break an answer test: `allow` approves them, a zone keeps them pending
   * there.
   */
  onBreak: z.infer<typeof Tests>['onBreak']
  /** Intervals after which pages must be verified again. */
  verify: VerifyRule[]
  defaultAudience: string[]
  /** Engine of the search index; `auto` chooses by the size of the knowledge base. */
  searchEngine: z.infer<typeof Search>['engine']
  /** Groups of words and phrases that search treats as interchangeable. */
  synonyms: string[][]
  /** seqIds of Neurons that are ranked first for an exact query. */
  pins: z.infer<typeof Pins>
  /** Days for which a question asked by people is counted after it was last asked; 0 disables counting. */
  keptQuestions: number
  /** File extensions that are accepted as Sources. */
  sourceTypes: ReadonlySet<FileType>
  /** Tesseract language codes for text in pictures. Empty: English. */
  ocrLanguages: readonly string[]
  /** Crontab schedule of the lint, in UTC. */
  lintSchedule: string | null
  /** True if pushes to main become candidates. */
  protectMain: boolean
  /** True if `#tags` in a page's text are tags of the page, and `#internal` hides it. */
  inlineTags: boolean
  /** Additional front matter keys that readers see in the API, clones and mirrors. */
  publishedKeys: string[]
  /** True if links to a renamed Neuron are rewritten; otherwise the old name becomes an alias. */
  rewriteLinks: boolean
}

export type SettingsProblem = {
  path: string
  severity: 'error' | 'warning'
  message: string
}

const parts = {
  id: z.string('is missing').refine(isUuid, 'must be a UUID'),
  slug: Slug,
  prefix: SeqPrefix,
  title: line(500),
  language: z.preprocess(
    notEmpty,
    z
      .string()
      .regex(/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*$/, 'must be a language tag, such as en or pt-BR')
      .default('en'),
  ),
  tone: z.preprocess(notEmpty, z.string().max(2000).nullable().default(null)),
  policy: z.preprocess(notEmpty, Policy.prefault({})),
  zones: z.preprocess(notEmpty, Zones.prefault({})),
  owners: Owners,
  approvals: z.preprocess(notEmpty, Approvals.prefault({})),
  authorMayApprove: z.preprocess(notEmpty, Flag.default(true)),
  tests: z.preprocess(notEmpty, Tests.prefault({})),
  verify: Verify,
  defaultAudience: Names.default(['tool', 'public']),
  search: z.preprocess(notEmpty, Search.prefault({})),
  questions: z.preprocess(notEmpty, Questions.prefault({})),
  lint: z.preprocess(notEmpty, Lint.prefault({})),
  protectMain: z.preprocess(notEmpty, Flag.default(false)),
  rename: z.preprocess(notEmpty, Rename.prefault({})),
  sources: z.preprocess(notEmpty, Sources.prefault({})),
  inlineTags: z.preprocess(notEmpty, Flag.default(false)),
  publish: z.preprocess(notEmpty, Publish.prefault({})),
}

/** Parses the data of a `kb.yaml`. Never throws: an invalid part becomes a problem and gets its strictest reading. */
export function parseKbSettings(data: unknown): { settings: KbSettings; problems: SettingsProblem[] } {
  const whole = z.record(z.string(), z.unknown()).safeParse(data)
  const problems: SettingsProblem[] = []
  if (!whole.success) problems.push({ path: '', severity: 'error', message: 'must be a mapping' })
  const values = whole.success ? whole.data : {}

  const read = <Read, Broken>(key: keyof typeof parts, part: z.ZodType<Read>, broken: Broken): Read | Broken => {
    if (!whole.success) return broken
    const result = part.safeParse(values[key], { error: faultOf })
    if (result.success) return result.data
    for (const issue of result.error.issues) {
      problems.push({ path: [key, ...issue.path].join('.'), severity: 'error', message: issue.message })
    }
    return broken
  }

  const [owners, approvals, authorMayApprove] = [
    read('owners', parts.owners, null),
    read('approvals', parts.approvals, null),
    read('authorMayApprove', parts.authorMayApprove, null),
  ]
  const deciding = decidingOf(whole.success, { owners, approvals, authorMayApprove })
  const search = read('search', parts.search, { engine: 'auto' as const, synonyms: [], pins: [] })
  const sources = read('sources', parts.sources, { types: [], ocr: [] })
  const settings: KbSettings = {
    id: read('id', parts.id, null),
    slug: read('slug', parts.slug, null),
    prefix: read('prefix', parts.prefix, null),
    title: read('title', parts.title, null),
    language: read('language', parts.language, 'en'),
    tone: read('tone', parts.tone, null),
    policy: read('policy', parts.policy, null),
    zones: read('zones', parts.zones, null),
    deciding,
    onBreak: read('tests', parts.tests, { onBreak: 'red' as const }).onBreak,
    verify: read('verify', parts.verify, []),
    defaultAudience: read('defaultAudience', parts.defaultAudience, []),
    searchEngine: search.engine,
    synonyms: search.synonyms,
    pins: search.pins,
    keptQuestions: read('questions', parts.questions, { keepDays: 0 }).keepDays,
    sourceTypes: new Set([...defaultFileTypes, ...sources.types]),
    ocrLanguages: sources.ocr,
    lintSchedule: read('lint', parts.lint, { schedule: null }).schedule,
    protectMain: read('protectMain', parts.protectMain, true),
    inlineTags: read('inlineTags', parts.inlineTags, true),
    publishedKeys: read('publish', parts.publish, { keys: [] }).keys,
    rewriteLinks: read('rename', parts.rename, { rewriteLinks: false }).rewriteLinks,
  }
  problems.push(
    ...unknownKeys('', values, Object.keys(parts)),
    ...unknownKeys('policy.', values.policy, Object.keys(Policy.shape)),
    ...unknownKeys('approvals.', values.approvals, Object.keys(Approvals.shape)),
    ...unknownKeys('zones.', values.zones, Object.keys(Zones.shape)),
    ...unknownKeys('tests.', values.tests, Object.keys(Tests.shape)),
    ...unknownKeys('search.', values.search, Object.keys(Search.shape)),
    ...unknownKeys('questions.', values.questions, Object.keys(Questions.shape)),
    ...unknownKeys('lint.', values.lint, Object.keys(Lint.shape)),
    ...unknownKeys('sources.', values.sources, Object.keys(Sources.shape)),
    ...unknownKeys('publish.', values.publish, Object.keys(Publish.shape)),
    ...unknownKeys('rename.', values.rename, Object.keys(Rename.shape)),
    ...looserRed(approvals),
    ...unguarded(deciding),
    ...withoutPolicy(deciding, settings),
  )
  return { settings, problems }
}

type DecidingParts = {
  owners: Deciding['owners'] | null
  approvals: z.infer<typeof Approvals> | null
  authorMayApprove: boolean | null
}

/** Returns who may approve. A file that is not a mapping has no owners. Red needs at least as many approvals as yellow. */
function decidingOf(isMapping: boolean, { owners, approvals, authorMayApprove }: DecidingParts): Deciding | null {
  if (!isMapping) return decidingOf(true, { owners: [], approvals: Approvals.parse({}), authorMayApprove: true })
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
function withoutPolicy(
  deciding: Deciding | null,
  { policy, zones }: Pick<KbSettings, 'policy' | 'zones'>,
): SettingsProblem[] {
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
