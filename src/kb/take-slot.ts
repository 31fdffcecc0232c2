import { GanglionError } from '../contract/errors.ts'
import { type FairSlots, type SlotClaim, SlotError } from '../system/concurrency/fair-slots.ts'

/**
 * Waits for a slot; see {@link FairSlots.take}.
 * @throws {GanglionError} `rate_limited` or `unavailable` while too many others wait
 */
export async function takeSlot(slots: FairSlots, claim: SlotClaim, signal: AbortSignal): Promise<() => void> {
  try {
    return await slots.take(claim, signal)
  } catch (error) {
    if (!(error instanceof SlotError)) throw error
    if (error.reason !== 'queue-full') throw new GanglionError('unavailable')
    throw new GanglionError('rate_limited', 'Too many git requests are waiting; try again later.')
  }
}
