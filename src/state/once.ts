import { createHash } from 'node:crypto'
import { GanglionError } from '../contract/errors.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Idempotency } from './idempotency-store.ts'

/** A request with an `Idempotency-Key`. */
export type KeyedRequest<Result> = {
  idempotencyKey: string | undefined
  /** Method and path. */
  route: string
  /** What the key is bound to. */
  body: unknown
  /** For what the request creates. */
  newId: () => string
  /** Reads an answer that was given before. */
  parse: (answer: unknown) => Result
}

/**
 * Does work at most once for an idempotency key, even across a crash: the id is reserved first. Without a key the work is simply
 * done.
 * @param work may find that what it is to create under the id is there.
 * @throws {GanglionError} `idempotency_key_reused`
 */
export async function once<Result>(
  { idempotency, now }: { idempotency: Idempotency; now: () => Date },
  { tenantId, id: callerId }: Caller,
  { idempotencyKey, route, body, newId, parse }: KeyedRequest<Result>,
  work: (id: string) => Promise<Result>,
): Promise<Result> {
  const id = newId()
  if (idempotencyKey === undefined) return work(id)
  const bodyHash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const request = { tenantId, callerId, idempotencyKey, route, bodyHash, subjectId: id }
  const attempt = await idempotency.begin(request, now())
  if (attempt.state === 'mismatch') throw new GanglionError('idempotency_key_reused')
  if (attempt.state === 'replay') return parse(attempt.body)
  try {
    const result = await work(attempt.subjectId)
    await idempotency.finish(request, { status: 201, body: result })
    return result
  } catch (error) {
    // A retry may continue an attempt that got further than this one.
    if (attempt.state === 'new' && error instanceof GanglionError) await idempotency.forget(request)
    else await idempotency.abandon(request)
    throw error
  }
}
