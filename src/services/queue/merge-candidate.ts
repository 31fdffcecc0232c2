import { GanglionError } from '../../contract/errors.ts'
import type { Candidate } from '../../knowledge/candidate.ts'
import { mergeText } from '../../knowledge/merge.ts'
import { parseNeuronFile } from '../../markdown/neuron-file.ts'
import { type NeuronRow, versionAt } from '../../store/neuron-queries.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'

type Reader = { readText(oid: string): Promise<string> }

/**
 * The content that a target Neuron gets from a candidate: as proposed when the target is as it was, else merged with what
 * has changed since.
 * @throws {GanglionError} `merge_conflict` with `conflicts` and the `commit` of the target's present version.
 */
export async function mergeIntoTarget(
  kb: KnowledgeBase,
  reader: Reader,
  candidate: Candidate,
  edit: { content?: string | undefined; base?: string | undefined },
  target: NeuronRow,
): Promise<string> {
  const proposed = edit.content ?? candidate.content
  const base = edit.base === undefined ? candidate.base : versionAt(kb.projection.write, target.seqId, edit.base)?.blob
  if (base === undefined || base === null || base === target.blob) return proposed
  const contentOf = async (blob: string) => parseNeuronFile(await reader.readText(blob)).content
  const merged = mergeText(await contentOf(base), await contentOf(target.blob), proposed)
  if ('text' in merged) return merged.text
  throw new GanglionError('merge_conflict', undefined, { conflicts: merged.conflicts, commit: target.commit })
}
