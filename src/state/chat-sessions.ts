import type { Transaction } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { ChatCitation } from '../contract/chat.ts'
import type { Audience } from '../rules/access/audience.ts'
import { timeAfter } from './database/row-values.ts'
import type { RowOf, Schema } from './database/schema.ts'
import { changedRows, deleteRows, findRow, Store, selectRows } from './database/store.ts'
import { inTransaction } from './database/transaction.ts'
import { servedKbs } from './lifecycle.ts'

/** Conversation with one knowledge base. Its answers may contain anything that its audience may see. */
export type ChatSession = {
  /** UUIDv7 of the conversation. */
  id: string
  tenantId: string
  kbId: string
  audience: Audience
  /** Id of the actor that began it; null for conversations that were stored without an owner. */
  ownerId: string | null
}

/** Conversation in a list. Times are ISO 8601, UTC. */
export type ChatSummary = Pick<ChatSession, 'id' | 'audience'> & {
  /** First stored question. */
  question: string
  turns: number
  createdAt: string
  usedAt: string
}

/** Cursor of a list of conversations. */
export type ChatPlace = Pick<ChatSummary, 'usedAt' | 'id'>

/** Turn with its position in the conversation, from 1. */
export type PlacedTurn = ChatTurn & { id: string; ordinal: number; at: string }

/** Question and answer. `grounds`: seqIds of all Neurons that the answer may be based on, cited or not. */
export type ChatTurn = {
  question: string
  answer: string
  citations: readonly ChatCitation[]
  grounds: readonly string[]
}

/** Milliseconds after its last use at which a session expires. */
const lifetime = 30 * 24 * 60 * 60 * 1000
/** Maximum turns of a session. A newer turn replaces the oldest one. */
const maxTurns = 200

/** Stores conversations and their turns. */
export class ChatSessions extends Store {
  /** Returns a tenant's session, unless it has expired. */
  async find(tenantId: string, id: string, now: Date): Promise<ChatSession | undefined> {
    return this.db
      .selectFrom('chat_sessions')
      .select(['id', 'tenant_id as tenantId', 'kb_id as kbId', 'audience', 'owner_id as ownerId'])
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .where('kb_id', 'in', servedKbs(this.db))
      .where('used_at', '>', expiry(now))
      .executeTakeFirst()
  }

  /** Returns the last turns of a session, oldest first. */
  async lastTurns(sessionId: string, limit: number): Promise<ChatTurn[]> {
    const turns = await this.turnsBefore(sessionId, undefined, limit)
    return turns.map(({ question, answer, citations, grounds }) => ({ question, answer, citations, grounds }))
  }

  /** Adds a turn to a session, which is created if it does not exist. `together` writes in the same transaction. @returns the turn's id */
  async addTurn(
    session: ChatSession,
    turn: ChatTurn,
    now: Date,
    together?: (transaction: Transaction<Schema>, turnId: string) => Promise<void>,
  ): Promise<string> {
    const id = uuidv7()
    const at = now.toISOString()
    const add = async (transaction: Transaction<Schema>) => {
      await transaction
        .insertInto('chat_sessions')
        .values({
          ...{ id: session.id, tenant_id: session.tenantId, kb_id: session.kbId, audience: session.audience },
          ...{ created_at: at, used_at: at, owner_id: session.ownerId },
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
          ...{ id, session_id: session.id, ordinal, question: turn.question, answer: turn.answer, created_at: at },
          ...{ citations: JSON.stringify(turn.citations), grounds: JSON.stringify(turn.grounds) },
        })
        .execute()
      await transaction
        .deleteFrom('chat_turns')
        .where('session_id', '=', session.id)
        .where('ordinal', '<=', ordinal - maxTurns)
        .execute()
      await together?.(transaction, id)
    }
    await inTransaction(this.db, add, 'read committed')
    return id
  }

  /** Returns an owner's conversations with a knowledge base for some audiences, most recently used first, after the cursor. */
  async listOf(
    { kbId, ownerId }: { kbId: string; ownerId: string },
    { audiences, after, limit }: { audiences: readonly Audience[]; after: ChatPlace | undefined; limit: number },
    now: Date,
  ): Promise<ChatSummary[]> {
    return this.db
      .selectFrom('chat_sessions as session')
      .select(({ selectFrom }) => [
        'session.id',
        'session.audience',
        'session.created_at as createdAt',
        'session.used_at as usedAt',
        selectFrom('chat_turns')
          .select('question')
          .whereRef('session_id', '=', 'session.id')
          .orderBy('ordinal')
          .limit(1)
          .$asScalar()
          .$notNull()
          .as('question'),
        selectFrom('chat_turns')
          .select(({ fn }) => fn.countAll<number>().as('turns'))
          .whereRef('session_id', '=', 'session.id')
          .$asScalar()
          .$notNull()
          .as('turns'),
      ])
      .where('owner_id', '=', ownerId)
      .where('kb_id', '=', kbId)
      .where('audience', 'in', audiences)
      .where('used_at', '>', expiry(now))
      .$if(after !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('session.used_at', 'session.id'), '<', tuple(after?.usedAt ?? '', after?.id ?? '')),
        ),
      )
      .orderBy('used_at', 'desc')
      .orderBy('session.id', 'desc')
      .limit(limit)
      .execute()
  }

  async turn(sessionId: string, id: string): Promise<PlacedTurn | undefined> {
    const row = await findRow(this.db, 'chat_turns', { session_id: sessionId, id })
    return row && toTurn(row)
  }

  /** Returns turns of a session before a position, oldest first. */
  async turnsBefore(sessionId: string, ordinal: number | undefined, limit: number): Promise<PlacedTurn[]> {
    const rows = await selectRows(this.db, 'chat_turns', { session_id: sessionId })
      .$if(ordinal !== undefined, (query) => query.where('ordinal', '<', ordinal ?? 0))
      .orderBy('ordinal', 'desc')
      .limit(limit)
      .execute()
    return rows.reverse().map(toTurn)
  }

  async remove(id: string): Promise<void> {
    await deleteRows(this.db, 'chat_sessions', { id })
  }

  /** Removes expired sessions with their turns. Returns their number. */
  async sweep(now: Date): Promise<number> {
    return changedRows(this.db.deleteFrom('chat_sessions').where('used_at', '<=', expiry(now)))
  }
}

/** Returns the time at or before which an expired session was last used. */
function expiry(now: Date): string {
  return timeAfter(now, -lifetime)
}

function toTurn({
  session_id: _,
  created_at: at,
  citations: cited,
  grounds,
  ...turn
}: RowOf<'chat_turns'>): PlacedTurn {
  const citations: ChatCitation[] = JSON.parse(cited)
  const known: string[] = grounds === null ? citations.map(({ seqId }) => seqId) : JSON.parse(grounds)
  return { ...turn, at, citations, grounds: known }
}
