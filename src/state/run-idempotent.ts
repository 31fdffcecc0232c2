import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Schema } from './database/schema.ts'
import type { Idempotency } from './idempotency-store.ts'

/** Request that creates something, and its `Idempotency-Key`, if it has one. */
export type KeyedRequest<Result> = {
  idempotencyKey: string | undefined
  /** Method and path of the request. */
  route: string
  /** Value that the key is bound to. */
  body: unknown
  /** Returns a new id for the object that the request creates. */
  newId: () => string
  /** Parses a stored answer. */
  parse: (answer: unknown) => Result
  /** Returns the answer for what an attempt has committed under the id; undefined if it committed nothing. */
  committed: (id: string) => Promise<Result | undefined>
}

/** Stores the answer in the transaction that creates the object, if the request has a key. */
export type KeepAnswer<Result> = (transaction: Transaction<Schema>, result: Result) => Promise<void>

type Stores = { idempotency: Idempotency; now: () => Date; onError: (error: unknown) => void }

/**
 * Does work at most once for an idempotency key, even across a crash: the id is reserved first. After the first durable effect, the
 * answer is always the committed state, with a key or without: a later error is reported, not thrown.
 * @param work throws if it commits nothing; `committed` finds a part that it has committed
 * @throws {GanglionError} `idempotency_key_reused`; errors of the work, if nothing is committed or that is unknown
 */
export async function runIdempotent<Result>(
  stores: Stores,
  { tenantId, id: callerId }: Caller,
  keyed: KeyedRequest<Result>,
  work: (id: string, keep: KeepAnswer<Result>) => Promise<Result>,
): Promise<Result> {
  const { idempotency, onError } = stores
  const { idempotencyKey, route, body, newId, parse, committed } = keyed
  const id = newId()
  const once = () => work(id, async () => {})
  if (idempotencyKey === undefined) return orCommitted(stores, () => committed(id), once)
  const bodyHash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const request = { tenantId, callerId, idempotencyKey, route, bodyHash, subjectId: id }
  const attempt = await idempotency.begin(request, stores.now())
  if (attempt.state === 'mismatch') throw new GanglionError('idempotency_key_reused')
  if (attempt.state === 'replay') return parse(attempt.body)
  const { subjectId } = attempt
  const found = async () => {
    const present = await committed(subjectId)
    if (present !== undefined) return present
    // The answer may have been committed together with its object.
    const stored = await idempotency.answer(request)
    return stored && parse(stored.body)
  }
  const { result, error, isUnwritten } = await attemptTo(found, async () => {
    const earlier = attempt.state === 'retry' ? await committed(subjectId) : undefined
    if (earlier !== undefined) return earlier
    return work(subjectId, (transaction, result) => idempotency.finishWithin(transaction, request, answerOf(result)))
  })
  if (result === undefined) {
    // An earlier attempt may have got further than this retry, so only a first attempt has certainly written nothing.
    const isRejection = error instanceof GanglionError || error instanceof ValidationError
    const isRefused = attempt.state === 'new' && isUnwritten && isRejection
    await (isRefused ? idempotency.forget(request) : idempotency.abandon(request))
    throw error
  }
  if (error !== undefined) onError(error)
  // If this fails, the next request with this key finds the committed object.
  await idempotency.finish(request, answerOf(result)).catch(onError)
  return result
}

/**
 * Creates something with a secret, as {@link runIdempotent}. The stored answer lacks the secret, which must not be at rest. A repeated
 * request gets null instead.
 */
export async function createWithSecret<Result extends object>(
  stores: Stores,
  caller: Caller,
  keyed: Omit<KeyedRequest<Result>, 'newId'>,
  create: (id: string) => Promise<Result & { secret: string }>,
): Promise<Result & { secret: string | null }> {
  let shown: string | null = null
  const made = await runIdempotent<Result>(stores, caller, { ...keyed, newId: () => uuidv7() }, async (id) => {
    const { secret, ...rest } = await create(id)
    shown = secret
    return keyed.parse(rest)
  })
  return { ...made, secret: shown }
}

function answerOf(body: unknown): { status: number; body: unknown } {
  return { status: 201, body }
}

/**
 * Does work that may commit a part before an error. After the first durable effect, the answer is always the committed state.
 * @param undo removes prepared data if nothing is committed
 * @throws errors of the work, if nothing is committed or that is unknown
 */
export async function orCommitted<Result>(
  { onError }: Pick<Stores, 'onError'>,
  committed: () => Promise<Result | undefined>,
  work: () => Promise<Result>,
  undo = async () => {},
): Promise<Result> {
  const { result, error, isUnwritten } = await attemptTo(committed, work)
  if (isUnwritten) await undo()
  if (result === undefined) throw error
  if (error !== undefined) onError(error)
  return result
}

type Outcome<Result> = { result?: Result; error?: unknown; isUnwritten?: boolean }

async function attemptTo<Result>(
  committed: () => Promise<Result | undefined>,
  work: () => Promise<Result>,
): Promise<Outcome<Result>> {
  try {
    return { result: await work() }
  } catch (error) {
    try {
      const result = await committed()
      return result === undefined ? { error, isUnwritten: true } : { result, error }
    } catch {
      return { error }
    }
  }
}
