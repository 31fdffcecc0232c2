import type { KeyLimits } from '../contract/administration.ts'
import { GanglionError } from '../contract/errors.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { isInternal } from '../rules/access/audience.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'
import { tagKey } from '../rules/neurons/tag.ts'
import { isBelow, isNeuronPath } from '../rules/paths/neuron-path.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { newPath, requestedPath } from './new-path.ts'
import { hasCandidate, tagsOfCandidate, usedBudget } from './projection/candidate-index.ts'
import { blobAtPath } from './projection/file-queries.ts'
import { findNeuron } from './projection/neuron-queries.ts'
import type { AllTables } from './projection/projection.ts'

/** Matches an actor that is a key, over HTTP or with git, or that undoes changes. */
const keyActor = /^(?:key|git|undo):(.+)$/

/**
 * Returns candidates as the limits of the keys that make or revise them admit them. Must run within a write. Approvals by the policy beyond a key's budget become
 * pending.
 * @param isTaken true if a push brings them to main at once
 * @throws {GanglionError} `insufficient_role` for a page that the key may not propose, `queue_full` beyond its budget
 */
export async function admitted(
  { projection: { write: sql }, people: { limitsOf } }: KnowledgeBase,
  candidates: readonly Candidate[],
  isTaken = false,
): Promise<readonly Candidate[]> {
  const passed: Candidate[] = []
  const added = new Map<string, { pending: number; approved: number }>()
  for (const candidate of candidates) {
    const isNew = !hasCandidate(sql, candidate.id)
    const key = makerOf(candidate, isNew)
    const limits = key === undefined ? undefined : await limitsOf(key)
    if (key === undefined || !limits) {
      passed.push(candidate)
      continue
    }
    requireCandidatePlace(sql, candidate, limits)
    const { verdict } = candidate
    const more = added.get(key) ?? { pending: 0, approved: 0 }
    added.set(key, more)
    const used = usedBudget(sql, key, candidate.createdAt)
    const mayApprove = limits.approved === null || used.approved + more.approved < limits.approved
    const approves = isTaken || (verdict.approve && mayApprove)
    if (isTaken && !mayApprove)
      throw new GanglionError('queue_full', `This key may bring ${limits.approved} changes a day.`)
    if (isNew && !approves && limits.pending !== null && used.pending + more.pending >= limits.pending) {
      throw new GanglionError('queue_full', tooMany(limits.pending))
    }
    if (isNew) more[approves ? 'approved' : 'pending']++
    const isHeld = verdict.approve && !mayApprove
    const reason = `the key's budget of ${limits.approved} a day is used up`
    passed.push(isHeld ? { ...candidate, verdict: { ...verdict, approve: false, reason } } : candidate)
  }
  return passed
}

function makerOf({ createdBy, decisions }: Candidate, isNew: boolean): string | undefined {
  const last = decisions.at(-1)
  // The same write may also comment or vote.
  const isRevised = decisions.some(
    ({ action, at, by }) => action === 'revise' && at === last?.at && by.id === last.by.id,
  )
  const actor = isNew ? createdBy : isRevised ? last?.by : undefined
  return actor && keyActor.exec(actor.id)?.[1]
}

/** Rejects pending candidates beyond the budget of the key that made them. @throws {GanglionError} `queue_full` */
export async function requireWaitingRoom({ projection, people }: KnowledgeBase, { id }: Actor): Promise<void> {
  const key = keyActor.exec(id)?.[1]
  const limit = key === undefined ? undefined : (await people.limitsOf(key))?.pending
  if (key === undefined || typeof limit !== 'number') return
  if (usedBudget(projection.write, key, '').pending > limit) throw new GanglionError('queue_full', tooMany(limit))
}

type Brought = {
  neurons: readonly { seqId?: string | undefined; path: string; text: string | null }[]
  /** Paths of the changed Neurons and other files. */
  files: Iterable<string>
}

/**
 * Checks all changes that somebody brings to main, whichever candidates they approve. Files that are no Neurons may be new outside of the
 * key's places.
 * @throws {GanglionError} `insufficient_role`
 */
export async function requirePlaces(
  { projection: { write: sql }, people: { limitsOf } }: KnowledgeBase,
  { id }: Actor,
  { neurons, files }: Brought,
): Promise<void> {
  const key = keyActor.exec(id)?.[1]
  const limits = key === undefined ? undefined : await limitsOf(key)
  if (!limits) return
  for (const { seqId, path, text } of neurons) {
    const known = seqId === undefined ? undefined : findNeuron(sql, seqId)
    const tags = known?.tags ?? parseNeuronFile(text ?? '').fields.tags
    requirePlace({ places: [known?.path, path], tags }, limits)
  }
  for (const path of files) {
    if (!isNeuronPath(path) && blobAtPath(sql, path) !== undefined) requirePlace({ places: [path], tags: [] }, limits)
  }
}

function requireCandidatePlace(sql: AllTables, candidate: Candidate, limits: KeyLimits): void {
  const target = candidate.target === null ? undefined : findNeuron(sql, candidate.target)
  const wish = requestedPath(candidate)
  const tags = tagsOfCandidate(candidate)
  // Only these candidates are real feedback. Any other of this kind may be a page like any other.
  if (candidate.kind === 'reader-feedback' && wish === undefined && isInternal(tags)) return
  // A new page may get another path than its sender asks for, even in another folder.
  const path = target === undefined ? newPath({ sql }, candidate) : wish
  requirePlace({ places: [target?.path, path], tags: target?.tags ?? tags }, limits)
}

/** Checks that the key may write both the present and the new path, or has a tag of the page. @throws {GanglionError} `insufficient_role` */
function requirePlace(
  page: { places: readonly (string | undefined)[]; tags: readonly string[] },
  { paths, tags }: KeyLimits,
): void {
  if (paths.length === 0 && tags.length === 0) return
  const places = page.places.filter((place) => place !== undefined)
  const isInPaths = places.length > 0 && places.every((place) => paths.some((each) => isBelow(place, each)))
  const keys = page.tags.map(tagKey)
  const hasTag = tags.map(tagKey).some((tag) => keys.some((key) => key === tag || key.startsWith(`${tag}/`)))
  if (isInPaths || hasTag) return
  const open = [...paths.map((each) => `in ${each}`), ...tags.map((tag) => `with the tag ${tag}`)].join(' or ')
  throw new GanglionError('insufficient_role', `This key may only propose pages ${open}.`)
}

function tooMany(limit: number): string {
  return `${limit} candidates of this key wait already.`
}
