import { setTimeout as delay } from 'node:timers/promises'
import { Api, type Tolerance } from './api.ts'
import { type Known, runClient } from './clients.ts'
import type { Ledger } from './ledger.ts'

const clientsAtOnce = 6

export type Load = { ledger: Ledger; known: Known; forMs: number; tolerance: Tolerance; pauseMs?: number }

/** Several clients at work for some milliseconds; `meanwhile` runs beside them. */
export async function load(
  { url, token }: { url: string; token: string },
  { ledger, known, forMs, tolerance, pauseMs = 0 }: Load,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  let isOver = false
  const api = new Api(url, token, ledger, tolerance)
  const clients = Array.from({ length: clientsAtOnce }, () => runClient(api, ledger, known, () => isOver, pauseMs))
  await Promise.all([delay(forMs), meanwhile()])
  isOver = true
  await Promise.all(clients)
}
