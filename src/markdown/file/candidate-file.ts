import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { Timestamp } from '../../contract/identifiers.ts'
import { CandidateKind, Zone } from '../../contract/vocabulary.ts'
import { type Candidate, decisionActions } from '../../rules/candidates/candidate.ts'
import { parseYaml } from '../yaml/yaml.ts'
import { fileLayout, formatFrontMatter, joinBody, splitBody } from './front-matter.ts'
import { isJsonObject } from './neuron-fields.ts'

/** Thrown if a file on the queue is not in the format of `formatCandidate`. */
export class CandidateFileError extends Error {
  constructor(message: string) {
    super(`The candidate's file is damaged: ${message}`)
  }
}

/** Maximum size of a record. Quoting may double 16 KB of metadata, and decisions are appended. */
const maxRecordBytes = 256 * 1024

const NumberText = z
  .string()
  .regex(/^\d+(?:\.\d+)?(?:e-?\d+)?$/)
  .transform(Number)
// Records accept only values that the API's schemas accept: any other would break every list that contains the candidate.
const Confidence = NumberText.pipe(z.number().min(0).max(1))
const Impact = NumberText.pipe(z.int().nonnegative())
/** Schema of text that is a JSON object. */
const JsonText = z.string().refine(isJsonObject, 'must be a JSON object')
const Mark = z
  .literal('true')
  .transform(() => true as const)
  .exactOptional()
const Flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const Actor = z.object({ id: z.string(), name: z.string() })

const Decision = z.object({
  action: z.enum(decisionActions),
  at: Timestamp,
  by: Actor,
  reason: z.string().exactOptional(),
  lines: z.string().exactOptional(),
  for: z.object({ page: z.string(), audience: z.string() }).exactOptional(),
  to: z.string().exactOptional(),
  via: z.string().exactOptional(),
})

const Tests = z.object({
  path: z.string(),
  base: z.string().nullable().default(null),
  text: z.string().nullable().default(null),
})

const Verdict = z.object({
  approve: Flag,
  zone: Zone.nullable().default(null),
  reason: z.string(),
  warnings: z.array(z.string()).default([]),
})

const CandidateRecord = z.object({
  id: z.string().min(1),
  kind: CandidateKind,
  title: z.string(),
  confidence: Confidence.nullable().default(null),
  impactEstimate: Impact.nullable().default(null),
  connector: z.string(),
  target: z.string().nullable().default(null),
  base: z.string().nullable().default(null),
  mergeBase: z.string().exactOptional(),
  renames: Mark,
  reverts: Mark,
  removes: Flag.default(false),
  frontMatter: z.string().nullable().default(null),
  tests: z.array(Tests).exactOptional(),
  verdict: Verdict,
  createdAt: Timestamp,
  createdBy: Actor,
  decisions: z.array(Decision).default([]),
  original: z.string().exactOptional(),
  metadata: JsonText.nullable().default(null),
})

/**
 * Formats a candidate: the record as front matter without null and empty values, and the content byte for byte as the body. @throws
 * {GanglionError} `record_full` for a record too large to be read again
 */
export function formatCandidate(candidate: Candidate): string {
  const record = formatRecord(candidate)
  if (Buffer.byteLength(record) > maxRecordBytes) throw new GanglionError('record_full')
  return record + joinBody(candidate.content, '\n')
}

/** Returns the bytes by which a candidate's record may still grow. If negative, `parseCandidate` rejects it. */
export function roomInRecord(candidate: Candidate): number {
  return maxRecordBytes - Buffer.byteLength(formatRecord(candidate))
}

function formatRecord(candidate: Candidate): string {
  const { id, kind, title, confidence, impactEstimate, connector, target, base, removes, frontMatter } = candidate
  const {
    mergeBase,
    renames,
    reverts,
    tests = [],
    verdict,
    createdAt,
    createdBy,
    decisions,
    original,
    metadata,
  } = candidate
  return formatFrontMatter({
    id,
    kind,
    title,
    confidence: confidence ?? undefined,
    impactEstimate: impactEstimate ?? undefined,
    connector,
    target: target ?? undefined,
    base: base ?? undefined,
    mergeBase,
    renames,
    reverts,
    removes: removes || undefined,
    frontMatter: frontMatter ?? undefined,
    tests: listed(tests.map(({ path, base, text }) => ({ path, base: base ?? undefined, text: text ?? undefined }))),
    verdict: { ...verdict, zone: verdict.zone ?? undefined, warnings: listed(verdict.warnings) },
    createdAt,
    createdBy,
    decisions: listed(decisions),
    original,
    metadata: metadata ?? undefined,
  })
}

/** Parses the output of `formatCandidate`. Throws a CandidateFileError on anything else. */
export function parseCandidate(text: string): Candidate {
  const layout = fileLayout(text)
  if (layout.kind !== 'block') throw new CandidateFileError('it has no front matter.')
  const { data, problems } = parseYaml(layout.yaml, maxRecordBytes)
  const [problem] = problems
  if (problem) throw new CandidateFileError(`line ${problem.line + 1}: ${problem.message}`)
  const record = CandidateRecord.safeParse(data)
  if (!record.success) throw new CandidateFileError(z.prettifyError(record.error))
  const candidate: Candidate = { ...record.data, content: splitBody(text.slice(layout.bodyStart), layout.eol).content }
  // Older versions record a reversal only in the reason.
  if (candidate.verdict.reason.startsWith('takes back ')) candidate.reverts = true
  return candidate
}

export function tryParseCandidate(text: string): Candidate | undefined {
  try {
    return parseCandidate(text)
  } catch (error) {
    if (error instanceof CandidateFileError) return undefined
    throw error
  }
}

function listed<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length > 0 ? items : undefined
}
