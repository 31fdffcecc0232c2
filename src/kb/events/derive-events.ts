import type { EventData, EventKind } from '../../contract/events.ts'
import { isAncestor } from '../../git/history/history.ts'
import { type Oid, parentsOfCommit } from '../../git/objects/object.ts'
import type { TreeChange } from '../../git/repository.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { allTags, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { maySee } from '../../rules/access/audience.ts'
import { type Candidate, candidatePath, type Decision } from '../../rules/candidates/candidate.ts'
import { parseMetadata, readMetadata } from '../../rules/candidates/metadata.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import type { EventCandidate, EventLog, LoggedHeads, NewEvent } from '../../state/event-store.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { findCandidate } from '../projection/candidate-index.ts'
import {
  approvalsBetween,
  changesBetween,
  mainCommitsBetween,
  type NeuronChange,
  positionOf,
  positionOfVersion,
} from '../projection/main-changes.ts'
import { isByServer } from '../refs/commit-message.ts'
import { mainRef, queueRef } from '../refs/kb-refs.ts'

/** Events to log, and the heads that they lead to. */
type Step = { heads: LoggedHeads; events: NewEvent[] }

/** Approximate number of changes in a step: whole commits of each ref. */
const chunkSize = 500

/**
 * Yields the events of a knowledge base between two states of its refs, in steps. The outcome of a candidate follows its creation. The
 * projection must be at `to`, or beyond.
 */
export async function* deriveEvents(kb: KnowledgeBase, from: LoggedHeads, to: LoggedHeads): AsyncGenerator<Step> {
  let step: Step | undefined
  for await (const { heads, events } of stepsOfRefs(kb, from, to)) {
    if (step !== undefined && step.events.length + events.length > chunkSize) {
      yield step
      step = undefined
    }
    // Few events of both refs, as of an approval, are logged in one transaction.
    step = { heads, events: [...(step?.events ?? []), ...events] }
  }
  if (step !== undefined) yield step
}

async function* stepsOfRefs(kb: KnowledgeBase, from: LoggedHeads, to: LoggedHeads): AsyncGenerator<Step> {
  for await (const { queue, events } of queueSteps(kb, from.queue, to.queue)) {
    yield { heads: { main: from.main, queue }, events }
  }
  for await (const { main, events } of mainSteps(kb, from.main, to.main)) {
    yield { heads: { main, queue: to.queue }, events }
  }
}

async function* queueSteps(
  kb: KnowledgeBase,
  from: Oid | undefined,
  to: Oid | undefined,
): AsyncGenerator<{ queue: Oid | undefined; events: NewEvent[] }> {
  if (from === to) return
  const onTheWay = await commitsOnTheWay(kb, from, to)
  const problems = onTheWay === undefined ? await lostBetween(kb, queueRef, from, to) : []
  let events: NewEvent[] = problems.length === 0 ? [] : [pushed(kb, { problems })]
  let before = from
  for (const queue of onTheWay ?? (to === undefined ? [] : [to])) {
    events.push(...(await eventsOfQueue(kb, before, queue)))
    before = queue
    if (events.length < chunkSize) continue
    yield { queue, events }
    events = []
  }
  yield { queue: to, events }
}

/** Returns the commits of a ref after one commit, up to another, oldest first; undefined if it was not fast-forwarded. */
async function commitsOnTheWay({ repository }: KnowledgeBase, from: Oid | undefined, to: Oid | undefined) {
  if (to === undefined) return undefined
  const commits: Oid[] = []
  for (let oid: Oid | undefined = to; oid !== from; ) {
    if (oid === undefined) return undefined
    commits.push(oid)
    const { data } = await repository.read(oid)
    oid = parentsOfCommit(data)[0]
  }
  return commits.reverse()
}

async function eventsOfQueue(kb: KnowledgeBase, from: Oid | undefined, to: Oid): Promise<NewEvent[]> {
  const { repository } = kb
  // git may have removed the commits that a rewritten queue lost, so nothing can be compared.
  if (from !== undefined && (await repository.find(from)) === undefined) return []
  const events: NewEvent[] = []
  for await (const change of repository.diffCommits(from, to)) {
    events.push(...(await eventsOfCandidate(kb, change)))
  }
  return events
}

/** Kinds of events by decision. Votes cause no event. */
const kindOf: Partial<Record<Decision['action'], EventKind>> = {
  dismiss: 'candidate.dismissed',
  reopen: 'candidate.reopened',
  revise: 'candidate.revised',
  'request-changes': 'candidate.changes-requested',
  assign: 'candidate.assigned',
  comment: 'candidate.commented',
}
/** Events that only curators see. */
const forCurators: ReadonlySet<EventKind> = new Set(['candidate.assigned', 'candidate.commented'])

async function eventsOfCandidate(kb: KnowledgeBase, { path, before, after }: TreeChange): Promise<NewEvent[]> {
  const is = await readCandidate(kb, path, after)
  if (is === undefined) return []
  const was = await readCandidate(kb, path, before)
  const settings = await kb.settings()
  const event = (kind: EventKind, decision?: number): NewEvent => {
    const status = kind === 'candidate.dismissed' ? 'dismissed' : 'pending'
    // Comments are possible in any status.
    const data: EventData = { candidateId: is.id, ...(kind === 'candidate.commented' ? {} : { status }) }
    const telling = { ...tellingOf(is, settings), ...(decision !== undefined && { decision }) }
    return { kbId: kb.identity.id, kind, isCuratorOnly: forCurators.has(kind), data, candidate: telling }
  }
  const known = was?.decisions.length ?? 0
  const decided = is.decisions.slice(known).flatMap(({ action }, index) => {
    const kind = kindOf[action]
    return kind === undefined ? [] : event(kind, known + index)
  })
  // A revision also ends the policy's approval, but has an event of its own.
  const isHeld = was?.verdict.approve === true && !is.verdict.approve && is.decisions.length === known
  const told = isHeld ? [event('candidate.held')] : decided
  return was === undefined ? [event('candidate.created'), ...decided] : told
}

function tellingOf(
  { createdBy, target, frontMatter, metadata, content }: Candidate,
  settings: Pick<KbSettings, 'inlineTags'>,
): EventCandidate {
  const { fields, extra } = parseNeuronFile(frontMatter ?? '')
  const own = frontMatter === null ? accessIn(metadata) : fields
  const tags = allTags({ fields: { ...fields, tags: own.tags }, extra, content }, settings)
  return { sender: createdBy.id, target, tags, audience: own.audience }
}

/** Returns tags and audience. If another program wrote an unreadable record, only curators see the event. */
function accessIn(metadata: string | null): Pick<ReturnType<typeof readMetadata>, 'tags' | 'audience'> {
  try {
    return readMetadata(parseMetadata(metadata).data)
  } catch {
    return { tags: ['internal'] }
  }
}

/** Reads a candidate's record; undefined if the file is not a candidate's. */
async function readCandidate(
  { repository }: KnowledgeBase,
  path: string,
  blob: Oid | undefined,
): Promise<Candidate | undefined> {
  if (blob === undefined || !path.endsWith('.md')) return undefined
  const candidate = tryParseCandidate(await repository.readTextOnce(blob))
  return candidate !== undefined && candidatePath(candidate.id) === path ? candidate : undefined
}

async function* mainSteps(
  kb: KnowledgeBase,
  from: Oid | undefined,
  to: Oid | undefined,
): AsyncGenerator<{ main: Oid | undefined; events: NewEvent[] }> {
  if (from === to || to === undefined) return
  const sql = kb.projection.read
  const [begin, end] = [from === undefined ? 0 : positionOf(sql, from), positionOf(sql, to)]
  // After main was rewritten, the effect on each Neuron is unknown.
  if (begin === undefined || end === undefined) {
    const problems = await lostBetween(kb, mainRef, from, to)
    const data = { commit: to, ...(problems.length === 0 ? {} : { problems }) }
    return yield { main: to, events: [pushed(kb, data)] }
  }
  for (let after = begin, upTo = begin; after < end; after = upTo) {
    upTo = Math.min(end, positionOfVersion(sql, after, chunkSize) ?? end)
    const commits = mainCommitsBetween(sql, after, upTo)
    const events = await eventsOfMain(kb, commits, { after, upTo })
    yield { main: commits.at(-1)?.commit ?? to, events }
  }
}

/** Returns each commit's push, approvals and Neurons, in this order. */
async function eventsOfMain(
  kb: KnowledgeBase,
  commits: readonly { position: number; commit: Oid }[],
  { after, upTo }: { after: number; upTo: number },
): Promise<NewEvent[]> {
  const sql = kb.projection.read
  const changes = Map.groupBy(changesBetween(sql, after, upTo), ({ position }) => position)
  const approvals = Map.groupBy(approvalsBetween(sql, after, upTo), ({ position }) => position)
  const settings = await kb.settings()
  const { defaultAudience } = settings
  const events: NewEvent[] = []
  for (const { position, commit } of commits) {
    if (await isPushed(kb, commit)) events.push(pushed(kb, { commit }))
    const telling = (changes.get(position) ?? []).map((change) => eventOfNeuron(kb, commit, change, defaultAudience))
    const neurons = new Map((await Promise.all(telling)).map((event) => [event.data.seqId, event]))
    for (const { candidateId, seqId } of approvals.get(position) ?? []) {
      // A later commit can name the candidate of a deletion without changing the Neuron.
      const neuron = neurons.get(seqId)
      const row = findCandidate(sql, candidateId)
      const candidate = row && tryParseCandidate(await kb.repository.readTextOnce(row.blob))
      events.push({
        kbId: kb.identity.id,
        kind: 'candidate.approved',
        isCuratorOnly: neuron?.isCuratorOnly ?? false,
        data: { ...neuron?.data, candidateId, seqId, commit, status: 'approved' },
        candidate: candidate && tellingOf(candidate, settings),
      })
    }
    events.push(...neurons.values())
  }
  return events
}

function pushed(kb: KnowledgeBase, data: Pick<EventData, 'commit' | 'problems'>): NewEvent {
  return { kbId: kb.identity.id, kind: 'kb.pushed', isCuratorOnly: data.commit === undefined, data }
}

/** Returns the problem to report if a ref was moved so that its last known commit is no longer in its history. */
async function lostBetween(
  { repository }: KnowledgeBase,
  ref: string,
  from: Oid | undefined,
  to: Oid | undefined,
): Promise<string[]> {
  if (from === undefined || to === undefined || (await isAncestor(repository, from, to))) return []
  return [`${ref} was moved from ${from} to ${to}, which does not follow it.`]
}

/** True if a commit of main merges a push, or another program made it. */
async function isPushed({ repository }: KnowledgeBase, commit: Oid): Promise<boolean> {
  const { data } = await repository.read(commit)
  return parentsOfCommit(data).length > 1 || !isByServer(data)
}

async function eventOfNeuron(
  kb: KnowledgeBase,
  commit: Oid,
  change: NeuronChange,
  defaultAudience: readonly string[],
): Promise<NewEvent> {
  const { seqId, candidateId, blob, before } = change
  const { documentId, tags, audience } = change.now ?? (await readNeuron(kb, blob ?? before))
  const isVisible = maySee('tool', { tags, ...(audience === undefined ? {} : { audience }) }, defaultAudience)
  const kind = blob === null ? 'neuron.deleted' : before === null ? 'neuron.created' : 'neuron.updated'
  return {
    ...{ kbId: kb.identity.id, kind, isCuratorOnly: !isVisible },
    data: {
      seqId,
      commit,
      ...(documentId === null ? {} : { documentId }),
      ...(candidateId === null ? {} : { candidateId }),
    },
  }
}

/** Reads a version's file; for a deletion, the last version's. */
async function readNeuron(kb: KnowledgeBase, blob: Oid | null) {
  const file = parseNeuronFile(blob === null ? '' : await kb.repository.readTextOnce(blob))
  const { id: documentId = null, audience } = file.fields
  return { documentId, tags: allTags(file, await kb.settings()), audience }
}

/** Starts the log of events of a knowledge base. Its present content causes no events. */
export async function beginEvents(log: EventLog, kb: KnowledgeBase): Promise<void> {
  await log.begin(kb.identity.id, kb.projection.heads(kb.projection.read))
}

/**
 * Logs the events of a knowledge base since the last call, whoever caused them and however long ago. Git is the source of truth, so no
 * crash loses an event, and the log stores its position together with the events, so that none is logged twice.
 */
export async function followEvents(log: EventLog, kb: KnowledgeBase, now: () => Date): Promise<void> {
  for (let isTold = false; !isTold; ) {
    isTold = await tryToFollow(log, kb, now)
  }
}

/** Logs the events since the last call. @returns false if another process logged events meanwhile */
async function tryToFollow(log: EventLog, kb: KnowledgeBase, now: () => Date): Promise<boolean> {
  let logged = await log.loggedHeads(kb.identity.id)
  // Another process may have logged events that are not followed here yet: then the refs would appear to have moved back.
  await kb.sync()
  const heads = kb.projection.heads(kb.projection.read)
  if (logged === undefined) {
    await beginEvents(log, kb)
    return true
  }
  for await (const { heads: next, events } of deriveEvents(kb, logged, heads)) {
    if (!(await log.logChanges(kb.identity, logged, next, events, now()))) return false
    logged = next
  }
  log.wake(kb.identity.tenantId) // Another process may have logged it.
  return true
}
