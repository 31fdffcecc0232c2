import { isDeepStrictEqual } from 'node:util'
import type { CandidateReceipt, CandidateState, CandidateVersion, Warning } from '../contract/candidates.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Oid } from '../git/objects/object.ts'
import type { Staging } from '../git/staging.ts'
import { sendersFor } from '../kb/access/who-is.ts'
import type { Context } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { keptForDecisions, recordCandidate } from '../kb/writing/commits.ts'
import { revised } from '../kb/writing/pushed-neurons.ts'
import { parseCandidate, roomInRecord } from '../markdown/file/candidate-file.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { endUserOf, parseMetadata } from '../rules/candidates/metadata.ts'
import { isFirstCome } from '../rules/neurons/first-come.ts'
import { keepZone } from '../rules/policy.ts'
import { decide } from './decide-candidate.ts'
import { isAsRead, PreconditionFailed } from './heads/judged-head.ts'
import { leftToCurator, type Objection } from './policy-approval.ts'
import { splitFrontMatter } from './sent-content.ts'
import { type CandidateDraft, prepareCandidate, toCandidate, toReceipt } from './submit-candidate.ts'

/** Next version. `fields`: those of the metadata to replace. `confidence`: of a vote that has changed. */
type SentVersion = CandidateVersion & { fields?: Record<string, unknown>; confidence?: number | null }
/** State that the caller has read: a list of entity tags, or the number of the version. */
type ReadVersion = { ifMatch?: string | undefined; version?: number }

export const withdrawn = 'withdrawn by its sender'
const textIgnored: Warning = {
  code: 'content_ignored',
  message: 'The candidate removes the page, so this text counts for nothing. Withdraw it to propose a correction.',
}
const changed: Objection = { reason: 'a curator decides on a new version' }

/**
 * Makes the next version of a pending candidate that came over HTTP or MCP, for its sender or a curator. Votes for earlier versions do not
 * count, its zone is no less strict, and no policy approves it: somebody may have read, or asked for, what it changes. A version equal to
 * the present one changes nothing.
 * @throws {GanglionError} `not_found`, `not_pending`, `record_full`
 * @throws {PreconditionFailed} `stale_head`
 * @throws {ValidationError} for invalid metadata, another target or connector, and a candidate that came by git or from the console
 */
export async function reviseCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { ifMatch, version, ...sent }: SentVersion & ReadVersion,
): Promise<CandidateReceipt> {
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  const senders = await sendersFor(ctx, caller)
  return kb.write(async (staging) => {
    const { write: sql } = kb.projection
    const row = findCandidate(sql, candidateId)
    const record = row && parseCandidate(await staging.readText(row.blob))
    if (row === undefined || record === undefined || !mayChange(record, caller, senders))
      throw new GanglionError('not_found')
    if (record.frontMatter !== null || !isFirstCome(record))
      throw new ValidationError({ id: ['came by git or from the console, or a curator edited it: change it there'] })
    const { next, draft, told } = await nextVersion(kb, staging, { record, caller, sent, now: ctx.now() })
    const ignored = record.removes && sent.content !== record.content ? [textIgnored] : []
    // The sender may not see the page of an approval.
    const isSame = isDeepStrictEqual(partsOf(next), partsOf(record))
    if (isSame) return toReceipt(ctx, kb, { row: { ...row, approval: undefined }, warnings: ignored })
    const isRead = ifMatch === undefined || (await isAsRead(kb, staging, { candidateId, decider: undefined, ifMatch }))
    if (!isRead || (version ?? row.version) !== row.version)
      throw new PreconditionFailed(row.status === 'pending' ? 'stale_head' : 'not_pending')
    if (row.status !== 'pending') throw new GanglionError('not_pending')
    const isSender = senders.has(record.createdBy.id)
    // A whole text of the sender takes the place of what a curator wrote, which only curators see.
    const { original: _, ...own } = next
    const candidate = isSender ? own : ofOther(next, record, row.blob)
    if (roomInRecord(candidate) < keptForDecisions) throw new GanglionError('record_full')
    await recordCandidate(kb, staging, candidate, 'Revise')
    const warnings = [...ignored, ...draft.warnings, ...told.filter(({ code }) => code !== 'similar')]
    return toReceipt(ctx, kb, { row: findCandidate(sql, candidateId) ?? row, warnings })
  })
}

/**
 * Withdraws a pending candidate for its sender, or dismisses it for a curator. Repeating it returns the same answer.
 * @throws {GanglionError} `not_found`, `not_pending`, `record_full`
 * @throws {PreconditionFailed} `stale_head`
 */
export async function withdrawCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { ifMatch, version }: ReadVersion = {},
): Promise<CandidateState> {
  const senders = await sendersFor(ctx, caller)
  const isAllowed = (record: Candidate) => mayChange(record, caller, senders)
  const judged = { candidateId, ifMatch, isAllowed, verb: 'Dismiss' } as const
  return decide(ctx, caller, judged, ({ status, ...row }, by, at, record) => {
    if (status === 'approved') throw new GanglionError('not_pending')
    if (status === 'dismissed') return undefined
    if ((version ?? row.version) !== row.version) throw new PreconditionFailed('stale_head')
    return { action: 'dismiss', at, by, ...(senders.has(record.createdBy.id) && { reason: withdrawn }) }
  })
}

function mayChange({ createdBy }: Candidate, { role }: Caller, senders: ReadonlySet<string>): boolean {
  return role === 'curator' || senders.has(createdBy.id)
}

async function nextVersion(
  kb: KnowledgeBase,
  staging: Staging,
  { record, caller, sent, now }: { record: Candidate; caller: Caller; sent: SentVersion; now: Date },
): Promise<{ next: Candidate; draft: CandidateDraft } & Pick<Awaited<ReturnType<typeof toCandidate>>, 'told'>> {
  const { kind, impactEstimate, connector, removes, target } = record
  const { title = record.title, confidence = record.confidence, content } = sent
  const about = sent.metadata ?? record.metadata
  const given = sent.metadata === null ? await fieldsIn(kb, content) : keptEndUser(sent.metadata, record)
  const fields = { ...given, ...sent.fields }
  const isSame = Object.keys(fields).length === 0
  const metadata = isSame ? about : JSON.stringify({ ...parseMetadata(about).data, ...fields })
  const input = { kind, title, content, metadata, confidence, impactEstimate, knowledgeBaseId: kb.identity.id }
  // A title that is not sent anew keeps its meaning: that of the page, or of the proposal.
  const isSubject = sent.title === undefined && record.renames !== true
  const door = connector === 'mcp' ? 'mcp' : 'api'
  const draft = await prepareCandidate(kb, caller, input, { removes, isSubject, door })
  const { candidate, told } = await toCandidate(kb, staging, draft, record.id, now)
  if (candidate.connector !== connector) throw new ValidationError({ metadata: ['must name the same `connector`'] })
  if (candidate.target !== target) throw new ValidationError({ metadata: ['must name the same `targetNeuron`'] })
  const { renames: _, ...kept } = record
  const waiting = candidate.verdict.approve ? leftToCurator(candidate, changed) : candidate
  const change = { ...partsOf(waiting), base: waiting.base, frontMatter: null }
  const next = revised(kept, change, { by: actorOf(caller), at: now })
  return { next: { ...next, verdict: keepZone(waiting.verdict, record.verdict) }, draft, told }
}

/** Returns the end user of a record unless the metadata of the next version names one, or null. */
function keptEndUser(metadata: string, record: Candidate): Record<string, unknown> {
  const onBehalfOf = endUserOf(record)
  return onBehalfOf === undefined || 'onBehalfOf' in parseMetadata(metadata).data ? {} : { onBehalfOf }
}

/** Returns the keys that the front matter of a content replaces. An audience there only narrows that of the version before. */
async function fieldsIn(kb: KnowledgeBase, content: string): Promise<Record<string, unknown>> {
  const { metadata } = splitFrontMatter({ content, metadata: null }, await kb.settings())
  const { audience: _, connector: _connector, targetNeuron: _target, ...fields } = parseMetadata(metadata).data
  return fields
}

/** Returns a version that a curator made. The sender reads the reason of the verdict, which must not tell what only curators see. */
function ofOther(next: Candidate, { verdict, original }: Candidate, blob: Oid): Candidate {
  const { reason } = verdict.approve ? next.verdict : verdict
  return { ...next, original: original ?? blob, verdict: { ...next.verdict, reason } }
}

function partsOf({ title, content, metadata, confidence, renames }: Candidate) {
  return { title, content, metadata, confidence, ...(renames && { renames }) }
}
