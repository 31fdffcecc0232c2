import { z } from 'zod'
import { ValidationError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import { isUnavailable } from '../../kb/failure.ts'
import { readTables } from '../../kb/kb-access.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { AskedCurator } from '../../kb/projection/asked-of.ts'
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
import { askedCurator, askingCurator } from './asked-curator.ts'

const Position = z.tuple([z.int(), z.int(), z.string()])

/** Knowledge base whose queue is read, without opening it if possible. */
export type QueuedKb = {
  identity: KbIdentity
  /** Runs work on the tables. Returns undefined if one of several knowledge bases is unreadable now, so that the list does not fail. */
  read: <Result>(work: (sql: AllTables) => Result) => Promise<Result | undefined>
  isUnavailable: boolean
  /** Demands on the caller, if only what waits for them is listed. */
  asked?: AskedCurator | undefined
}

export type QueuedRow = { kb: QueuedKb; row: CandidateRow }

/**
 * Returns one knowledge base of the tenant, or all of them. @param whose `me` to list only what waits for the caller
 * @throws {GanglionError} `not_found`
 */
export async function queuedKbs(
  ctx: Context,
  caller: Caller,
  kb: string | undefined,
  whose?: 'me' | undefined,
): Promise<QueuedKb[]> {
  const { tenantId } = caller
  const one = kb === undefined ? undefined : await ctx.kb(tenantId, kb)
  const identities = one === undefined ? await ctx.knowledgeBases.list(tenantId) : [one.identity]
  const person = whose === undefined ? undefined : await askingCurator(ctx, caller)
  const kbs = identities.map(async (identity) => {
    const queued: QueuedKb = {
      identity,
      isUnavailable: false,
      read: (work) =>
        readTables(ctx, identity, work).catch((error: unknown) => {
          if (one !== undefined || !isUnavailable(error)) throw error
          queued.isUnavailable = true
          return undefined
        }),
    }
    if (person === undefined) return queued
    try {
      queued.asked = await askedCurator(ctx, person, identity)
    } catch (error) {
      if (one !== undefined || !isUnavailable(error)) throw error
      queued.isUnavailable = true
      queued.read = async () => undefined
    }
    return queued
  })
  return Promise.all(kbs)
}

/** Returns the slugs of knowledge bases that could not be read. */
export function unavailableAmong(kbs: readonly QueuedKb[]): string[] {
  return kbs.flatMap(({ isUnavailable, identity }) => (isUnavailable ? [identity.slug] : []))
}

/** Returns a page of several queues merged into one order; see `queuePage`. */
export async function pageAcross(
  kbs: readonly QueuedKb[],
  filter: QueueFilter,
  place: QueuePlace | undefined,
  limit: number,
): Promise<QueuedRow[]> {
  const rows: QueuedRow[] = []
  for (const kb of kbs) {
    const ofOne = (await kb.read((sql) => queuePage(sql, { ...filter, asked: kb.asked }, place, limit))) ?? []
    rows.push(...ofOne.map((row) => ({ kb, row })))
  }
  const found = rows.sort((a, b) => byPosition(queuePosition(a.row), queuePosition(b.row)))
  return place !== undefined && 'before' in place ? found.slice(-limit) : found.slice(0, limit)
}

export function encodeQueueCursor({ red, impact, id }: QueuePosition): string {
  return Buffer.from(JSON.stringify([red, impact, id])).toString('base64url')
}

/** Decodes the position in a cursor. @throws {ValidationError} on the field, for an unknown cursor */
export function decodeQueueCursor(field: string, cursor: string): QueuePosition {
  try {
    const [red, impact, id] = Position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    return { red, impact, id }
  } catch {
    throw new ValidationError({ [field]: ['must come from an earlier answer'] })
  }
}
