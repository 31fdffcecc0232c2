import { sweepRates } from '../../store/rate-counter.ts'
import type { Ganglion } from '../ganglion.ts'
import { sweepBlobs, sweepUploads } from '../sources/sweep.ts'

const interval = 3_600_000

/**
 * Removes what has expired, and what nothing names: now, and every hour. For one of the nodes that share the state. What one sweep
 * cannot remove, since a part is out of reach, the next one does.
 * @returns how to stop it
 */
export async function startSweeping(ganglion: Ganglion, onError: (error: unknown) => void): Promise<() => void> {
  const sweep = async () => {
    await sweepRows(ganglion).catch(onError)
    // A bucket may have a million objects.
    sweepBlobs(ganglion).catch(onError)
    ganglion.cluster?.sweep(ganglion.now()).catch(onError)
  }
  await sweep()
  const sweeping = setInterval(sweep, interval)
  return () => clearInterval(sweeping)
}

async function sweepRows(ganglion: Ganglion): Promise<void> {
  const now = ganglion.now()
  await ganglion.idempotency.sweep(now)
  await ganglion.chatSessions.sweep(now)
  await ganglion.sessions.sweep(now)
  await ganglion.oneTimeLinks.sweep(now)
  await ganglion.audit.sweep(now)
  await ganglion.events.sweep(now)
  await sweepRates(ganglion.database)
  await sweepUploads(ganglion)
}
