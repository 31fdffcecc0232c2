import type { Oid } from '../git/objects/object.ts'
import { StagedRepository } from '../git/staged-repository.ts'
import type { KnowledgeBase, TriedOut } from './knowledge-base.ts'
import type { ReadableKb } from './readable-kb.ts'

/** Knowledge base in the state that work which was tried out would leave. */
export type LaidOverKb = ReadableKb & { laidOver: object } & {
  /** Commit of main that it is based on. */
  main: Oid | undefined
  /** Bytes that it adds to the repository. */
  size: number
  close: () => void
}

let revisions = 0

/**
 * Opens the state that a knowledge base would have. It stays in that state until it is closed, and is read like any other. Undefined if
 * main has moved since the work was tried out.
 */
export async function openLaidOverKb(
  kb: KnowledgeBase,
  tried: Omit<TriedOut<unknown>, 'result'>,
): Promise<LaidOverKb | undefined> {
  const { sql, close } = await kb.projection.layOver(tried.changes)
  const { main, queue } = kb.projection.heads(sql)
  if (main !== tried.main) {
    close()
    return undefined
  }
  const heads = { main: tried.head, queue }
  const revision = --revisions
  const ofVersions = tried.changes.filter(({ table }) => table === 'versions').flatMap(({ gone }) => gone)
  const laid: LaidOverKb = {
    identity: kb.identity,
    parser: kb.parser,
    repository: new StagedRepository(kb.repository, tried.objects),
    projection: { revision: () => revision, heads: () => heads, read: sql, withSnapshot: (work) => work(sql) },
    heads: () => heads,
    settings: () => kb.settings(),
    whole: async () => ({ ...laid, projection: { read: sql } }),
    laidOver: { on: kb, changed: [...new Set(ofVersions.map(([seqId]) => String(seqId)))].sort() },
    main,
    size: [...tried.objects.values()].reduce((sum, { data }) => sum + data.length, 0),
    close,
  }
  return laid
}
