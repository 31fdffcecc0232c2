import { GanglionError, undefinedOn, ValidationError } from '../contract/errors.ts'
import { foldEmail } from '../contract/people.ts'
import { maxUndone, type UndoAnswer, type UndoInput } from '../contract/undo.ts'
import { hashObject } from '../git/objects/object.ts'
import type { Staging } from '../git/staging.ts'
import { actorIdsOf } from '../kb/access/who-is.ts'
import { type Context, emitAct } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { undoConnector } from '../kb/projection/candidate-queue.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionBefore } from '../kb/projection/version-queries.ts'
import { versionsFrom, type Writer, type WrittenVersion, writtenSince } from '../kb/projection/written-versions.ts'
import { commitToQueue, proposalMessage } from '../kb/writing/commits.ts'
import { gitFingerprint } from '../kb/writing/pushed-neurons.ts'
import { fileLayout } from '../markdown/file/front-matter.ts'
import { FrontMatterError } from '../markdown/file/front-matter-edit.ts'
import { editNeuron, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { mergePages } from '../markdown/merge/merge-page.ts'
import { neuronTitle } from '../markdown/neuron-title.ts'
import { bareId, type Caller } from '../rules/access/caller.ts'
import { type Actor, type Candidate, ingestConnector } from '../rules/candidates/candidate.ts'
import { candidateIdFor } from '../rules/candidates/candidate-id.ts'
import { forWhom } from '../rules/candidates/metadata.ts'
import { findSource } from '../sources/find-source.ts'
import { originPrefix } from '../sources/ingest/source-candidate.ts'
import { waitingReversal } from './propose-reverse.ts'

/** Version of a page. Without text and blob the page did not exist. The text has no back-pointer, which is not a change. */
type Version = { path: string; blob: string | null; text: string | null }

/** Consecutive versions of one writer: the version before them, and their result. */
type Run = { start: Version; end: Version; isLast: boolean }

/** Writer whose changes are undone. `replaced`: pages of the writer's Sources that others have replaced since. */
type Written = { writer: Writer; replaced?: Writer }

/** Request to undo, and its caller. */
type Undoing = Written & { since: string; dryRun: boolean; reason: string; actor: Actor; at: Date }

type Reversal = { candidate: Candidate } & Pick<UndoAnswer['reversals'][number], 'action' | 'conflicts'>

type Listed = Reversal & { isInQueue: boolean }

/** Result for Neurons that are handled together. `left`: number of Neurons in later parts. */
type Part = { seqIds: string[]; reversals: Listed[]; kept: UndoAnswer['kept']; added: number; left: number }

/**
 * Proposes to undo all changes that one writer has made on main since a time: a candidate for each Neuron. Up to `atOnce` are one commit
 * and one entry of the queue. Later changes of others stay, or conflict. A pending reversal is not proposed again, so repeating an
 * interrupted request completes it.
 * @throws {GanglionError} `not_found`, `queue_full` before anything is recorded
 * @throws {ValidationError} for a name that several keys have
 */
export async function proposeUndo(
  ctx: Context,
  caller: Caller,
  kbId: string,
  { by, writer: name, onBehalfOf, since, dryRun }: UndoInput,
  { atOnce = maxUndone } = {},
): Promise<UndoAnswer> {
  const kb = await ctx.kb(caller.tenantId, kbId)
  const { label, ...written } = await writerOf(ctx, caller, kb, { by, writer: name })
  const what = `the ${by} ${label} wrote${onBehalfOf === undefined ? '' : forWhom(onBehalfOf)} since ${since}`
  const only = onBehalfOf === undefined ? {} : { onBehalfOf }
  const parts = await recordParts(ctx, kb, atOnce, {
    writer: { ...written.writer, ...only },
    ...(written.replaced && { replaced: { ...written.replaced, ...only } }),
    dryRun,
    // Times of commits are in whole seconds.
    since: new Date(Math.floor(Date.parse(since) / 1000) * 1000).toISOString(),
    reason: `takes back what ${what}`,
    actor: { id: `undo:${bareId(caller)}`, name: caller.name },
    at: ctx.now(),
  })
  const reversals = parts.flatMap((part) => part.reversals)
  const kept = parts.flatMap((part) => part.kept)
  const [first] = reversals
  return {
    kbId: kb.identity.id,
    message:
      first === undefined
        ? nothingToUndo(what, kept)
        : inTheQueue(reversals.length, { dryRun, left: parts.at(-1)?.left ?? 0 }),
    queueUrl: first?.isInQueue ? ctx.urls.candidate(first.candidate.id) : null,
    reversals: reversals.map(({ candidate: { id, target, title, verdict }, isInQueue, action, conflicts }) => ({
      candidateId: isInQueue ? id : null,
      seqId: target ?? '',
      title,
      action,
      conflicts,
      warnings: verdict.warnings,
    })),
    kept,
  }
}

/** Records part after part until no Neuron is left. If a later part fails, those that are recorded are the answer. */
async function recordParts(ctx: Context, kb: KnowledgeBase, atOnce: number, undoing: Undoing): Promise<Part[]> {
  const parts: Part[] = []
  const seen = new Set<string>()
  do {
    // Each part has a time of its own, by which the queue distinguishes its entries.
    const at = new Date(undoing.at.getTime() + parts.length)
    const place = { number: parts.length + 1, seen, atOnce }
    const recording = kb.write((staging) => recordUndo(kb, staging, { ...undoing, at }, place))
    const part = await (parts.length === 0 ? recording : recording.catch(undefinedOn()))
    if (part === undefined) break
    for (let each = 0; each < part.added; each++) emitAct(ctx, 'submit', { status: 'pending' })
    parts.push(part)
    for (const seqId of part.seqIds) seen.add(seqId)
  } while ((parts.at(-1)?.left ?? 0) > 0)
  return parts
}

function nothingToUndo(what: string, kept: UndoAnswer['kept']): string {
  const reasons = [...new Set(kept.map(({ reason }) => reason))].join(' ')
  return reasons === ''
    ? `There is nothing to take back: main has nothing that ${what}.`
    : `There is nothing to take back. ${reasons}`
}

function inTheQueue(count: number, { dryRun, left }: { dryRun: boolean; left: number }): string {
  const [subject, verb] = count === 1 ? ['a reversal of 1 Neuron', 'waits'] : [`reversals of ${count} Neurons`, 'wait']
  if (dryRun) return `In the queue, ${subject} would wait.`
  const others = left === 1 ? '1 more Neuron is' : `${left} more Neurons are`
  const more = left > 0 ? ` ${others} left, since the server took no more: send the same request again later.` : ''
  return `In the queue, ${subject} ${verb}.${more}`
}

async function writerOf(
  ctx: Context,
  caller: Caller,
  kb: KnowledgeBase,
  { by, writer }: Pick<UndoInput, 'by' | 'writer'>,
): Promise<Written & { /** Name for people. */ label: string }> {
  if (by === 'connector') return { writer: { connector: writer }, label: writer }
  if (by === 'model') return { writer: { model: writer }, label: writer }
  if (by === 'person') {
    const person = await ctx.users.findByEmail(foldEmail(writer))
    return { ...(await sentBy(ctx, kb, person?.id ?? writer)), label: writer }
  }
  if (by === 'key') {
    const keys = await ctx.apiKeys.list(caller.tenantId)
    const [key, other] = keys.filter(({ id, name }) => name === writer || id === writer)
    if (other !== undefined)
      throw new ValidationError({ writer: ['is the name of several keys: give the UUID of one'] })
    return { ...(await sentBy(ctx, kb, key?.id ?? writer)), label: key?.name ?? writer }
  }
  const { kbId, editionOf, filename } = await findSource(ctx, caller, writer)
  if (kbId !== kb.identity.id) throw new GanglionError('not_found')
  return { writer: { connector: ingestConnector, prefix: originPrefix(editionOf) }, label: filename }
}

/** Returns the candidates and pushes of a key or person, and the pages of its uploaded Sources, as far as known. */
async function sentBy(ctx: Context, { identity }: KnowledgeBase, id: string): Promise<Written> {
  const ids = await actorIdsOf(ctx, identity.tenantId, id)
  const uploads = await ctx.sources.editionsBy(identity.tenantId, identity.id, ids)
  const { own = [], replaced = [] } = Object.groupBy(uploads, ({ isReplaced }) => (isReplaced ? 'replaced' : 'own'))
  const senders = (of: typeof uploads) => of.map((source) => `source:${source.id}`)
  return { writer: { senders: [...ids, ...senders(own)] }, replaced: { senders: senders(replaced) } }
}

/** Records one part of an undo. @param number of the part, from 1 @param seen the Neurons of earlier parts */
async function recordUndo(
  kb: KnowledgeBase,
  staging: Staging,
  undoing: Undoing,
  { number, seen, atOnce }: { number: number; seen: ReadonlySet<string>; atOnce: number },
): Promise<Part> {
  const { write: sql } = kb.projection
  const { writer, replaced, since, dryRun, actor, at } = undoing
  const written = writtenSince(sql, writer, since)
  const waiting = [...written].filter(([seqId]) => !seen.has(seqId))
  const total = number - 1 + Math.ceil(waiting.length / atOnce)
  const part = total > 1 ? ` (part ${number} of ${total})` : ''
  const reason = undoing.reason + part
  const reversals: Listed[] = []
  const others = replaced === undefined || number > 1 ? [] : writtenSince(sql, replaced, since).keys()
  const kept: UndoAnswer['kept'] = [...others]
    .filter((seqId) => !written.has(seqId) && findNeuron(sql, seqId) !== undefined)
    .map((seqId) => ({ seqId, reason: 'Somebody else uploaded a later edition of its Source.' }))
  const added: Candidate[] = []
  const taken = waiting.slice(0, atOnce)
  for (const [seqId, versions] of taken) {
    const reversal = await reversalOf(kb, staging, { ...undoing, reason, seqId, written: versions })
    if (reversal === undefined) continue
    if (typeof reversal === 'string') {
      kept.push({ seqId, reason: reversal })
      continue
    }
    const known = await waitingReversal(kb, staging, reversal.candidate)
    if (known === undefined && !dryRun) added.push(reversal.candidate)
    reversals.push({ ...reversal, candidate: known ?? reversal.candidate, isInQueue: known !== undefined || !dryRun })
  }
  await commitToQueue(kb, staging, added, { by: actor, at, message: proposalMessage(added, part) })
  const seqIds = taken.map(([seqId]) => seqId)
  return { seqIds, reversals, kept, added: added.length, left: waiting.length - taken.length }
}

/** Returns the candidate that reverts a writer's changes of one Neuron, the reason why there is none, or undefined if none of them is left. */
async function reversalOf(
  kb: KnowledgeBase,
  staging: Staging,
  { seqId, written, ...undoing }: Undoing & { seqId: string; written: readonly number[] },
): Promise<Reversal | string | undefined> {
  const { write: sql } = kb.projection
  const before = versionBefore(sql, seqId, written[0] ?? 0)
  const versions = versionsFrom(sql, { seqId, written })
  const target = findNeuron(sql, seqId)
  const others = [...new Set(versions.flatMap(({ by, isFollowing }) => (by === undefined || isFollowing ? [] : [by])))]
  const names = others.join(', ')
  if (target === undefined && versions.at(-1)?.by !== undefined) {
    return typeof before?.blob === 'string' ? `${names} removed it since.` : undefined
  }
  const read = (version: Pick<Version, 'path' | 'blob'> | undefined) => readVersion(staging, version)
  try {
    const [now, start, pages] = await Promise.all([
      read(versions.at(-1)),
      read(before),
      Promise.all(versions.map(read)),
    ])
    const { page, base, conflicts } = takeBack(now, runsOf(start, versions, pages))
    if (page.text === now.text && (page.text === null || page.path === now.path)) return undefined
    const text = page.text ?? base.text ?? ''
    const { content, ...parsed } = parseNeuronFile(text)
    const blob =
      page.text === null ? undefined : page.text === now.text ? target?.blob : hashObject('blob', Buffer.from(text))
    const candidate: Candidate = {
      id: candidateIdFor(kb.identity.id, { msecs: undoing.at.getTime() }),
      kind: 'user-correction',
      title: neuronTitle({ ...parsed, content }, page.path),
      content,
      frontMatter: page.text === null ? null : text.slice(0, fileLayout(text).bodyStart),
      metadata: JSON.stringify({
        connector: undoConnector,
        path: page.path,
        fingerprint: gitFingerprint({ path: page.path, blob }),
      }),
      confidence: null,
      impactEstimate: null,
      connector: undoConnector,
      target: seqId,
      reverts: true,
      removes: page.text === null,
      base: base.blob,
      verdict: { approve: false, zone: null, reason: undoing.reason, warnings: warningsOf(names, conflicts) },
      createdAt: undoing.at.toISOString(),
      createdBy: undoing.actor,
      decisions: [],
    }
    return { candidate, conflicts, action: page.text === null ? 'remove' : target === undefined ? 'restore' : 'change' }
  } catch (error) {
    if (error instanceof FrontMatterError) return 'The front matter of one of its versions cannot be read.'
    throw error
  }
}

function warningsOf(names: string, conflicts: boolean): string[] {
  if (names === '') return []
  if (!conflicts) return [`What ${names} changed since stays.`]
  return [`What ${names} changed since conflicts with taking this back: solve that, or dismiss this.`]
}

/** Reads a version of a page. @throws {FrontMatterError} */
async function readVersion(
  staging: Staging,
  { path, blob }: Pick<Version, 'path' | 'blob'> = { path: '', blob: null },
): Promise<Version> {
  const text = blob === null ? null : editNeuron(await staging.readText(blob), { candidate: undefined })
  return { path, blob, text }
}

/** Returns the runs, oldest first. `pages`: texts of the versions. `isLast`: later versions of others only adapt links to a rename. */
function runsOf(start: Version, versions: readonly WrittenVersion[], pages: readonly Version[]): Run[] {
  const runs: Run[] = []
  let [before, isWithin] = [start, false]
  for (const [at, { by }] of versions.entries()) {
    const page = pages[at] ?? before
    const run = runs.at(-1)
    const isLast = versions.slice(at + 1).every(({ by, isFollowing }) => by === undefined || isFollowing)
    if (by === undefined && isWithin && run !== undefined) Object.assign(run, { end: page, isLast })
    else if (by === undefined) runs.push({ start: before, end: page, isLast })
    ;[before, isWithin] = [page, by === undefined]
  }
  return runs
}

/**
 * Reverts runs of versions, the latest first, and keeps what others wrote. On a conflict the result is the start of the run, merged against
 * its end, so that approving it meets the same conflict. `base`: base for the merge of the page.
 */
function takeBack(now: Version, runs: readonly Run[]): { page: Version; base: Version; conflicts: boolean } {
  let page = now
  for (const { start, end, isLast } of runs.toReversed()) {
    const path = page.path === end.path || page.text === null ? start.path || page.path : page.path
    if (page.text === end.text) page = { ...start, path }
    else if (page.text === null || end.text === null || page.text === start.text) continue
    else if (start.text === null && isLast) page = { ...start, path }
    else if (start.text === null) return { page: start, base: end, conflicts: true }
    else {
      const merged = mergePages({ base: end.text, current: page.text, proposed: start.text })
      if ('conflicts' in merged) return { page: start, base: end, conflicts: true }
      page = { ...page, path, text: merged.text }
    }
  }
  return { page, base: now, conflicts: false }
}
