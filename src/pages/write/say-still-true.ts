import type { Approval, AwaitedApproval } from '../../contract/candidates.ts'
import { Awaiting } from '../../contract/envelope.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { dayAfter, utcDay } from '../../contract/moment.ts'
import { hashObject } from '../../git/objects/object.ts'
import { viewFor } from '../../kb/access/kb-view.ts'
import { stalenessIn } from '../../kb/access/stale-pages.ts'
import { type Context, emitAct } from '../../kb/context.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { pendingRecords } from '../../kb/writing/commits.ts'
import { fileLayout, hasReadableSize } from '../../markdown/file/front-matter.ts'
import { editNeuron } from '../../markdown/file/neuron-file.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import { candidateIdFor } from '../../rules/candidates/candidate-id.ts'
import { intervalOf } from '../../rules/freshness.ts'
import { requireCurator } from './open-page.ts'
import { submitPage } from './submit-page.ts'

const reason = 'says that the page is still true'

/**
 * Confirms that a page is still true: a candidate that changes only `verified`, approved at once. Repeating it on the same day changes
 * nothing, and while it waits for others it is the same candidate.
 * @param until last day on which it counts as verified; by default set by the rules of `kb.yaml`
 * @throws {GanglionError} `insufficient_role`, `not_found`, `queue_full`, `target_unreadable`
 * @throws {ValidationError} for a past day
 */
export async function sayStillTrue(
  ctx: Context,
  caller: Caller,
  { kb: kbName, seqId }: { kb: string; seqId: string },
  { until: asked }: { until?: string | undefined },
): Promise<Approval | AwaitedApproval> {
  requireCurator(caller)
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { verify } = await kb.settings()
  const now = ctx.now()
  const at = utcDay(now)
  if (asked !== undefined && asked < at) throw new ValidationError({ until: ['must not be past'] })
  const staleness = await stalenessIn(await viewFor(caller, kb), now)
  const answer = await kb.write(async (staging): Promise<Approval | AwaitedApproval> => {
    const before = findNeuron(kb.projection.write, seqId)
    if (before === undefined) throw new GanglionError('not_found')
    const days = intervalOf(before, verify)
    const until = asked ?? (days === undefined ? undefined : dayAfter(at, days))
    const page = await staging.readText(before.blob)
    const edition = staleness(before).newEdition ?? before.verified?.edition
    const verified = {
      by: caller.name,
      at,
      ...(until !== undefined && { until }),
      ...(edition !== undefined && { edition }),
    }
    const text = editNeuron(page, { verified })
    if (!hasReadableSize(text)) throw new ValidationError({}, ['The front matter would be larger than 16 KB.'])
    const { documentId, commit } = before
    const approved = { status: 'approved', seqId, documentId } as const
    // A push can write the same by hand, with a back-pointer that names no candidate: then this confirmation is the first.
    const said = text === page ? findCandidate(kb.projection.write, before.candidateId ?? '') : undefined
    if (said !== undefined) return { ...approved, candidateId: said.id, commit }
    const neuron = { seqId, before, path: before.path, blob: hashObject('blob', Buffer.from(text)), text }
    const actor = actorOf(caller)
    const records = await pendingRecords(kb, staging, { connector: 'console', target: seqId })
    const waiting = records.find(
      (known) =>
        known.createdBy.id === actor.id &&
        known.verdict.reason === reason &&
        known.base === before.blob &&
        known.frontMatter === text.slice(0, fileLayout(text).bodyStart),
    )
    const candidateId = waiting?.id ?? candidateIdFor(kb.identity.id, { msecs: now.getTime() })
    const submitted = await submitPage(
      kb,
      staging,
      { candidateId, neuron, base: before.blob, reason },
      { actor, at: now, publish: true },
    )
    if (submitted.status === 'approved') return { ...approved, candidateId, commit: submitted.commit }
    const awaiting = Awaiting.safeParse(submitted.awaiting)
    if (!awaiting.success) throw new GanglionError('merge_conflict', submitted.refusal?.message)
    return { candidateId, status: 'pending', awaiting: awaiting.data }
  })
  return emitAct(ctx, 'approve', answer)
}
