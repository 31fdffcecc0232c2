import type { Oid } from '../../git/objects/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { ingestConnector } from '../../rules/candidates/candidate.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { wasApproved } from '../projection/candidate-index.ts'
import { findNeuron, type NeuronRow } from '../projection/neuron-queries.ts'
import type { Projection } from '../projection/projection.ts'
import { seqIdBefore } from './push-base.ts'

export type PushedNeuron = {
  /** Undefined: it is new, and was given none yet. */
  seqId: string | undefined
  /** The version on main; undefined if it is new, or restored after it was deleted. */
  before: Pick<NeuronRow, 'documentId' | 'path' | 'blob' | 'title'> | undefined
  /** Its path, or the path it had before it was deleted. */
  path: string
  /** Where the push has it, if main has it elsewhere. */
  pushedPath?: string
  /** The page's blob; undefined where it was deleted. */
  blob: Oid | undefined
  text: string | null
  /** The candidate that removes it, where somebody approved just that. */
  removal?: string | undefined
}

export async function pushedNeurons(
  sql: Projection['read'],
  changes: readonly TreeChange[],
  readText: (oid: Oid) => Promise<string>,
): Promise<PushedNeuron[]> {
  const pages = changes.filter(({ path }) => isNeuronPath(path))
  const present = await Promise.all(
    pages.flatMap(({ path, after: blob }) => (blob === undefined ? [] : [readPage(sql, path, blob, readText)])),
  )
  const kept = new Set(present.map(({ seqId }) => seqId))
  const left = await Promise.all(pages.map((page) => seqIdBefore(sql, page, readText)))
  const removed = [...new Set(left)].flatMap((seqId): PushedNeuron[] => {
    const before = seqId === undefined || kept.has(seqId) ? undefined : findNeuron(sql, seqId)
    return before === undefined ? [] : [{ seqId, before, path: before.path, blob: undefined, text: null }]
  })
  return [...present, ...removed].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function readPage(
  sql: Projection['read'],
  path: string,
  blob: Oid,
  readText: (oid: Oid) => Promise<string>,
): Promise<PushedNeuron> {
  const text = await readText(blob)
  const { seqId } = parseNeuronFile(text).fields
  const before = seqId === undefined ? undefined : findNeuron(sql, seqId)
  return { seqId, before, path, blob, text: withoutCopiedOrigin(sql, text) }
}

/** A new page that is a copy of one that ingest made says no longer that ingest made it: no edition will bring it up to date. */
export function withoutCopiedOrigin(sql: Projection['read'], text: string): string {
  const { seqId, candidate, connector } = parseNeuronFile(text).fields
  const isCopy = seqId === undefined && (candidate === undefined || wasApproved(sql, candidate))
  return isCopy && connector === ingestConnector ? editNeuron(text, { connector: undefined }) : text
}

/** Where main has a page that the push moves and leaves as it is. */
export function movedFrom({ before, path, blob }: PushedNeuron): string | undefined {
  return before?.blob === blob && before?.path !== path ? before?.path : undefined
}
