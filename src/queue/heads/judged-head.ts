import { isDeepStrictEqual } from 'node:util'
import { maxTestFiles } from '../../contract/answer-tests.ts'
import { GanglionError } from '../../contract/errors.ts'
import { GitError } from '../../git/git-error.ts'
import { authorOfCommit, hashObject, isOid, type Oid, parentsOfCommit, treeOfCommit } from '../../git/objects/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import type { Staging } from '../../git/staging.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type CandidateRow, findCandidate } from '../../kb/projection/candidate-index.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { signatureOf } from '../../kb/refs/commit-message.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { type CandidateChange, candidateChange } from './candidate-change.ts'
import { candidateHeads } from './candidate-refs.ts'

/** Maximum files of a head: a page, its previous path, and its answer tests. */
const maxFiles = 2 + maxTestFiles

/** Reviewed state: a commit of the candidate's ref, a value of `seenOf`, or a list of entity tags that begin with `reviewVersion`. */
export type JudgedHead = { head?: string | undefined; seen?: string | undefined; ifMatch?: string | undefined }

/** `decider`: author of a decision; see {@link writeJudged}. */
export type JudgedCandidate = {
  candidateId: string
  decider?: Actor | undefined
  isAllowed?: (record: Candidate) => boolean
}

/**
 * Runs a write that follows from a review of `head`, a commit of `refs/candidates/<id>/head`; if absent, any write. The changes of that commit
 * are compared with the present proposal, in the same write, because its id changes with every move of main. With `seen`, the candidate must
 * be pending and unchanged; with `ifMatch`, unchanged, unless `decider` has decided it since: then a repeated request gets its answer. A
 * candidate that `isAllowed` rejects counts as missing, before anything is compared.
 * @throws {GanglionError} `stale_head` with the present `head`, or null, if the proposal has changed; errors of `checkSeen`
 * @throws {PreconditionFailed}
 */
export async function writeJudged<T>(
  ctx: Context,
  kb: KnowledgeBase,
  { candidateId, decider, isAllowed, head, seen, ifMatch }: JudgedHead & JudgedCandidate,
  decide: (staging: Staging) => Promise<T>,
): Promise<T> {
  const judged = head === undefined ? undefined : await changesOfCommit(kb, head)
  const done = await kb.write(async (staging) => {
    if (isAllowed !== undefined) {
      const row = findCandidate(kb.projection.write, candidateId)
      if (row === undefined || !isAllowed(parseCandidate(await staging.readText(row.blob))))
        throw new GanglionError('not_found')
    }
    if (ifMatch !== undefined && !(await isAsRead(kb, staging, { candidateId, decider, ifMatch }))) {
      if (findCandidate(kb.projection.write, candidateId)?.status !== 'pending')
        throw new PreconditionFailed('not_pending')
      return { Refusal: PreconditionFailed }
    }
    if (head !== undefined && !(await isProposed(kb, staging, candidateId, judged))) return { Refusal: GanglionError }
    if (seen !== undefined) checkSeen(kb.projection.write, candidateId, seen)
    return { result: await decide(staging) }
  })
  if ('result' in done) return done.result
  const present = (await candidateHeads(kb, ctx).headOf(candidateId)) ?? null
  throw new done.Refusal('stale_head', undefined, { head: present })
}

/** True if a candidate matches an `If-Match`, or was decided by `decider`. @throws {GanglionError} `not_found` */
export async function isAsRead(
  { projection: { write: sql } }: KnowledgeBase,
  staging: Staging,
  { candidateId, decider, ifMatch }: { candidateId: string; decider: Actor | undefined; ifMatch: string },
): Promise<boolean> {
  const row = findCandidate(sql, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (isListed(ifMatch, reviewVersion(sql, row)) || isListed(ifMatch, sentVersion(row))) return true
  if (decider === undefined || row.status === 'pending') return false
  if (row.approval !== undefined) return isApprovedBy(staging, row.approval, decider)
  const last = parseCandidate(await staging.readText(row.blob)).decisions.at(-1)
  return last?.action === 'dismiss' && last.by.id === decider.id
}

/** True if an approval is the decider's own, such as that of the first of two equal requests. */
export async function isApprovedBy(staging: Staging, { commit }: { commit: Oid }, decider: Actor): Promise<boolean> {
  const { email } = authorOfCommit((await staging.read(commit)).data)
  return email === signatureOf(decider, new Date(0)).email
}

/** Returns the changes of files by a commit; undefined if there are more than in a head, for any other object, and for a missing one. */
async function changesOfCommit({ repository }: KnowledgeBase, oid: Oid): Promise<TreeChange[] | undefined> {
  try {
    const object = isOid(oid) ? await repository.find(oid) : undefined
    if (object?.type !== 'commit') return undefined
    const [parent] = parentsOfCommit(object.data)
    if (parent === undefined) return undefined
    const changes: TreeChange[] = []
    for await (const change of repository.diffTrees(await repository.treeOf(parent), treeOfCommit(object.data))) {
      if (changes.push(change) > maxFiles) return undefined
    }
    return changes
  } catch (error) {
    // Garbage collection may have removed parts of an old head.
    if (error instanceof GitError && error.code === 'missing-object') return undefined
    throw error
  }
}

/** True if the candidate's head would now make the reviewed changes to the page that they were reviewed against. */
async function isProposed(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  judged: readonly TreeChange[] | undefined,
): Promise<boolean> {
  const { write: sql } = kb.projection
  const row = findCandidate(sql, candidateId)
  if (row?.status !== 'pending') return true
  const main = staging.head(mainRef)
  if (judged === undefined || main === undefined) return false
  const readText = (oid: string) => staging.readText(oid)
  const change = await candidateChange(
    { sql, readText, parser: kb.parser },
    main,
    parseCandidate(await readText(row.blob)),
  )
  const did = new Map(judged.map(({ path, before, after }) => [path, [before, after]]))
  return change !== undefined && isDeepStrictEqual(did, doneBy(change))
}

/** Returns the blobs before and after of each file that a head changes, by path. */
function doneBy({
  candidate,
  path,
  movedFrom,
  text,
  target,
  merges,
  tests,
}: CandidateChange): Map<string, (Oid | undefined)[]> {
  const before = (merges ? target?.blob : candidate.base) ?? undefined
  const blobOf = (file: string | null) => (file === null ? undefined : hashObject('blob', Buffer.from(file)))
  const after = blobOf(text)
  const files = tests.map((file): [string, (Oid | undefined)[]] => [file.path, [file.before, file.after].map(blobOf)])
  if (movedFrom === undefined) return new Map([...files, [path, [before, after]]])
  return new Map([...files, [movedFrom, [before, undefined]], [path, [undefined, after]]])
}

type Sql = Projection['read']

/** Returns an identifier of a candidate's present record and of the page that it would change, as a reviewer sees them. */
export function seenOf(sql: Sql, { blob, target }: Pick<CandidateRow, 'blob' | 'target'>): string {
  const page = target === null ? undefined : findNeuron(sql, target)?.blob
  return page === undefined ? blob : `${blob}.${page}`
}

/**
 * Returns an identifier of a candidate's record, the page that it would change and its approval: the version with which the `ETag` of a
 * candidate begins. It changes with each comment, version, decision and change of the page.
 */
export function reviewVersion(sql: Sql, row: Pick<CandidateRow, 'blob' | 'target' | 'approval'>): string {
  return row.approval === undefined ? seenOf(sql, row) : `${seenOf(sql, row)}.${row.approval.commit}`
}

/** Returns the version with which the `ETag` of a candidate begins for its sender, who is not told of comments and votes. */
export function sentVersion({
  version,
  asked,
}: Pick<CandidateRow, 'version'> & { asked?: { at: string } | null }): string {
  return asked == null ? `${version}` : `${version}.${asked.at}`
}

/** True if an `If-Match` lists a version: `*`, or a tag of {@link reviewVersion} and a hash, weak or not. */
function isListed(ifMatch: string, version: string): boolean {
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  return tags.some((tag) => tag === '*' || /^(?:W\/)?"(.+)\.[\w-]+"$/.exec(tag)?.[1] === version)
}

/** Thrown if the `If-Match` of a decision does not match: `stale_head` with the present `head`, or `not_pending`. */
export class PreconditionFailed extends GanglionError {
  override readonly status = 412
}

/** Checks that a candidate is unchanged. @throws {GanglionError} `not_pending` if it is decided, `stale_head` if it or its target changed */
function checkSeen(sql: Sql, candidateId: string, seen: string): void {
  const row = findCandidate(sql, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.status !== 'pending') throw new GanglionError('not_pending')
  if (seenOf(sql, row) !== seen) throw new GanglionError('stale_head')
}
