import { openContext } from '../../app/open-context.ts'
import type { VerifyOrder } from './verifications.ts'
import { verify } from './verify.ts'

/** Verifies knowledge bases. In a separate process, since comparing whole tables would block requests. */
async function run({ kbs, ...options }: VerifyOrder): Promise<void> {
  const ctx = await openContext(options)
  try {
    const verification = await verify(ctx, kbs)
    await new Promise((resolve) => process.send?.(verification, resolve))
  } finally {
    await ctx.close()
  }
  process.disconnect?.()
}

process.once('message', (order: VerifyOrder) => void run(order))
// The server has ended.
process.once('disconnect', () => process.exit())
