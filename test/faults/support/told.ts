import { z } from 'zod'
import { openDatabase } from '../../../src/state/database/open-database.ts'
import { DataDirectory } from '../../../src/state/directory/data-directory.ts'
import { EventLog, type StoredEvent } from '../../../src/state/event-store.ts'
import { KnowledgeBases } from '../../../src/state/kb-store.ts'
import type { Deployment } from './deployment.ts'
import { approvalsOf, type Commit, type File, type History } from './history.ts'

const Decisions = z.array(z.object({ action: z.string() })).default([])
const toldDecisions: Readonly<Record<string, string>> = {
  ...{ dismiss: 'dismissed', reopen: 'reopened', revise: 'revised' },
  ...{ 'request-changes': 'changes-requested', assign: 'assigned', comment: 'commented' },
}
const serverCommitter = 'ganglion@ganglion.invalid'

/** Returns events that differ from what happened: none if every change has one event, in order. */
export async function wronglyTold({ dataDir, database, kbId }: Deployment, history: History): Promise<string[]> {
  const events = await storedEvents(database ?? DataDirectory.open(dataDir).database, kbId)
  const { line, queue } = history
  const approvals = approvalsOf(history)
  const isNew = firstVersions(line)
  // What a knowledge base holds before it is first opened is no news.
  const told = line.slice(1)
  const expected = [
    ...told.flatMap((commit) => eventsOfCommit(commit, approvals.get(commit) ?? [], isNew)),
    ...queue.flatMap(eventsOfRecord),
  ]
  // `kb.pushed` also tells of what breaks a rule; that belongs to no commit.
  // Sources have their own story.
  const found = events.filter(({ kind, data }) => data.problems === undefined && !/^(?:source|ingest)\./.test(kind))
  const problems = events.flatMap(({ data }) => data.problems ?? []).map((problem) => `refused: ${problem}`)
  // A policy's approval that meets an error is left to a curator: only the record's last verdict is known, so once is right.
  const heldOnce = new Set(found.map(nameOf).filter((name) => name.startsWith('candidate.held ')))
  expected.push(...queue.map(heldEventOf).filter((name) => heldOnce.has(name)))
  const order = [...new Set(found.flatMap(({ data }) => data.commit ?? []))]
  const isInOrder = order.every((commit, index) => commit === told[index]?.oid)
  return [
    ...problems,
    ...differences(expected, found.map(nameOf)),
    ...(isInOrder ? [] : ['the commits were told in another order than they came to main']),
  ]
}

/** The commit that brought each Neuron, as `commit seqId`. */
function firstVersions(line: readonly Commit[]): Set<string> {
  const seen = new Set<string>()
  const first = new Set<string>()
  for (const { oid, files } of line) {
    for (const seqId of files.map(({ data }) => String(data.seqId))) {
      if (!seen.has(seqId)) first.add(`${oid} ${seqId}`)
      seen.add(seqId)
    }
  }
  return first
}

function eventsOfCommit(
  { oid, parents, committer, files }: Commit,
  approved: readonly string[],
  isNew: ReadonlySet<string>,
): string[] {
  const isPushed = parents.length > 1 || committer !== serverCommitter
  return [
    ...(isPushed ? [`kb.pushed ${oid}`] : []),
    ...approved.map((id) => `candidate.approved ${oid} ${id}`),
    ...files.map(({ data }) => {
      const version = `${oid} ${String(data.seqId)}`
      return `neuron.${isNew.has(version) ? 'created' : 'updated'} ${version}`
    }),
  ]
}

function eventsOfRecord({ data }: File): string[] {
  const { id, decisions } = z.object({ id: z.string(), decisions: Decisions }).parse(data)
  const actions = decisions.map(({ action }) => action).filter((action) => action in toldDecisions)
  return [`candidate.created ${id}`, ...actions.map((action) => `candidate.${toldDecisions[action]} ${id}`)]
}

/** Returns the event that a candidate was left to a curator, or the empty text if the policy still approves it. */
function heldEventOf({ data }: File): string {
  const { id, verdict } = z.object({ id: z.string(), verdict: z.object({ approve: z.string() }) }).parse(data)
  return verdict.approve === 'true' ? '' : `candidate.held ${id}`
}

/** Returns entries that one list has more often than the other. */
function differences(happened: readonly string[], told: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const event of happened) counts.set(event, (counts.get(event) ?? 0) - 1)
  for (const event of told) counts.set(event, (counts.get(event) ?? 0) + 1)
  return [...counts].flatMap(([event, count]) => {
    if (count === 0) return []
    return [count < 0 ? `${event}: not told` : `${event}: told, but ${count} times too often`]
  })
}

/** Returns the events of a knowledge base's tenant. @param database its URL, or its file */
export async function storedEvents(database: string, kbId: string): Promise<StoredEvent[]> {
  const { db, close } = await openDatabase(database)
  try {
    const kb = (await new KnowledgeBases(db).list()).find(({ id }) => id === kbId)
    const log = new EventLog(db)
    const events: StoredEvent[] = []
    for (;;) {
      const more = await log.after(kb?.tenantId ?? '', events.at(-1)?.id ?? 0, 1_000)
      if (more.length === 0) return events
      events.push(...more)
    }
  } finally {
    await close()
  }
}

function nameOf({ kind, data: { commit, seqId, candidateId } }: StoredEvent): string {
  if (kind === 'kb.pushed') return `${kind} ${commit}`
  if (kind.startsWith('neuron.')) return `${kind} ${commit} ${seqId}`
  return kind === 'candidate.approved' ? `${kind} ${commit} ${candidateId}` : `${kind} ${candidateId}`
}
