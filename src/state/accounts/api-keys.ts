import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { KeyLimits } from '../../contract/administration.ts'
import type { GitFetch, KeyAudience } from '../../contract/vocabulary.ts'
import type { Database } from '../database/database.ts'
import { type Camel, camelCase, timeAfter } from '../database/row-values.ts'
import type { RowOf } from '../database/schema.ts'
import { findRow, findRows, Store, selectRows, updateRows } from '../database/store.ts'
import { RevisedCache } from './revised-cache.ts'
import { createToken, hashToken, isToken } from './secret.ts'

type Told = 'hash' | 'grantId' | 'connectors' | 'git' | 'limits' | 'admin'

/**
 * API key. `userId`: the person as whom the key counts, who made it or authorized it for an agent. `makerId`: the key as which it counts
 * otherwise, if a key made it. `isAdmin`: a curator's key that may also manage keys and webhooks.
 */
export type ApiKey = Omit<Camel<RowOf<'api_keys'>>, Told> & {
  isAdmin: boolean
  connectors: string[]
  git: GitFetch
  limits: KeyLimits | null
  isAgent: boolean
}

/** Key with the state of its tenant. `resource`: the URL for which an agent's token is valid. */
type KnownKey = ApiKey & { isTenantDisabled: boolean; resource?: unknown }

export type ApiKeyRecord = Pick<ApiKey, 'tenantId' | 'name' | 'role' | 'connectors'> & {
  expiresAt: Date | null
  createdBy?: string
  git?: GitFetch | undefined
  audience?: KeyAudience | null | undefined
  limits?: KeyLimits | null | undefined
  /** Person who made the key or authorized the agent. */
  userId?: string | undefined
  makerId?: string | undefined
  isAdmin?: boolean | undefined
  /** OAuth grant of an agent, whose key has no token of its own. */
  grantId?: string | undefined
}

/** Milliseconds between two records of a key's use. */
const LAST_USE_INTERVAL = 60_000

/** Maximum cached keys. */
const maxKnown = 1_000

const Connectors = z.array(z.string())
const Granted = z.object({ aud: z.unknown() })

export class ApiKeys extends Store {
  /** Cached keys by the hash of their token. */
  readonly #known: RevisedCache<KnownKey>
  /** Time of the last recorded use of each key, in milliseconds since the epoch. */
  readonly #lastUses = new Map<string, number>()

  constructor({ db, revision }: Pick<Database, 'db' | 'revision'>) {
    super(db)
    this.#known = new RevisedCache(revision, { max: maxKnown })
  }

  /** Creates a key. Only this result contains the token, since its hash is stored. */
  async create(key: ApiKeyRecord, now: Date, id = uuidv7()): Promise<{ key: ApiKey; token: string }> {
    const token = createToken()
    const row: RowOf<'api_keys'> = {
      ...{ id, tenant_id: key.tenantId, name: key.name, role: key.role, hash: hashToken(token) },
      ...{ connectors: JSON.stringify(key.connectors), created_at: now.toISOString(), revoked_at: null },
      ...{ expires_at: key.expiresAt?.toISOString() ?? null, last_used_at: null, created_by: key.createdBy ?? null },
      ...{ git: key.git ?? 'shown', audience: key.audience ?? null, grant_id: key.grantId ?? null },
      ...{ limits: key.limits ? JSON.stringify(key.limits) : null, user_id: key.userId ?? null },
      ...{ maker_id: key.makerId ?? null, admin: Number(key.isAdmin ?? false) },
    }
    await this.db.insertInto('api_keys').values(row).execute()
    return { key: toApiKey(row), token }
  }

  /** Returns the key of a token, or undefined if it is malformed, unknown, expired or revoked. Records its use. */
  async authenticate(token: string, now: Date): Promise<KnownKey | undefined> {
    return isToken(token) ? this.#use(token, now, (hash) => this.#findUnrevoked(hash)) : undefined
  }

  /** Returns the key of an agent's token; undefined if the token is invalid, or the person who authorized it is disabled. */
  async authenticateAgent(token: string, now: Date): Promise<KnownKey | undefined> {
    return this.#use(token, now, (hash) => this.#findGranted(hash))
  }

  async #use(
    token: string,
    now: Date,
    find: (hash: string) => Promise<KnownKey | undefined>,
  ): Promise<KnownKey | undefined> {
    const hash = hashToken(token)
    const key = await this.#known.get(hash, () => find(hash))
    if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now.toISOString())) return undefined
    this.#recordUse(key.id, now)
    return key
  }

  async #findUnrevoked(hash: string): Promise<KnownKey | undefined> {
    const row = await this.db
      .selectFrom('api_keys')
      .innerJoin('tenants', 'tenants.id', 'api_keys.tenant_id')
      .leftJoin('users', 'users.id', 'api_keys.user_id')
      .leftJoin('memberships', (join) =>
        join.onRef('memberships.user_id', '=', 'users.id').onRef('memberships.tenant_id', '=', 'tenants.id'),
      )
      .selectAll('api_keys')
      .select(['tenants.disabled_at as tenantDisabledAt', 'users.disabled_at as personDisabledAt'])
      .select('memberships.role as personRole')
      .where('hash', '=', hash)
      .where('revoked_at', 'is', null)
      .where('tenants.deleted_at', 'is', null)
      .executeTakeFirst()
    if (row === undefined) return undefined
    const { tenantDisabledAt, personDisabledAt, personRole, ...own } = row
    const key = toApiKey(own)
    // An administrator's key ends when the person is no administrator any more.
    const isStillAdmin = key.userId === null || (personRole === 'admin' && personDisabledAt === null)
    if (key.isAdmin && !isStillAdmin) return undefined
    return { ...key, isTenantDisabled: tenantDisabledAt !== null }
  }

  async #findGranted(hash: string): Promise<KnownKey | undefined> {
    const row = await this.db
      .selectFrom('oauth_records as token')
      .innerJoin('api_keys', 'api_keys.grant_id', 'token.grant_id')
      .innerJoin('tenants', 'tenants.id', 'api_keys.tenant_id')
      .innerJoin('users', 'users.id', 'api_keys.user_id')
      .innerJoin('memberships', (join) =>
        join.onRef('memberships.user_id', '=', 'users.id').onRef('memberships.tenant_id', '=', 'tenants.id'),
      )
      .selectAll('api_keys')
      .select(['tenants.disabled_at as tenantDisabledAt', 'token.expires_at as endsAt', 'token.payload'])
      .select('memberships.role as personRole')
      .where('token.model', '=', 'AccessToken')
      .where('token.hash', '=', hash)
      .where('revoked_at', 'is', null)
      .where('users.disabled_at', 'is', null)
      .where('tenants.deleted_at', 'is', null)
      .executeTakeFirst()
    if (row === undefined) return undefined
    const { tenantDisabledAt, endsAt: expiresAt, payload, personRole, ...own } = row
    const { aud: resource } = Granted.parse(JSON.parse(payload))
    // An agent may do no more than its person.
    const role = personRole === 'reader' ? 'reader' : own.role
    return { ...toApiKey(own), role, expiresAt, resource, isTenantDisabled: tenantDisabledAt !== null }
  }

  /**
   * Revokes the agents that a person has authorized, in one tenant or in all, with their grants and tokens. Enabling the person again does
   * not restore them.
   */
  async revokeAgents(userId: string, now: Date, tenantId?: string): Promise<void> {
    for (const agent of await this.agentsOf(userId)) {
      if (tenantId === undefined || agent.tenantId === tenantId) await this.revoke(agent.id, now, agent.tenantId)
    }
  }

  /** Returns the keys of one tenant, or of all, oldest first, revoked and expired ones included. */
  async list(tenantId?: string): Promise<ApiKey[]> {
    return (await findRows(this.db, 'api_keys', tenantId === undefined ? {} : { tenant_id: tenantId }, 'id')).map(
      toApiKey,
    )
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const row = await findRow(this.db, 'api_keys', { id })
    return row && toApiKey(row)
  }

  /** Returns a tenant's keys, newest first, revoked and expired ones included; with `before`, those made before that key. */
  async page(tenantId: string, { before, limit }: { before?: string | undefined; limit: number }): Promise<ApiKey[]> {
    const rows = await selectRows(this.db, 'api_keys', { tenant_id: tenantId })
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toApiKey)
  }

  /** Returns the agents that a person has authorized and that are not revoked, newest first. */
  async agentsOf(userId: string): Promise<ApiKey[]> {
    const rows = await selectRows(this.db, 'api_keys', { user_id: userId, revoked_at: null })
      .where('grant_id', 'is not', null)
      .orderBy('id', 'desc')
      .execute()
    return rows.map(toApiKey)
  }

  /**
   * Returns the ids of a tenant's keys that count as a person, those that they made and their agents, or as the key that made them, revoked
   * ones included.
   */
  async idsOf(id: string, tenantId: string): Promise<string[]> {
    const isOf = this.db.selectFrom('api_keys').select('id')
    const keys = isOf.where((where) => where.or([where('user_id', '=', id), where('maker_id', '=', id)]))
    return (await keys.where('tenant_id', '=', tenantId).execute()).map(({ id }) => id)
  }

  /** Changes the limits of a tenant's key and returns the key; undefined if it does not exist. */
  async limit(id: string, limits: KeyLimits | null, tenantId: string): Promise<ApiKey | undefined> {
    const key = { id, tenant_id: tenantId }
    await updateRows(this.db, 'api_keys', key, { limits: limits && JSON.stringify(limits) })
    const row = await findRow(this.db, 'api_keys', key)
    return row && toApiKey(row)
  }

  async revokeGrant(grantId: string, now: Date): Promise<void> {
    await updateRows(this.db, 'api_keys', { grant_id: grantId, revoked_at: null }, { revoked_at: now.toISOString() })
  }

  /** Revokes a tenant's key and returns the key; undefined if it does not exist. Revoking it again keeps the first time of revocation. */
  async revoke(id: string, now: Date, tenantId: string): Promise<ApiKey | undefined> {
    const key = { id, tenant_id: tenantId }
    await updateRows(this.db, 'api_keys', { ...key, revoked_at: null }, { revoked_at: now.toISOString() })
    const row = await findRow(this.db, 'api_keys', key)
    // Otherwise the agent could request new tokens.
    if (row?.grant_id) {
      const { grant_id: grant } = row
      await this.db
        .deleteFrom('oauth_records')
        .where((where) => where.or([where('grant_id', '=', grant), where('hash', '=', hashToken(grant))]))
        .execute()
    }
    return row && toApiKey(row)
  }

  /** Records a key's use. Runs after the request's own work, since it costs a flush to disk. */
  #recordUse(id: string, now: Date): void {
    const last = this.#lastUses.get(id)
    if (last !== undefined && now.getTime() - last < LAST_USE_INTERVAL) return
    this.#lastUses.set(id, now.getTime())
    setImmediate(() => {
      this.db
        .updateTable('api_keys')
        .set({ last_used_at: now.toISOString() })
        .where('id', '=', id)
        .where((where) =>
          where.or([
            where('last_used_at', 'is', null),
            where('last_used_at', '<=', timeAfter(now, -LAST_USE_INTERVAL)),
          ]),
        )
        .execute()
        // A failure is harmless, e.g. if the database is busy or closed: the next use is recorded.
        .catch(() => this.#lastUses.delete(id))
    })
  }
}

function toApiKey({ hash: _, grant_id, connectors, git, limits, admin, ...row }: RowOf<'api_keys'>): ApiKey {
  return {
    ...camelCase(row),
    isAgent: grant_id !== null,
    isAdmin: admin === 1,
    connectors: Connectors.parse(JSON.parse(connectors)),
    git: git === 'all' ? 'all' : 'shown',
    limits: limits === null ? null : KeyLimits.parse(JSON.parse(limits)),
  }
}
