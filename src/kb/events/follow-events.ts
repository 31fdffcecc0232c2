import type { EventLog } from '../../state/event-store.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { deriveEvents } from './derive-events.ts'

/** From here on, a knowledge base's events are told; what it held before is not news. */
export async function beginEvents(log: EventLog, kb: KnowledgeBase): Promise<void> {
  await log.begin(kb.identity.id, kb.projection.heads(kb.projection.read))
}

/**
 * Tells what has happened in a knowledge base since it was told last, whoever did it and however long ago: git is the
 * truth, so no crash loses an event, and the log notes how far it has told together with the events, so that none is told twice.
 */
export async function followEvents(log: EventLog, kb: KnowledgeBase, now: () => Date): Promise<void> {
  for (let isTold = false; !isTold; ) {
    isTold = await tryToFollow(log, kb, now)
  }
}

/** @returns false where another process told something meanwhile. */
async function tryToFollow(log: EventLog, kb: KnowledgeBase, now: () => Date): Promise<boolean> {
  let told = await log.told(kb.identity.id)
  // Another process may have told what is not followed here yet: older heads would look as if the refs had been moved back.
  await kb.sync()
  const heads = kb.projection.heads(kb.projection.read)
  if (told === undefined) {
    await beginEvents(log, kb)
    return true
  }
  for await (const { heads: next, events } of deriveEvents(kb, told, heads)) {
    if (!(await log.tell(kb.identity, told, next, events, now()))) return false
    told = next
  }
  log.wake(kb.identity.tenantId) // another process may have told it
  return true
}
