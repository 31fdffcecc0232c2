import { Ganglion } from '../../ganglion.ts'
import type { VerifyOrder } from './verifications.ts'
import { verify } from './verify.ts'

/** Verifies in a process of its own, since it compares whole tables at once, which would keep requests waiting. */
async function run({ kbs, ...options }: VerifyOrder): Promise<void> {
  const ganglion = await Ganglion.open(options)
  try {
    const verification = await verify(ganglion, kbs)
    await new Promise((resolve) => process.send?.(verification, resolve))
  } finally {
    await ganglion.close()
  }
  process.disconnect?.()
}

process.once('message', (order: VerifyOrder) => void run(order))
// The server has ended.
process.once('disconnect', () => process.exit())
