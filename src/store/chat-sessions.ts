import type { Kysely } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { ChatCitation } from '../contract/chat.ts'
import type { Audience } from '../knowledge/audience.ts'
import type { Schema } from './schema.ts'

/** A conversation with one knowledge base. Its answers may hold whatever its audience may see. */
export type ChatSession = {
  /** UUIDv7. */
  id: string
  tenantId: string
  kbId: string
  audience: Audience
}

export type ChatTurn = { question: string; answer: string; citations: readonly ChatCitation[] }

/** How long a session that nobody uses is kept, in milliseconds. */
const lifetime = 30 * 24 * 60 * 60 * 1000
/** The older turns of a session go when a newer one comes. */
const maxTurns = 200

/** Conversations, with their turns. */
export class ChatSessions {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** A tenant's session, unless it has expired. */
  async find(tenantId: string, id: string, now: Date): Promise<ChatSession | undefined> {
    return this.#db
      .selectFrom('chat_sessions')
      .select(['id', 'tenant_id as tenantId', 'kb_id as kbId', 'audience'])
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .where('used_at', '>', expiry(now))
      .executeTakeFirst()
  }

  /** The last turns of a session, oldest first. */
  async lastTurns(sessionId: string, limit: number): Promise<ChatTurn[]> {
    const rows = await this.#db
      .selectFrom('chat_turns')
      .select(['question', 'answer', 'citations'])
      .where('session_id', '=', sessionId)
      .orderBy('ordinal', 'desc')
      .limit(limit)
      .execute()
    return rows.reverse().map(({ citations, ...turn }) => ({ ...turn, citations: JSON.parse(citations) }))
  }

  /** Adds a turn to a session, making the session where it is not there yet. Gives the turn's id. */
  async addTurn(session: ChatSession, turn: ChatTurn, now: Date): Promise<string> {
    const id = uuidv7()
    const at = now.toISOString()
    await this.#db.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('chat_sessions')
        .values({
          id: session.id,
          tenant_id: session.tenantId,
          kb_id: session.kbId,
          audience: session.audience,
          created_at: at,
          used_at: at,
        })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ used_at: at }))
        .execute()
      const last = await transaction
        .selectFrom('chat_turns')
        .select((select) => select.fn.max<number | null>('ordinal').as('ordinal'))
        .where('session_id', '=', session.id)
        .executeTakeFirst()
      const ordinal = (last?.ordinal ?? 0) + 1
      await transaction
        .insertInto('chat_turns')
        .values({
          id,
          session_id: session.id,
          ordinal,
          question: turn.question,
          answer: turn.answer,
          citations: JSON.stringify(turn.citations),
          created_at: at,
        })
        .execute()
      await transaction
        .deleteFrom('chat_turns')
        .where('session_id', '=', session.id)
        .where('ordinal', '<=', ordinal - maxTurns)
        .execute()
    })
    return id
  }

  /** Removes sessions that have expired, with their turns; answers how many. */
  async sweep(now: Date): Promise<number> {
    const result = await this.#db.deleteFrom('chat_sessions').where('used_at', '<=', expiry(now)).executeTakeFirst()
    return Number(result.numDeletedRows)
  }
}

/** What was last used then or before has expired. */
function expiry(now: Date): string {
  return new Date(now.getTime() - lifetime).toISOString()
}
