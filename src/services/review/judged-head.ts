import { GanglionError } from '../../contract/errors.ts'
import { GitError } from '../../git/git-error.ts'
import { hashObject, isOid, type Oid, parentsOfCommit, treeOfCommit } from '../../git/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import type { Staging } from '../../git/staging.ts'
import { parseCandidate } from '../../markdown/candidate-file.ts'
import { findCandidate } from '../../store/candidate-index.ts'
import type { Ganglion } from '../ganglion.ts'
import { mainRef } from '../kb-refs.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { changeOf } from './candidate-change.ts'

/**
 * Runs a write that follows from a verdict on `head`, a commit of `refs/candidates/<id>/head`; without one, any write.
 * What is compared is what the commit changes, not its id, which main's every move makes another; and it is compared in the
 * same write, so that nothing comes between. A candidate that is not pending proposes nothing: the work answers for it.
 * @throws {GanglionError} `stale_head` with the present `head`, or null, where the candidate proposes something else.
 */
export async function writeJudged<T>(
  ganglion: Ganglion,
  kb: KnowledgeBase,
  { candidateId, head }: { candidateId: string; head?: string | undefined },
  work: (staging: Staging) => Promise<T>,
): Promise<T> {
  if (head === undefined) return kb.write(work)
  const judged = await changeOfCommit(kb, head)
  const done = await kb.write(async (staging) => {
    return (await isProposed(kb, staging, candidateId, judged)) ? { result: await work(staging) } : undefined
  })
  if (done !== undefined) return done.result
  throw new GanglionError('stale_head', undefined, {
    head: (await ganglion.candidateRefs(kb).headOf(candidateId)) ?? null,
  })
}

/** What a commit does to the one file that it changes; undefined for any other object, and for one that is not there. */
async function changeOfCommit({ repository }: KnowledgeBase, oid: Oid): Promise<TreeChange | undefined> {
  try {
    const object = isOid(oid) ? await repository.find(oid) : undefined
    if (object?.type !== 'commit') return undefined
    const [parent] = parentsOfCommit(object.data)
    if (parent === undefined) return undefined
    let only: TreeChange | undefined
    for await (const change of repository.diffTrees(await repository.treeOf(parent), treeOfCommit(object.data))) {
      if (only !== undefined) return undefined
      only = change
    }
    return only
  } catch (error) {
    // An old head is nobody's any more: garbage collection may have taken parts of it.
    if (error instanceof GitError && error.code === 'missing-object') return undefined
    throw error
  }
}

/** Whether the candidate's head would now make the change that was judged, of the page that it was judged upon. */
async function isProposed(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  judged: TreeChange | undefined,
): Promise<boolean> {
  const { write: sql } = kb.projection
  const row = findCandidate(sql, candidateId)
  if (row?.status !== 'pending') return true
  const main = staging.head(mainRef)
  if (judged === undefined || main === undefined) return false
  const readText = (oid: string) => staging.readText(oid)
  const change = await changeOf({ sql, readText }, main, parseCandidate(await readText(row.blob)))
  if (change === undefined) return false
  const { candidate, path, text, target, merges } = change
  const before = merges ? target?.blob : candidate.base
  const after = text === null ? undefined : hashObject('blob', Buffer.from(text))
  return judged.path === path && judged.before === before && judged.after === after
}
