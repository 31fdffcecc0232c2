import type { EventLog } from '../../state/event-store.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { deriveEvents } from './derive-events.ts'

/** From here on, a knowledge base's events are logged; what it held before is not news. */
export async function beginEvents(log: EventLog, kb: KnowledgeBase): Promise<void> {
  await log.begin(kb.identity.id, kb.projection.heads(kb.projection.read))
}

/**
 * Logs what has happened in a knowledge base since the last time, whoever did it and however long ago: git is the
 * truth, so no crash loses an event, and the log stores its heads together with the events, so that none is logged twice.
 */
export async function followEvents(log: EventLog, kb: KnowledgeBase, now: () => Date): Promise<void> {
  for (let isTold = false; !isTold; ) {
    isTold = await tryToFollow(log, kb, now)
  }
}

/** @returns false where another process logged something meanwhile. */
async function tryToFollow(log: EventLog, kb: KnowledgeBase, now: () => Date): Promise<boolean> {
  let logged = await log.loggedHeads(kb.identity.id)
  // Another process may have logged what is not followed here yet: older heads would look as if the refs had been moved back.
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
  log.wake(kb.identity.tenantId) // another process may have logged it
  return true
}
