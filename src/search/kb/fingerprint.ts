import { createHash } from 'node:crypto'
import type { IndexedDocument } from '../search-index.ts'

/** Other where any chunk is other: how a text is divided depends on the time that it may take, too. */
export function indexFingerprint({ version, chunks }: IndexedDocument): string {
  const hash = createHash('sha256').update(version)
  for (const { content } of chunks) hash.update('\0').update(content)
  return hash.digest('hex')
}
