import type { EventLog } from '../../state/event-store.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { deriveEvents } from './derive-events.ts'

/** Starts the events of a knowledge base; its present content is not news. */
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

/** @returns false if another process logged events meanwhile */
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
