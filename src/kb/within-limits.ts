import type { KeyLimits } from '../contract/administration.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { parseMetadata, readMetadata } from '../rules/candidates/metadata.ts'
import { tagKey } from '../rules/neurons/tag.ts'
import { tagsOfCandidate } from './follow/candidate-tags.ts'
import { findCandidate, usedBudget } from './projection/candidate-index.ts'
import { findNeuron } from './projection/neuron-queries.ts'
import type { AllTables } from './projection/projection.ts'

export type LimitsOf = (keyId: string) => Promise<KeyLimits | null | undefined>

/** Of an actor that is a key, over HTTP or with git. */
const keyActor = /^(?:key|git):(.+)$/

/**
 * Candidates as the limits of the keys that make or revise them let them in: what the policy would approve beyond a key's budget waits for a
 * curator.
 * @param isTaken whether they go to main at once, by a push
 * @throws {GanglionError} `insufficient_role` for a page that the key may not propose, `queue_full` beyond its budget
 */
export async function withinLimits(
  sql: AllTables,
  candidates: readonly Candidate[],
  limitsOf: LimitsOf,
  isTaken = false,
): Promise<readonly Candidate[]> {
  const admitted: Candidate[] = []
  const added = new Map<string, { pending: number; approved: number }>()
  for (const candidate of candidates) {
    const isNew = findCandidate(sql, candidate.id) === undefined
    const key = makerOf(candidate, isNew)
    const limits = key === undefined ? undefined : await limitsOf(key)
    if (key === undefined || !limits) {
      admitted.push(candidate)
      continue
    }
    requirePlace(sql, candidate, limits)
    const { verdict } = candidate
    const more = added.get(key) ?? { pending: 0, approved: 0 }
    added.set(key, more)
    const used = usedBudget(sql, key, candidate.createdAt)
    const mayApprove = limits.approved === null || used.approved + more.approved < limits.approved
    const approves = isTaken || (verdict.approve && mayApprove)
    if (isTaken && !mayApprove)
      throw new GanglionError('queue_full', `This key may bring ${limits.approved} changes a day.`)
    if (isNew && !approves && limits.pending !== null && used.pending + more.pending >= limits.pending) {
      throw new GanglionError('queue_full', `${limits.pending} candidates of this key wait already.`)
    }
    if (isNew) more[approves ? 'approved' : 'pending']++
    const isHeld = verdict.approve && !mayApprove
    const reason = `the key's budget of ${limits.approved} a day is used up`
    admitted.push(isHeld ? { ...candidate, verdict: { ...verdict, approve: false, reason } } : candidate)
  }
  return admitted
}

function makerOf({ createdBy, decisions }: Candidate, isNew: boolean): string | undefined {
  const last = decisions.at(-1)
  const actor = isNew ? createdBy : last?.action === 'revise' ? last.by : undefined
  return actor && keyActor.exec(actor.id)?.[1]
}

/** Where it stands now and where it would stand must both be open to the key, or a tag that it has. */
function requirePlace(sql: AllTables, candidate: Candidate, { paths, tags }: KeyLimits): void {
  if ((paths.length === 0 && tags.length === 0) || candidate.kind === 'reader-feedback') return
  const target = candidate.target === null ? undefined : findNeuron(sql, candidate.target)
  const { path } = readMetadata(parseMetadata(candidate.metadata).data)
  const places = [target?.path, path].filter((place) => place !== undefined)
  const isInPaths = places.length > 0 && places.every((place) => paths.some((each) => isBelow(place, each)))
  const keys = (target?.tags ?? tagsOfCandidate(candidate)).map(tagKey)
  const hasTag = tags.map(tagKey).some((tag) => keys.some((key) => key === tag || key.startsWith(`${tag}/`)))
  if (isInPaths || hasTag) return
  const open = [...paths.map((each) => `in ${each}`), ...tags.map((tag) => `with the tag ${tag}`)].join(' or ')
  throw new GanglionError('insufficient_role', `This key may only propose pages ${open}.`)
}

function isBelow(place: string, folder: string): boolean {
  const [path, top] = [place, folder].map((each) => each.replace(/^neurons\//, '').replace(/\.md$|\/+$/, ''))
  return path === top || path?.startsWith(`${top}/`) === true
}
