import { GanglionError } from '../contract/errors.ts'
import { GitSlotError, type GitSlots, type SlotClaim } from '../git/native/git-slots.ts'

/** Waits for a slot; see {@link GitSlots.take}. @throws {GanglionError} `rate_limited` or `unavailable` if too many others wait */
export async function takeSlot(slots: GitSlots, claim: SlotClaim, signal: AbortSignal): Promise<() => void> {
  try {
    return await slots.take(claim, signal)
  } catch (error) {
    if (!(error instanceof GitSlotError)) throw error
    if (error.reason !== 'queue-full') throw new GanglionError('unavailable')
    throw new GanglionError('rate_limited', 'Too many git requests are waiting; try again later.')
  }
}
