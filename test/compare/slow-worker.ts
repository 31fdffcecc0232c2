import { setTimeout as delay } from 'node:timers/promises'

/** Returns the milliseconds that it took. */
export default async function wait(ms: number): Promise<number> {
  await delay(ms)
  return ms
}
