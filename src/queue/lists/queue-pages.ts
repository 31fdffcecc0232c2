import { z } from 'zod'
import { ValidationError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import { readTables } from '../../kb/kb-access.ts'
import type { KbIdentity } from '../../kb/knowledge-base.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import {
  byPosition,
  type QueueFilter,
  type QueuePlace,
  type QueuePosition,
  queuePage,
  queuePosition,
} from '../../kb/projection/candidate-queue.ts'
import type { AllTables } from '../../kb/projection/projection.ts'
import type { Caller } from '../../rules/access/caller.ts'

const Position = z.tuple([z.int(), z.int(), z.string()])

/** A knowledge base whose queue is read, perhaps without opening it. */
export type QueuedKb = { identity: KbIdentity; read: <Result>(work: (sql: AllTables) => Result) => Promise<Result> }

export type QueuedRow = { kb: QueuedKb; row: CandidateRow }

/** One knowledge base of the tenant, or all of them. @throws {GanglionError} `not_found` */
export async function queuedKbs(ctx: Context, { tenantId }: Caller, kb: string | undefined): Promise<QueuedKb[]> {
  const one = kb === undefined ? undefined : await ctx.kb(tenantId, kb)
  const identities = one === undefined ? await ctx.knowledgeBases.list(tenantId) : [one.identity]
  return identities.map((identity) => ({ identity, read: (work) => readTables(ctx, identity, work) }))
}

/** See `queuePage`; of several knowledge bases as if they had one queue. */
export async function pageAcross(
  kbs: readonly QueuedKb[],
  filter: QueueFilter,
  place: QueuePlace | undefined,
  limit: number,
): Promise<QueuedRow[]> {
  const rows: QueuedRow[] = []
  for (const kb of kbs) {
    rows.push(...(await kb.read((sql) => queuePage(sql, filter, place, limit))).map((row) => ({ kb, row })))
  }
  const found = rows.sort((a, b) => byPosition(queuePosition(a.row), queuePosition(b.row)))
  return place !== undefined && 'before' in place ? found.slice(-limit) : found.slice(0, limit)
}

export function encodeCursor({ red, impact, id }: QueuePosition): string {
  return Buffer.from(JSON.stringify([red, impact, id])).toString('base64url')
}

/** @throws {ValidationError} on the field, for a cursor that no page gave. */
export function decodeCursor(field: string, cursor: string): QueuePosition {
  try {
    const [red, impact, id] = Position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    return { red, impact, id }
  } catch {
    throw new ValidationError({ [field]: ['must be the nextCursor of an earlier answer'] })
  }
}
