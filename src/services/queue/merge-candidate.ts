import { GanglionError } from '../../contract/errors.ts'
import type { Candidate } from '../../knowledge/candidate.ts'
import { type Conflict, mergeText } from '../../knowledge/merge.ts'
import { fileLayout } from '../../markdown/front-matter.ts'
import { mergeBlocks } from '../../markdown/merge-front-matter.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/neuron-file.ts'
import { type NeuronRow, versionAt } from '../../store/neuron-queries.ts'
import type { Projection } from '../../store/projection.ts'

/** Main as a candidate is looked at upon: its tables, and how to read a blob. */
export type MainView = { sql: Projection['read']; readText(oid: string): Promise<string> }

/**
 * The content that a target Neuron gets from a candidate: as proposed when the target is as it was, else merged with what
 * has changed since.
 * @throws {GanglionError} `merge_conflict` with `conflicts` and the `commit` of the target's present version.
 */
export async function mergeIntoTarget(
  { sql, readText }: MainView,
  candidate: Candidate,
  edit: { content?: string | undefined; base?: string | undefined },
  target: NeuronRow,
): Promise<string> {
  const proposed = edit.content ?? candidate.content
  const base = edit.base === undefined ? candidate.base : versionAt(sql, target.seqId, edit.base)?.blob
  if (base === undefined || base === null || base === target.blob) return proposed
  const contentOf = async (blob: string) => parseNeuronFile(await readText(blob)).content
  const merged = mergeText(await contentOf(base), await contentOf(target.blob), proposed)
  if ('text' in merged) return merged.text
  throw mergeConflict(merged.conflicts, target)
}

/**
 * The target's page with the front matter that it gets from a candidate: its own where the candidate proposes none. The
 * back-pointers that changed meanwhile are nobody's change, and a page that names the candidate's connector says itself where
 * it is from.
 * @throws {GanglionError} `merge_conflict`, as {@link mergeIntoTarget} @throws {FrontMatterError}
 */
export async function mergeFrontMatter(
  { readText }: Pick<MainView, 'readText'>,
  { frontMatter, base, connector }: Candidate,
  target: NeuronRow,
  current: string,
): Promise<string> {
  if (frontMatter === null) return current
  const { candidate } = parseNeuronFile(current).fields
  const blockOf = (text: string) => editNeuron(text.slice(0, fileLayout(text).bodyStart), { candidate })
  const before = base === null || base === target.blob ? current : await readText(base)
  const told = parseNeuronFile(frontMatter).fields.connector === connector ? origin : new Set<string>()
  const blocks = { base: blockOf(before), current: blockOf(current), proposed: blockOf(frontMatter) }
  const merged = mergeBlocks(blocks, told)
  if ('text' in merged) return merged.text + current.slice(fileLayout(current).bodyStart)
  throw mergeConflict(merged.conflicts, target)
}

/** What says by which door a version came. */
const origin: ReadonlySet<string> = new Set(['connector', 'sourceUrl', 'metadata'])

function mergeConflict(conflicts: Conflict[], { commit }: NeuronRow): GanglionError {
  return new GanglionError('merge_conflict', undefined, { conflicts, commit })
}
