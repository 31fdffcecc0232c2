import { v7 as uuidv7 } from 'uuid'
import { type Camel, camelCase, snakeCase, timeAfter } from '../database/row-values.ts'
import type { RowOf } from '../database/schema.ts'
import { changedRows, deleteRows, Store, selectRows } from '../database/store.ts'
import { createSecret, hashSecret } from './secret.ts'

/** Milliseconds after which a session ends: since its last use, and since its beginning. */
const idleTime = 12 * 60 * 60 * 1000
const lifetime = 7 * 24 * 60 * 60 * 1000
/** Milliseconds between two records of a session's use. */
const useInterval = 60_000
/** Milliseconds for which a replaced token is still accepted, for requests already in flight. */
const grace = 30_000

export type StoredSession = Omit<Camel<RowOf<'sessions'>>, 'hash' | 'previousHash' | 'rotatedAt'>

export type NewSession = Pick<StoredSession, 'userId' | 'tenantId' | 'role' | 'address' | 'agent'>

/** Sessions of signed-in people. Only the SHA-256 of a token is stored. */
export class Sessions extends Store {
  /** Starts a session. Only this result contains its token. */
  async create(session: NewSession, now: Date): Promise<{ session: StoredSession; token: string }> {
    const { token, hash } = newToken()
    const at = now.toISOString()
    const row: RowOf<'sessions'> = {
      ...{ ...snakeCase(session), id: uuidv7(), hash, previous_hash: null, rotated_at: null },
      ...{ form_secret: createSecret(), created_at: at, used_at: at },
    }
    await this.db.insertInto('sessions').values(row).execute()
    return { session: toSession(row), token }
  }

  /**
   * Returns the session of a token, if the user is enabled and the session has not ended. `isReplaced`: true if another response has
   * already delivered a newer token.
   */
  async find(token: string, now: Date): Promise<{ session: StoredSession; isReplaced: boolean } | undefined> {
    const hash = hashSecret(token)
    if (hash === undefined) return undefined
    const row = await this.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .selectAll('sessions')
      .where((where) =>
        where.or([
          where('hash', '=', hash),
          where.and([where('previous_hash', '=', hash), where('rotated_at', '>', timeAfter(now, -grace))]),
        ]),
      )
      .where('used_at', '>', timeAfter(now, -idleTime))
      .where('sessions.created_at', '>', timeAfter(now, -lifetime))
      .where('users.disabled_at', 'is', null)
      .executeTakeFirst()
    return row && { session: toSession(row), isReplaced: row.hash !== hash }
  }

  /** Records a use, at most once a minute. */
  async recordUse({ id, usedAt }: StoredSession, now: Date): Promise<void> {
    if (now.getTime() - Date.parse(usedAt) < useInterval) return
    await this.db
      .updateTable('sessions')
      .set({ used_at: now.toISOString() })
      .where('id', '=', id)
      .where('used_at', '<', now.toISOString())
      .execute()
  }

  /**
   * Moves a session to another tenant and role, with a new token. `from`: tenant where it must be now. The old token is accepted for a
   * short time. Undefined if the session has ended or is elsewhere.
   */
  async rotate(
    id: string,
    to: Pick<StoredSession, 'tenantId' | 'role'>,
    now: Date,
    from?: Pick<StoredSession, 'tenantId' | 'role'>,
  ): Promise<string | undefined> {
    const { token, hash } = newToken()
    const row = await this.db
      .updateTable('sessions')
      .set((set) => ({
        tenant_id: to.tenantId,
        role: to.role,
        hash,
        previous_hash: from === undefined ? null : set.ref('hash'),
        rotated_at: now.toISOString(),
      }))
      .where('id', '=', id)
      .$if(from !== undefined, (query) =>
        query.where('tenant_id', '=', from?.tenantId ?? '').where('role', '=', from?.role ?? 'reader'),
      )
      .returning('id')
      .executeTakeFirst()
    return row && token
  }

  /** Returns a user's sessions that have not ended, most recently used first. */
  async list(userId: string, now: Date): Promise<StoredSession[]> {
    const rows = await selectRows(this.db, 'sessions', { user_id: userId })
      .where('used_at', '>', timeAfter(now, -idleTime))
      .where('created_at', '>', timeAfter(now, -lifetime))
      .orderBy('used_at', 'desc')
      .execute()
    return rows.map(toSession)
  }

  /** Ends a session of a user. Returns false if there was none. */
  async end(userId: string, id: string): Promise<boolean> {
    return (await deleteRows(this.db, 'sessions', { user_id: userId, id })) > 0
  }

  /** Ends all sessions of a user, or all but one. Returns their number. */
  async endAll(userId: string, except?: string): Promise<number> {
    const all = this.db.deleteFrom('sessions').where('user_id', '=', userId)
    return changedRows(except === undefined ? all : all.where('id', '!=', except))
  }

  /** Ends the sessions of all users. */
  async clear(): Promise<void> {
    await deleteRows(this.db, 'sessions', {})
  }

  /** Removes expired sessions. Returns their number. */
  async sweep(now: Date): Promise<number> {
    const [idleSince, endedSince] = [timeAfter(now, -idleTime), timeAfter(now, -lifetime)]
    return changedRows(
      this.db
        .deleteFrom('sessions')
        .where((where) => where.or([where('used_at', '<=', idleSince), where('created_at', '<=', endedSince)])),
    )
  }
}

function newToken(): { token: string; hash: string } {
  const token = createSecret()
  const hash = hashSecret(token)
  if (hash === undefined) throw new Error('A new token is malformed.')
  return { token, hash }
}

function toSession({ hash: _, previous_hash: __, rotated_at: ___, ...row }: RowOf<'sessions'>): StoredSession {
  return camelCase(row)
}
