import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type { Context } from '../../kb/context.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { BlobNotFound } from '../../state/blobs/blob-store.ts'
import { forEachAtOnce } from '../../system/concurrency/for-each-at-once.ts'

const readAtOnce = 4

/** Returns the Sources whose bytes are missing or differ from the upload. Reads all of them. */
export async function verifySources({ sources, blobs }: Context, kbId: string): Promise<string[]> {
  const wrong: string[] = []
  await forEachAtOnce(await sources.all(kbId), readAtOnce, async ({ id, filename, contentHash }) => {
    const hash = createHash('sha256')
    const problem = await blobs.get(contentHash).then(
      async (bytes) => {
        await pipeline(bytes, hash)
        return hash.digest('hex') === contentHash ? undefined : 'damaged'
      },
      (error: unknown) => {
        if (error instanceof BlobNotFound) return 'gone'
        throw error
      },
    )
    if (problem) wrong.push(`The bytes of ${oneLine(filename, 200)} (${id}) are ${problem}: ${contentHash}`)
  })
  return wrong
}
