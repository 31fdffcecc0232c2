import { readFile } from 'node:fs/promises'
import { hashObject } from '../git/object.ts'
import type { Actor } from '../knowledge/candidate.ts'
import { blobAtPath } from '../store/neuron-queries.ts'
import { commitMessage, signatureOf } from './commit-message.ts'
import type { PlannedFile } from './import-plan.ts'
import type { KnowledgeBase } from './knowledge-base.ts'

const batchBytes = 16 * 1024 * 1024

/** Puts files beside the notes that show them, and gives how many were new or changed. */
export async function importAttachments(
  kb: KnowledgeBase,
  attachments: readonly PlannedFile[],
  { actor, now }: { actor: Actor; now: () => Date },
): Promise<number> {
  let imported = 0
  let batch = new Map<string, Buffer>()
  let bytes = 0
  const flush = async () => {
    if (batch.size === 0) return
    const files = batch
    const at = now()
    const message = commitMessage(`Import ${files.size} attachments`, { Connector: 'import' })
    await kb.write((staging) => kb.commitToMain(staging, { files, message, author: signatureOf(actor, at), at }))
    imported += files.size
    batch = new Map()
    bytes = 0
  }
  for (const { path, absolute } of attachments) {
    const data = await readFile(absolute)
    if (blobAtPath(kb.projection.read, path) === hashObject('blob', data)) continue
    batch.set(path, data)
    bytes += data.length
    if (bytes >= batchBytes) await flush()
  }
  await flush()
  return imported
}
