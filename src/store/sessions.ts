import type { Kysely } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { PersonRole } from '../contract/vocabulary.ts'
import type { Schema, SessionRow } from './schema.ts'
import { createSecret, hashSecret } from './secret.ts'

/** Milliseconds after its last use, and after its beginning, at which a session ends. */
const idleTime = 12 * 60 * 60 * 1000
const lifetime = 7 * 24 * 60 * 60 * 1000
/** Milliseconds between two records of a session's use. */
const useInterval = 60_000
/** Milliseconds for which the token before is taken: by requests that were on their way when it was replaced. */
const grace = 30_000

export type StoredSession = {
  /** UUIDv7. */
  id: string
  userId: string
  /** Where the person works now, and the role there when the token was made. */
  tenantId: string
  role: PersonRole
  formSecret: string
  address: string
  agent: string
  /** ISO 8601, UTC. */
  createdAt: string
  usedAt: string
}

export type NewSession = Pick<StoredSession, 'userId' | 'tenantId' | 'role' | 'address' | 'agent'>

/** Signed-in people. The tokens themselves are stored nowhere: only their SHA-256 is. */
export class Sessions {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** The token is in this answer only. */
  async create(session: NewSession, now: Date): Promise<{ session: StoredSession; token: string }> {
    const { token, hash } = newToken()
    const row: SessionRow = {
      id: uuidv7(),
      user_id: session.userId,
      tenant_id: session.tenantId,
      role: session.role,
      hash,
      previous_hash: null,
      rotated_at: null,
      form_secret: createSecret(),
      address: session.address,
      agent: session.agent,
      created_at: now.toISOString(),
      used_at: now.toISOString(),
    }
    await this.#db.insertInto('sessions').values(row).execute()
    return { session: toSession(row), token }
  }

  /**
   * The session of a token of an enabled user, unless it has ended. `isReplaced`: by a newer token, which another answer carries.
   */
  async find(token: string, now: Date): Promise<{ session: StoredSession; isReplaced: boolean } | undefined> {
    const hash = hashSecret(token)
    if (hash === undefined) return undefined
    const row = await this.#db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .selectAll('sessions')
      .where((where) =>
        where.or([
          where('hash', '=', hash),
          where.and([where('previous_hash', '=', hash), where('rotated_at', '>', before(now, grace))]),
        ]),
      )
      .where('used_at', '>', before(now, idleTime))
      .where('sessions.created_at', '>', before(now, lifetime))
      .where('users.disabled_at', 'is', null)
      .executeTakeFirst()
    return row && { session: toSession(row), isReplaced: row.hash !== hash }
  }

  /** Records a use, at most once a minute. */
  async recordUse({ id, usedAt }: StoredSession, now: Date): Promise<void> {
    if (now.getTime() - Date.parse(usedAt) < useInterval) return
    await this.#db
      .updateTable('sessions')
      .set({ used_at: now.toISOString() })
      .where('id', '=', id)
      .where('used_at', '<', now.toISOString())
      .execute()
  }

  /** Moves a session to a tenant and role, under a new token. Undefined where it has ended, or another request moved it. */
  async rotate(
    { id, tenantId, role }: StoredSession,
    to: Pick<StoredSession, 'tenantId' | 'role'>,
    now: Date,
  ): Promise<string | undefined> {
    const { token, hash } = newToken()
    const row = await this.#db
      .updateTable('sessions')
      .set((set) => ({
        tenant_id: to.tenantId,
        role: to.role,
        hash,
        previous_hash: set.ref('hash'),
        rotated_at: now.toISOString(),
      }))
      .where('id', '=', id)
      .where('tenant_id', '=', tenantId)
      .where('role', '=', role)
      .returning('id')
      .executeTakeFirst()
    return row && token
  }

  async end(id: string): Promise<void> {
    await this.#db.deleteFrom('sessions').where('id', '=', id).execute()
  }

  /** Removes sessions that have ended by time; answers how many. */
  async sweep(now: Date): Promise<number> {
    const result = await this.#db
      .deleteFrom('sessions')
      .where((where) =>
        where.or([where('used_at', '<=', before(now, idleTime)), where('created_at', '<=', before(now, lifetime))]),
      )
      .executeTakeFirst()
    return Number(result.numDeletedRows)
  }
}

function newToken(): { token: string; hash: string } {
  const token = createSecret()
  const hash = hashSecret(token)
  if (hash === undefined) throw new Error('A new token is malformed.')
  return { token, hash }
}

function before(now: Date, ms: number): string {
  return new Date(now.getTime() - ms).toISOString()
}

function toSession(row: SessionRow): StoredSession {
  return {
    id: row.id,
    userId: row.user_id,
    tenantId: row.tenant_id,
    role: row.role,
    formSecret: row.form_secret,
    address: row.address,
    agent: row.agent,
    createdAt: row.created_at,
    usedAt: row.used_at,
  }
}
