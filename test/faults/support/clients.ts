import { setTimeout as delay } from 'node:timers/promises'
import { type Api, newSubmission } from './api.ts'
import type { Ledger } from './ledger.ts'

/** Knowledge that the clients of one knowledge base share. */
export class Known {
  /** Candidates that wait for a curator, as far as anybody knows. */
  readonly pending: string[] = []
  readonly dismissed: string[] = []
  readonly seqIds: string[] = []
}

/** Milliseconds that a client waits after a first refusal, and at most after many. */
const patience = { first: 20, longest: 1_000 }

/**
 * Sends requests, one after the other, until told to stop; `pauseMs` is what it waits between two, on average. While it is refused
 * it waits longer and longer, as a client should.
 */
export async function runClient(
  api: Api,
  ledger: Ledger,
  known: Known,
  isOver: () => boolean,
  pauseMs = 0,
): Promise<void> {
  for (let patient = patience.first; !isOver(); ) {
    const before = ledger.cut.length
    await oneAction(api, known)
    const isRefused = ledger.cut.length > before
    const wait = isRefused ? patient : 2 * Math.random() * pauseMs
    patient = isRefused ? Math.min(2 * patient, patience.longest) : patience.first
    if (wait > 0) await delay(wait)
  }
}

async function oneAction(api: Api, known: Known): Promise<void> {
  const dice = Math.random()
  if (dice < 0.3) return submit(api, known, { confidence: 0.95 })
  if (dice < 0.55) return submit(api, known, {})
  if (dice < 0.65) return submit(api, known, { confidence: 0.95, ...someTarget(known) })
  if (dice < 0.7) return submit(api, known, someTarget(known))
  if (dice < 0.85) return decide(known, (id) => api.approve(id))
  if (dice < 0.93) return dismiss(api, known)
  if (dice < 0.96) return reopen(api, known)
  return decide(known, async (id) => {
    const [approval, dismissal] = await Promise.all([api.approve(id), api.dismiss(id)])
    if (approval === 'done' && dismissal === 'done') throw new Error(`${id} was both approved and dismissed`)
    return approval === 'unknown' || dismissal === 'unknown' ? 'unknown' : 'done'
  })
}

function someTarget(known: Known): { target?: string } {
  const target = pick(known.seqIds)
  return target === undefined ? {} : { target }
}

async function submit(api: Api, known: Known, options: { confidence?: number; target?: string }): Promise<void> {
  const receipt = await api.submit(newSubmission(options))
  if (receipt?.status === 'pending') known.pending.push(receipt.candidateId)
  if (receipt?.seqId !== undefined) known.seqIds.push(receipt.seqId)
}

/** Decides on a candidate; one whose answer never came is decided upon again later. */
async function decide(known: Known, act: (id: string) => Promise<string>): Promise<void> {
  const id = take(known.pending)
  if (id !== undefined && (await act(id)) === 'unknown') known.pending.push(id)
}

async function dismiss(api: Api, known: Known): Promise<void> {
  const id = take(known.pending)
  if (id === undefined) return
  const outcome = await api.dismiss(id)
  if (outcome === 'done') known.dismissed.push(id)
  if (outcome === 'unknown') known.pending.push(id)
}

async function reopen(api: Api, known: Known): Promise<void> {
  const id = take(known.dismissed)
  if (id !== undefined && (await api.reopen(id)) === 'done') known.pending.push(id)
}

function pick<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)]
}

function take<T>(list: T[]): T | undefined {
  return list.splice(Math.floor(Math.random() * list.length), 1)[0]
}
