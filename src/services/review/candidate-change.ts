import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { Oid } from '../../git/object.ts'
import type { Candidate } from '../../knowledge/candidate.ts'
import { mergeText } from '../../knowledge/merge.ts'
import { pathKey } from '../../knowledge/portable-path.ts'
import { editNeuron } from '../../markdown/neuron-file.ts'
import { findNeuron, type NeuronRow, versionOfBlob } from '../../store/neuron-queries.ts'
import type { MainView } from '../queue/merge-candidate.ts'
import { proposalOf } from '../queue/proposal.ts'

/** What a candidate changes in the files of one commit of main. */
export type CandidateChange = {
  candidate: Candidate
  /** Main's head; where the candidate no longer merges with that, the commit with the version that it was written against. */
  onto: Oid
  path: string
  /** Null: the file goes. */
  text: string | null
  title: string
  target: NeuronRow | undefined
  merges: boolean
}

/** What a candidate changes; nothing where its target is gone or cannot be read. */
export async function changeOf(view: MainView, main: Oid, candidate: Candidate): Promise<CandidateChange | undefined> {
  try {
    return { candidate, onto: main, merges: true, ...(await proposalOf(view, candidate)) }
  } catch (error) {
    if (error instanceof ValidationError) return undefined
    if (!(error instanceof GanglionError)) throw error
    return error.code === 'merge_conflict' ? changeOfBase(view, candidate) : undefined
  }
}

/** Git shows the conflict to whoever merges this into main. */
async function changeOfBase(view: MainView, candidate: Candidate): Promise<CandidateChange | undefined> {
  const { target: seqId, base } = candidate
  const target = seqId === null ? undefined : findNeuron(view.sql, seqId)
  if (target === undefined || base === null) return undefined
  const version = versionOfBlob(view.sql, target.seqId, base)
  if (version === undefined) return undefined
  const before: MainView = {
    sql: view.sql,
    readText: (oid) => view.readText(oid === target.blob ? base : oid),
  }
  const change = await changeOf(before, version.commit, { ...candidate, base: target.blob })
  return change && { ...change, candidate, path: version.path, merges: false }
}

/**
 * The same changes, one after the other: one that meets a file of an earlier one has both. Nothing where they conflict with
 * each other or with main.
 */
export async function stackChanges(
  view: MainView,
  changes: readonly CandidateChange[],
): Promise<CandidateChange[] | undefined> {
  const texts = new Map<string, string | null>()
  const stacked: CandidateChange[] = []
  for (const change of changes) {
    const key = pathKey(change.path)
    const earlier = texts.get(key)
    const text = earlier === undefined ? change.text : await mergeChange(view, change, earlier)
    if (!change.merges || text === undefined) return undefined
    texts.set(key, text)
    stacked.push({ ...change, text })
  }
  return stacked
}

async function mergeChange(
  view: MainView,
  { candidate, text, target }: CandidateChange,
  earlier: string | null,
): Promise<string | undefined> {
  if (text === null || earlier === null || target === undefined) return undefined
  const pointingBack = (page: string) => editNeuron(page, { candidate: candidate.id })
  const merged = mergeText(pointingBack(await view.readText(target.blob)), pointingBack(earlier), text)
  return 'text' in merged ? merged.text : undefined
}
