import { DataDirectory } from '../../../src/store/data-directory.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { EventLog, type StoredEvent } from '../../../src/store/events.ts'
import { KnowledgeBases } from '../../../src/store/knowledge-bases.ts'
import type { Deployment } from './deployment.ts'
import type { Commit, History } from './history.ts'

const serverCommitter = 'ganglion@localhost'

/** What was told otherwise than it happened: nothing where every change is told once, in its order. */
export async function wronglyTold({ dataDir, kbId }: Deployment, { line, queue }: History): Promise<string[]> {
  const events = await storedEvents(dataDir, kbId)
  const expected = [...line.flatMap(eventsOfCommit), ...queue.flatMap(({ data }) => eventsOfRecord(data))]
  // `kb.pushed` also tells of what breaks a rule; that belongs to no commit.
  const told = events.filter(({ data }) => data.problems === undefined).map(nameOf)
  const problems = events.flatMap(({ data }) => data.problems ?? []).map((problem) => `refused: ${problem}`)
  return [...problems, ...differences(expected, told), ...disorder(line, events)]
}

async function storedEvents(dataDir: string, kbId: string): Promise<StoredEvent[]> {
  const { db, close } = await openDatabase(DataDirectory.open(dataDir).database)
  try {
    const kb = await new KnowledgeBases(db).get(kbId)
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
