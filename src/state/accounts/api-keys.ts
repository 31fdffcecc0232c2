import type { Kysely } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import type { GitFetch, Role } from '../../contract/vocabulary.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRow, Schema } from '../database/schema.ts'
import { createToken, hashToken, isToken } from './api-token.ts'
import { RevisedCache } from './revised-cache.ts'

export type ApiKey = {
  /** UUIDv7. */
  id: string
  tenantId: string
  name: string
  role: Role
  /** Connectors that the key may speak as. */
  connectors: string[]
  git: GitFetch
  /** ISO 8601, UTC; so are the other times. */
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
  /** Name of whoever made it; null: not known. */
  createdBy: string | null
}

type KnownKey = ApiKey & { isTenantDisabled: boolean }

export type ApiKeyRecord = Pick<ApiKey, 'tenantId' | 'name' | 'role' | 'connectors'> & {
  expiresAt: Date | null
  createdBy?: string
  git?: GitFetch | undefined
}

/** Milliseconds between two records of a key's use. */
const LAST_USE_INTERVAL = 60_000

/** Keys that are kept in memory. */
const maxKnown = 1_000

const Connectors = z.array(z.string())

export class ApiKeys {
  readonly #db: Kysely<Schema>
  /** By the hash of their token. */
  readonly #known: RevisedCache<KnownKey>
  /** When the use of a key was last recorded, in milliseconds since the epoch. */
  readonly #lastUses = new Map<string, number>()

  constructor({ db, revision }: Pick<Database, 'db' | 'revision'>) {
    this.#db = db
    this.#known = new RevisedCache(revision, { max: maxKnown })
  }

  /** The token is in this answer only: its hash is what is kept. */
  async create(key: ApiKeyRecord, now: Date): Promise<{ key: ApiKey; token: string }> {
    const token = createToken()
    const row: ApiKeyRow = {
      id: uuidv7(),
      tenant_id: key.tenantId,
      name: key.name,
      role: key.role,
      hash: hashToken(token),
      connectors: JSON.stringify(key.connectors),
      created_at: now.toISOString(),
      expires_at: key.expiresAt?.toISOString() ?? null,
      revoked_at: null,
      last_used_at: null,
      created_by: key.createdBy ?? null,
      git: key.git ?? 'shown',
    }
    await this.#db.insertInto('api_keys').values(row).execute()
    return { key: toApiKey(row), token }
  }

  /** The key of a token, or undefined when it is malformed, unknown, expired or revoked. Records its use. */
  async authenticate(token: string, now: Date): Promise<KnownKey | undefined> {
    if (!isToken(token)) return undefined
    const hash = hashToken(token)
    const key = await this.#known.get(hash, () => this.#findUnrevoked(hash))
    if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now.toISOString())) return undefined
    this.#recordUse(key.id, now)
    return key
  }

  async #findUnrevoked(hash: string): Promise<KnownKey | undefined> {
    const row = await this.#db
      .selectFrom('api_keys')
      .innerJoin('tenants', 'tenants.id', 'api_keys.tenant_id')
      .selectAll('api_keys')
      .select('tenants.disabled_at as tenantDisabledAt')
      .where('hash', '=', hash)
      .where('revoked_at', 'is', null)
      .where('tenants.deleted_at', 'is', null)
      .executeTakeFirst()
    return row && { ...toApiKey(row), isTenantDisabled: row.tenantDisabledAt !== null }
  }

  /** Of one tenant, or of all; oldest first, revoked and expired ones included. */
  async list(tenantId?: string): Promise<ApiKey[]> {
    const rows = await this.#db
      .selectFrom('api_keys')
      .selectAll()
      .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId ?? ''))
      .orderBy('id')
      .execute()
    return rows.map(toApiKey)
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const row = await this.#db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
    return row && toApiKey(row)
  }

  /** A tenant's keys, newest first, revoked and expired ones included; those that were made before the key `before`. */
  async page(tenantId: string, { before, limit }: { before?: string | undefined; limit: number }): Promise<ApiKey[]> {
    const rows = await this.#db
      .selectFrom('api_keys')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toApiKey)
  }

  /** The tenant's key that is revoked; undefined where there is none. Again: it keeps its first time. */
  async revoke(id: string, now: Date, tenantId: string): Promise<ApiKey | undefined> {
    const row = await this.#db
      .updateTable('api_keys')
      .set((set) => ({ revoked_at: set.fn.coalesce('revoked_at', set.val(now.toISOString())) }))
      .where('id', '=', id)
      .where('tenant_id', '=', tenantId)
      .returningAll()
      .executeTakeFirst()
    return row && toApiKey(row)
  }

  /** After the request's own work, since it costs a flush to disk. */
  #recordUse(id: string, now: Date): void {
    const last = this.#lastUses.get(id)
    if (last !== undefined && now.getTime() - last < LAST_USE_INTERVAL) return
    this.#lastUses.set(id, now.getTime())
    setImmediate(() => {
      this.#db
        .updateTable('api_keys')
        .set({ last_used_at: now.toISOString() })
        .where('id', '=', id)
        .where((where) =>
          where.or([
            where('last_used_at', 'is', null),
            where('last_used_at', '<=', new Date(now.getTime() - LAST_USE_INTERVAL).toISOString()),
          ]),
        )
        .execute()
        // Nobody waits for it, and nothing depends on it: a busy or closed database means that the next use is recorded.
        .catch(() => this.#lastUses.delete(id))
    })
  }
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    role: row.role,
    connectors: Connectors.parse(JSON.parse(row.connectors)),
    git: row.git === 'all' ? 'all' : 'shown',
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    createdBy: row.created_by,
  }
}
