import type { Kysely, Transaction } from 'kysely'
import type { Notifications } from '../database/notifications.ts'
import type { Schema } from '../database/schema.ts'
import { deleteRows, findRow, findRows, Store } from '../database/store.ts'
import { inTransaction } from '../database/transaction.ts'

/** Pack in the store of packs. `key`: its key there; `name`: its checksum, git's name for it; `size`: in bytes. */
export type PackEntry = { key: string; name: string; size: number }
type Move = { ref: string; to: string }

export type RepositoryState = {
  /** Number of the last change; 0 before the first publication. */
  version: number
  refs: ReadonlyMap<string, string>
  /** Packs that contain all objects reachable from the refs. */
  packs: readonly PackEntry[]
}

export type Change = {
  pack: PackEntry
  /** Required value of each ref, moved or not; undefined: it must not exist. */
  heads: ReadonlyMap<string, string | undefined>
  moves: readonly Move[]
  /** Function called before the commit. If it throws, the change is undone. */
  check?: () => void
}

/** Thrown if another process moved a ref, or replaced a pack, first. */
class MovedByOther extends Error {}

/** Maximum attempts to read a state that keeps changing. */
const readAttempts = 20

/** Refs and packs of repositories that several machines share, by knowledge base. */
export class Repositories extends Store {
  readonly #notifications: Notifications

  /** Opens the table. @param notifications channel for moved refs */
  constructor(db: Kysely<Schema>, notifications: Notifications) {
    super(db)
    this.#notifications = notifications
  }

  /** Returns the ids of the knowledge bases that have a repository. */
  async list(): Promise<string[]> {
    return (await findRows(this.db, 'repositories', {})).map((row) => row.kb_id)
  }

  async version(kbId: string): Promise<number> {
    return (await findRow(this.db, 'repositories', { kb_id: kbId }))?.version ?? 0
  }

  /** Returns the refs and packs of a single version. */
  async state(kbId: string): Promise<RepositoryState> {
    for (let attempt = 1; ; attempt++) {
      const version = await this.version(kbId)
      const [refs, packs] = await Promise.all([
        findRows(this.db, 'repository_refs', { kb_id: kbId }),
        findRows(this.db, 'repository_packs', { kb_id: kbId, replaced_at: null }),
      ])
      // Each change raises the version in its own transaction, so an equal version proves that nothing changed.
      if ((await this.version(kbId)) === version) {
        return {
          version,
          refs: new Map(refs.map(({ ref, oid }) => [ref, oid])),
          packs: packs.map(({ key, name, size }) => ({ key, name, size })),
        }
      }
      if (attempt === readAttempts) throw new Error('A repository changed each time that it was read.')
    }
  }

  /**
   * Adds a pack and moves refs, or does nothing if a ref does not have its required value.
   * @returns the new version; undefined if nothing was done
   * @throws {ConnectionLost} if the outcome is unknown: see {@link isNamed}
   */
  async publish(kbId: string, { pack, heads, moves, check }: Change): Promise<number | undefined> {
    const work = async (transaction: Transaction<Schema>) => {
      const version = await raiseVersion(transaction, kbId, 1)
      if (!(await holds(transaction, kbId, heads))) throw new MovedByOther()
      for (const move of moves) await moveRef(transaction, kbId, move)
      await namePack(transaction, kbId, pack)
      await this.#notifications.send(transaction, 'refs', kbId)
      check?.()
      return version
    }
    return this.#unlessMoved(work)
  }

  /**
   * Replaces packs by one that contains all of their objects, if all of them are still needed. The replaced ones stay in the store
   * for current readers: see {@link replacedBefore}.
   * @param keys of the replaced packs
   * @returns true if it was done
   */
  async replacePacks(kbId: string, pack: PackEntry, keys: readonly string[], now: Date): Promise<boolean> {
    const work = async (transaction: Transaction<Schema>) => {
      await raiseVersion(transaction, kbId, 1)
      const replaced = await transaction
        .updateTable('repository_packs')
        .set({ replaced_at: now.toISOString() })
        .where('kb_id', '=', kbId)
        .where('key', 'in', keys)
        .where('replaced_at', 'is', null)
        .executeTakeFirst()
      if (replaced.numUpdatedRows !== BigInt(keys.length)) throw new MovedByOther()
      await namePack(transaction, kbId, pack)
      await this.#notifications.send(transaction, 'refs', kbId)
      return true
    }
    return (await this.#unlessMoved(work)) ?? false
  }

  /** Returns the keys of packs that were replaced before a time. */
  async replacedBefore(time: Date): Promise<string[]> {
    const query = this.db.selectFrom('repository_packs').select('key').where('replaced_at', '<', time.toISOString())
    return (await query.execute()).map(({ key }) => key)
  }

  async forgetPack(key: string): Promise<void> {
    await this.db.deleteFrom('repository_packs').where('key', '=', key).where('replaced_at', 'is not', null).execute()
  }

  /** Returns those keys whose packs are in a row, replaced ones included. */
  async named(keys: readonly string[]): Promise<Set<string>> {
    if (keys.length === 0) return new Set()
    const query = this.db.selectFrom('repository_packs').select('key').where('key', 'in', keys)
    return new Set((await query.execute()).map(({ key }) => key))
  }

  /** Removes a repository's rows. Its packs in the store become orphans. */
  async remove(kbId: string): Promise<void> {
    const work = async (transaction: Transaction<Schema>) => {
      await empty(transaction, kbId)
      await deleteRows(transaction, 'repositories', { kb_id: kbId })
    }
    await inTransaction(this.db, work, 'read committed')
  }

  /** Replaces all refs and packs of a repository. Can be repeated. */
  async replace(repository: Parameters<typeof insertRepository>[1]): Promise<void> {
    const work = async (transaction: Transaction<Schema>) => {
      await empty(transaction, repository.kbId)
      await insertRepository(transaction, repository)
    }
    await inTransaction(this.db, work, 'read committed')
  }

  /** Returns the value of a ref by knowledge base, where it exists. */
  async refEverywhere(ref: string): Promise<ReadonlyMap<string, string>> {
    return new Map((await findRows(this.db, 'repository_refs', { ref })).map(({ kb_id, oid }) => [kb_id, oid]))
  }

  /** True if a pack is in a row. Waits first for the end of concurrent changes of the repository. */
  async isNamed(kbId: string, key: string): Promise<boolean> {
    const work = async (transaction: Transaction<Schema>) => {
      await raiseVersion(transaction, kbId, 0)
      return (await findRow(transaction, 'repository_packs', { key })) !== undefined
    }
    return inTransaction(this.db, work, 'read committed')
  }

  async #unlessMoved<Result>(work: (transaction: Transaction<Schema>) => Promise<Result>): Promise<Result | undefined> {
    try {
      return await inTransaction(this.db, work, 'read committed')
    } catch (error) {
      if (error instanceof MovedByOther) return undefined
      throw error
    }
  }
}

/** Creates the rows of a new repository, in the transaction that creates its knowledge base. */
export async function insertRepository(
  transaction: Transaction<Schema>,
  { kbId, refs, packs }: { kbId: string; refs: ReadonlyMap<string, string>; packs: readonly PackEntry[] },
): Promise<void> {
  await raiseVersion(transaction, kbId, 1)
  for (const [ref, to] of refs) await moveRef(transaction, kbId, { ref, to })
  for (const pack of packs) await namePack(transaction, kbId, pack)
}

async function empty(transaction: Transaction<Schema>, kbId: string): Promise<void> {
  await raiseVersion(transaction, kbId, 1)
  await deleteRows(transaction, 'repository_packs', { kb_id: kbId })
  await deleteRows(transaction, 'repository_refs', { kb_id: kbId })
}

/** Raises the version of a repository. Every change does this first, and so waits until concurrent ones are committed. */
async function raiseVersion(transaction: Transaction<Schema>, kbId: string, by: 0 | 1): Promise<number> {
  const { version } = await transaction
    .insertInto('repositories')
    .values({ kb_id: kbId, version: by })
    .onConflict((conflict) =>
      conflict.column('kb_id').doUpdateSet(({ eb, ref }) => ({ version: eb(ref('repositories.version'), '+', by) })),
    )
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

async function holds(
  transaction: Transaction<Schema>,
  kbId: string,
  heads: ReadonlyMap<string, string | undefined>,
): Promise<boolean> {
  const rows = await findRows(transaction, 'repository_refs', { kb_id: kbId })
  const refs = new Map(rows.map(({ ref, oid }) => [ref, oid]))
  return [...heads].every(([ref, oid]) => refs.get(ref) === oid)
}

async function moveRef(transaction: Transaction<Schema>, kbId: string, { ref, to }: Move): Promise<void> {
  await transaction
    .insertInto('repository_refs')
    .values({ kb_id: kbId, ref, oid: to })
    .onConflict((conflict) => conflict.columns(['kb_id', 'ref']).doUpdateSet({ oid: to }))
    .execute()
}

async function namePack(transaction: Transaction<Schema>, kbId: string, pack: PackEntry): Promise<void> {
  await transaction
    .insertInto('repository_packs')
    .values({ ...pack, kb_id: kbId, replaced_at: null })
    .execute()
}
