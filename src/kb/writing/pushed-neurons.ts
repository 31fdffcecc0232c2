import type { Oid } from '../../git/objects/object.ts'
import type { Repository, TreeChange } from '../../git/repository.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { ingestConnector } from '../../rules/candidates/candidate.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { wasApproved } from '../projection/candidate-index.ts'
import { blobAtPath, seqIdAtPath } from '../projection/file-queries.ts'
import { findNeuron, type NeuronRow } from '../projection/neuron-queries.ts'
import type { Projection } from '../projection/projection.ts'

export type PushedNeuron = {
  /** seqId of the Neuron; undefined if it is new and has none yet. */
  seqId: string | undefined
  /** Version on main; undefined if it is new, or restored after it was deleted. */
  before: Pick<NeuronRow, 'documentId' | 'path' | 'blob' | 'title'> | undefined
  /** Path of the page, or the path it had before it was deleted. */
  path: string
  /** Path in the push, if main has it elsewhere. */
  pushedPath?: string
  /** Blob of the page; undefined if it was deleted. */
  blob: Oid | undefined
  text: string | null
  /** Candidate of this removal, if it was approved. */
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

/** Removes the ingest origin from a new page copied from a compiled one, since no edition will update the copy. */
export function withoutCopiedOrigin(sql: Projection['read'], text: string): string {
  const { seqId, candidate, connector } = parseNeuronFile(text).fields
  const isCopy = seqId === undefined && (candidate === undefined || wasApproved(sql, candidate))
  return isCopy && connector === ingestConnector ? editNeuron(text, { connector: undefined }) : text
}

/** Returns the path on main of a page that the push moves without a change. */
export function movedFrom({ before, path, blob }: PushedNeuron): string | undefined {
  return before?.blob === blob && before?.path !== path ? before?.path : undefined
}

type Sql = Projection['read']

/** Returns the seqId of a changed file at the base of the push, which may be behind main. */
export async function seqIdBefore(
  sql: Sql,
  { path, before }: { path: string; before?: Oid | undefined },
  readText: (oid: Oid) => Promise<string>,
): Promise<string | undefined> {
  if (before === undefined || !isNeuronPath(path)) return undefined
  if (blobAtPath(sql, path) === before) return seqIdAtPath(sql, path)
  return parseNeuronFile(await readText(before)).fields.seqId
}

/** True if a file of main already had its seqId at an earlier commit. */
export async function wasHolder(
  sql: Sql,
  { path, seqId }: { path: string; seqId: string },
  { repository, base }: { repository: Repository; base: Oid },
): Promise<boolean> {
  const before = await repository.blobAt(base, path)
  return (await seqIdBefore(sql, { path, before }, (oid) => repository.readTextOnce(oid))) === seqId
}

/** Thrown if a ref of a push is rejected. The message is one line for the pusher's terminal. */
export class PushRefused extends Error {
  /** Findings by file. */
  readonly findings: readonly Finding[]
  /** True if nothing is wrong, but further people must approve. */
  readonly awaitsApproval: boolean

  constructor(reason: string, findings: readonly Finding[] = [], awaitsApproval = false) {
    super(reason)
    this.awaitsApproval = awaitsApproval
    this.findings = findings
  }
}
