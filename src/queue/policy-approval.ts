import type { TestEffects } from '../contract/answer-tests.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Staging } from '../git/staging.ts'
import { type Context, onePer } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate, pendingRecord, unfinishedApprovals } from '../kb/projection/candidate-index.ts'
import { hasTestFiles } from '../kb/projection/file-queries.ts'
import { commitAt, lastPosition } from '../kb/projection/main-changes.ts'
import { commitMessage } from '../kb/refs/commit-message.ts'
import { commitToQueue } from '../kb/writing/commits.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { type Candidate, policyActor } from '../rules/candidates/candidate.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { oneLine } from '../rules/text/lines.ts'
import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import { approveStaged, CuratorNeeded } from './approval.ts'
import { approveUnchanged, recordedSender, type SameText, sameText } from './same-text.ts'

/** Reason and zone for leaving a candidate to a curator. The sender sees the reason, but may not see the warning. */
export type Objection = { reason: string; warning?: string; zone?: 'yellow' | 'red' }

const attempts = 3
export const copyOfPage: Objection = { reason: 'nearly the same as another page' }

/** True if answer tests run before the policy approves candidates. */
export function isTestedFirst({ projection }: KnowledgeBase, { onBreak }: Pick<KbSettings, 'onBreak'>): boolean {
  return onBreak !== 'allow' && hasTestFiles(projection.write)
}

/** Completes the policy's approvals that a crash kept from reaching main. Candidates that are tested first are left to `PolicyVerdicts`. */
export async function finishApprovals(kb: KnowledgeBase, now: () => Date): Promise<void> {
  if (isTestedFirst(kb, await kb.settings())) return
  for (const id of unfinishedApprovals(kb.projection.read)) {
    await kb.write((staging) => approveByPolicy(kb, staging, id, now()))
  }
}

const turns = onePer((_: KnowledgeBase) => new KeyedLock())

/**
 * Completes the policy's approval of a candidate, unless it breaks an answer test: then it waits for a curator. Main is as it was tested.
 */
export function approveTested(ctx: Pick<Context, 'now' | 'tests'>, kb: KnowledgeBase, id: string): Promise<void> {
  return decideTested(ctx, kb, {
    ids: [id],
    decide: (staging, objection) => approveByPolicy(kb, staging, id, ctx.now(), { objection }),
  })
}

/**
 * Runs the answer tests as if candidates were approved, and lets `decide` write the outcome, on the main and for the records that were
 * tested. Must not run within a write, and only one at a time, since each moves main.
 */
export function decideTested<Result>(
  ctx: Pick<Context, 'tests'>,
  kb: KnowledgeBase,
  {
    ids,
    decide,
  }: {
    ids: readonly string[]
    decide: (staging: Staging, objection: Objection | undefined) => Promise<Result>
  },
): Promise<Result> {
  return turns(kb).run('', () => testAndDecide(ctx, kb, ids, decide))
}

async function testAndDecide<Result>(
  ctx: Pick<Context, 'tests'>,
  kb: KnowledgeBase,
  ids: readonly string[],
  decide: (staging: Staging, objection: Objection | undefined) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { main } = kb.heads()
    const records = ids.map((id) => pendingRecord(kb.projection.read, id))
    const objection = await objectionTo(ctx, kb, ids)
    const decided = await kb.write(async (staging) => {
      const { write: sql } = kb.projection
      const isSame = ids.every((id, at) => pendingRecord(sql, id) === records[at])
      const isTested = isSame && commitAt(sql, lastPosition(sql)) === main
      return isTested ? { result: await decide(staging, objection) } : undefined
    })
    if (decided !== undefined) return decided.result
  }
  const reason = 'it or main changed faster than its answer tests were run'
  return kb.write((staging) => decide(staging, { reason }))
}

async function objectionTo(
  ctx: Pick<Context, 'tests'>,
  kb: KnowledgeBase,
  ids: readonly string[],
): Promise<Objection | undefined> {
  const { onBreak: zone } = await kb.settings()
  if (zone === 'allow') return undefined
  try {
    const effects = await ctx.tests.effects(kb, ids)
    const objection = effects && objectionIn(effects)
    return objection && { ...objection, zone }
  } catch (error) {
    if (!(error instanceof GanglionError && error.code === 'not_pending')) throw error
    return { reason: 'somebody decided meanwhile' }
  }
}

function objectionIn({ state, reason = '', broken }: TestEffects): Objection | undefined {
  if (state !== 'tested') return { reason: `its answer tests could not be run: ${oneLine(reason, 500)}` }
  const [first] = broken
  if (first === undefined) return undefined
  const more = broken.length > 1 ? ` and ${broken.length - 1} more` : ''
  const warning = `It breaks the answer test "${oneLine(first.question, 200)}"${more}.`
  return { reason: 'it breaks an answer test', warning }
}

/**
 * Completes the policy's approval within a group commit: with the Neuron that already has the text, or as a version. A candidate that
 * cannot be approved, such as a copy of a page that main has by now, waits for a curator from then on, even if the reason ends.
 * @param same result of {@link sameText} in this write, if known
 * @param objection reason why a curator decides, unless nothing would change
 */
export async function approveByPolicy(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  now: Date,
  { same, objection }: { same?: SameText | undefined; objection?: Objection | undefined } = {},
): Promise<void> {
  // It may have been revised or decided while it was tested.
  const row = findCandidate(kb.projection.write, candidateId)
  if (row?.status !== 'pending' || !row.approvedByPolicy) return
  const candidate = parseCandidate(await staging.readText(row.blob))
  const { unchanged, isCopy } = same ?? (await sameText(kb, staging, candidate, await recordedSender(kb, candidate)))
  if (unchanged !== undefined) return approveUnchanged(kb, staging, candidate, unchanged, now)
  const held = objection ?? (isCopy ? copyOfPage : undefined)
  if (held !== undefined) return leaveToCurator(kb, staging, candidateId, held, now)
  try {
    await approveStaged(kb, staging, candidateId, { by: policyActor, at: now })
  } catch (error) {
    const isRefused =
      error instanceof GanglionError || error instanceof ValidationError || error instanceof CuratorNeeded
    if (!isRefused) throw error
    await leaveToCurator(kb, staging, candidateId, { reason: clauseOf(error.message) }, now)
  }
}

/** Returns a sentence as a clause to follow a colon: `Why it waits: …` */
function clauseOf(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
}

/** Returns the candidate in the state in which it waits for a curator, with the reason. */
export function leftToCurator(candidate: Candidate, { reason, warning, zone }: Objection): Candidate {
  const { verdict } = candidate
  const more = [zone === 'red' ? `Check it with care: ${reason}.` : undefined, warning]
  const warnings = [...verdict.warnings, ...more.filter((text) => text !== undefined)]
  return { ...candidate, verdict: { ...verdict, approve: false, reason, warnings, ...(zone && { zone }) } }
}

/** Leaves to a curator, within a group commit, a candidate that the policy approved and nobody has decided. */
export async function leaveToCurator(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  objection: Objection,
  now: Date,
): Promise<void> {
  const row = findCandidate(kb.projection.write, candidateId)
  if (row?.status !== 'pending' || !row.approvedByPolicy) return
  const candidate = parseCandidate(await staging.readText(row.blob))
  const { title, kind, connector } = candidate
  const trailers = { Candidate: candidateId, Kind: kind, Connector: connector }
  const message = commitMessage(`Leave "${title}" to a curator`, trailers)
  await commitToQueue(kb, staging, [leftToCurator(candidate, objection)], { by: policyActor, at: now, message })
}
