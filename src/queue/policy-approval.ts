import type { TestEffects } from '../contract/answer-tests.ts'
import { GanglionError, unless, ValidationError } from '../contract/errors.ts'
import type { Staging } from '../git/staging.ts'
import { type Context, onePer } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate, unfinishedApprovals } from '../kb/projection/candidate-index.ts'
import { hasTestFiles } from '../kb/projection/file-queries.ts'
import { commitAt, lastPosition } from '../kb/projection/main-changes.ts'
import { commitMessage, signatureOf } from '../kb/refs/commit-message.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { oneLine } from '../rules/text/lines.ts'
import { KeyedLock } from '../system/concurrency/keyed-lock.ts'
import { approveStaged, CuratorNeeded, policyActor } from './approval.ts'

/** Why a curator decides, and in which zone. The sender is told the reason, and may not know what the warning says. */
type Objection = { reason: string; warning?: string; zone?: 'yellow' | 'red' }

const attempts = 3

/** Whether what the policy approves is tested first. */
export function isTestedFirst({ projection }: KnowledgeBase, { onBreak }: Pick<KbSettings, 'onBreak'>): boolean {
  return onBreak !== 'allow' && hasTestFiles(projection.write)
}

/** Completes what the policy approved and a crash kept from reaching main. What had to be tested first waits for a curator. */
export async function finishApprovals(kb: KnowledgeBase, now: () => Date): Promise<void> {
  const settings = await kb.settings()
  for (const id of unfinishedApprovals(kb.projection.read)) {
    await kb.write((staging) =>
      isTestedFirst(kb, settings)
        ? leaveToCurator(kb, staging, id, { reason: 'the server stopped before its answer tests were run' }, now())
        : approveByPolicy(kb, staging, id, now()),
    )
  }
}

const turns = onePer((_: KnowledgeBase) => ({ ofSenders: new KeyedLock(), all: new KeyedLock() }))

/**
 * Approves what the policy approved, unless that breaks an answer test: then it waits for a curator. Main is as it was tested. Not within
 * a write. One at a time, since each moves main, and senders take turns, so that none waits for all that another has sent.
 */
export function approveTested(
  ctx: Pick<Context, 'now' | 'tests'>,
  kb: KnowledgeBase,
  { id, sender }: { id: string; sender: string },
): Promise<void> {
  const { ofSenders, all } = turns(kb)
  return ofSenders.run(sender, () => all.run('', () => testAndApprove(ctx, kb, id)))
}

async function testAndApprove(
  ctx: Pick<Context, 'now' | 'tests'>,
  kb: KnowledgeBase,
  candidateId: string,
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { main } = kb.heads()
    const objection = await objectionTo(ctx, kb, candidateId)
    const isDone = await kb.write(async (staging) => {
      const { write: sql } = kb.projection
      if (commitAt(sql, lastPosition(sql)) !== main) return false
      if (objection === undefined) await approveByPolicy(kb, staging, candidateId, ctx.now())
      else await leaveToCurator(kb, staging, candidateId, objection, ctx.now())
      return true
    })
    if (isDone) return
  }
  const reason = 'main changed faster than its answer tests were run'
  await kb.write((staging) => leaveToCurator(kb, staging, candidateId, { reason }, ctx.now()))
}

async function objectionTo(
  ctx: Pick<Context, 'tests'>,
  kb: KnowledgeBase,
  candidateId: string,
): Promise<Objection | undefined> {
  const { onBreak: zone } = await kb.settings()
  if (zone === 'allow') return undefined
  // Somebody may decide meanwhile.
  const effects = await ctx.tests.effects(kb, [candidateId])?.catch(unless('not_pending'))
  const objection = effects && objectionIn(effects)
  return objection && { ...objection, zone }
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
 * Approves within a group commit what the policy approved. What cannot be, such as where its target has changed after the candidate
 * reached the queue, waits for a curator from then on, whatever becomes of the reason.
 */
export async function approveByPolicy(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  now: Date,
): Promise<void> {
  try {
    await approveStaged(kb, staging, candidateId, {}, policyActor, now)
  } catch (error) {
    const isRefused =
      error instanceof GanglionError || error instanceof ValidationError || error instanceof CuratorNeeded
    if (!isRefused) throw error
    await leaveToCurator(kb, staging, candidateId, { reason: error.message }, now)
  }
}

async function leaveToCurator(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  { reason, warning, zone }: Objection,
  now: Date,
): Promise<void> {
  const row = findCandidate(kb.projection.write, candidateId)
  if (row?.status !== 'pending') return
  const candidate = parseCandidate(await staging.readText(row.blob))
  const { title, kind, connector, verdict } = candidate
  const more = [zone === 'red' ? `Check it with care: ${reason}.` : undefined, warning]
  const warnings = [...verdict.warnings, ...more.filter((text) => text !== undefined)]
  await kb.commitToQueue(staging, {
    candidates: [{ ...candidate, verdict: { ...verdict, approve: false, reason, warnings, ...(zone && { zone }) } }],
    message: commitMessage(`Leave "${title}" to a curator`, {
      Candidate: candidateId,
      Kind: kind,
      Connector: connector,
    }),
    author: signatureOf(policyActor, now),
    at: now,
  })
}
