import type { ChatCitation } from '../contract/chat.ts'
import { decodeCursor, encodeCursor } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { type KbView, viewAs } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { audiencesOf, effectiveAudience } from '../rules/access/audience.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { findKb } from '../sources/find-source.ts'
import type { ChatPlace, ChatSession, ChatSummary, PlacedTurn } from '../state/chat-sessions.ts'
import { isReadable } from './conversation.ts'

/** The caller's conversations with a knowledge base, most recently used first. `next`: cursor of the next page. */
export type ChatPage = { chats: ChatSummary[]; next: string | undefined }

/** A turn as shown to its owner. */
export type PastTurn = {
  id: string
  question: string
  /** Markdown. Null if it is based on a Neuron that the owner may not see any more. */
  answer: string | null
  citations: readonly ChatCitation[]
  /** Time of the turn: ISO 8601, UTC. */
  at: string
}

/** Address of a turn of a conversation with a knowledge base. */
export type TurnAddress = { kb: string; id: string; turnId: string }

/** Turns of a conversation, oldest first. `earlier`: the `before` to request earlier ones. */
export type PastChat = Pick<ChatSession, 'id' | 'audience'> & { turns: PastTurn[]; earlier: number | undefined }

const chatsPerPage = 20
const turnsPerPage = 20
const chatPlace = /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z [\da-f-]{36}$/

/** Lists the caller's conversations. @throws {GanglionError} `not_found` @throws {ValidationError} for an invalid cursor */
export async function listChats(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { cursor }: { cursor?: string | undefined },
): Promise<ChatPage> {
  const after = cursor === undefined ? undefined : placeOf(cursor)
  const { id: kbId } = await findKb(ctx, caller, kbName)
  const owner = { kbId, ownerId: actorOf(caller).id }
  const found = await ctx.chatSessions.listOf(
    owner,
    { audiences: audiencesOf(caller), after, limit: chatsPerPage + 1 },
    ctx.now(),
  )
  const chats = found.slice(0, chatsPerPage)
  const last = chats.at(-1)
  const next = found.length > chatsPerPage && last !== undefined ? encodeCursor(`${last.usedAt} ${last.id}`) : undefined
  return { chats, next }
}

function placeOf(cursor: string): ChatPlace {
  const [usedAt = '', id = ''] = decodeCursor(cursor, (place) => chatPlace.test(place)).split(' ')
  return { usedAt, id }
}

/** Returns a page of a conversation of the caller. @throws {GanglionError} `not_found` */
export async function readChat(
  ctx: Context,
  caller: Caller,
  { kb: kbName, id, before }: { kb: string; id: string; before?: number | undefined },
): Promise<PastChat> {
  const { audience } = await findOwnChat(ctx, caller, kbName, id)
  const view = await viewAs(await ctx.readableKb(caller.tenantId, kbName), { audience })
  const found = await ctx.chatSessions.turnsBefore(id, before, turnsPerPage + 1)
  const turns = found.slice(-turnsPerPage)
  return {
    id,
    audience,
    turns: turns.map((turn) => readableTurn(turn, view)),
    earlier: found.length > turnsPerPage ? turns[0]?.ordinal : undefined,
  }
}

/** Returns one turn of a conversation of the caller. @throws {GanglionError} `not_found` */
export async function readChatTurn(
  ctx: Context,
  caller: Caller,
  { kb: kbName, id, turnId }: TurnAddress,
): Promise<PastTurn> {
  const { audience } = await findOwnChat(ctx, caller, kbName, id)
  const turn = await ctx.chatSessions.turn(id, turnId)
  if (turn === undefined) throw new GanglionError('not_found')
  return readableTurn(turn, await viewAs(await ctx.readableKb(caller.tenantId, kbName), { audience }))
}

function readableTurn({ id, question, at, ...turn }: PlacedTurn, view: KbView): PastTurn {
  const { answer, citations } = isReadable(turn, view) ? turn : { answer: null, citations: [] }
  return { id, question, at, answer, citations }
}

/** Deletes a conversation of the caller. @throws {GanglionError} `not_found` */
export async function deleteChat(ctx: Context, caller: Caller, kbName: string, id: string): Promise<void> {
  await findOwnChat(ctx, caller, kbName, id)
  await ctx.chatSessions.remove(id)
}

async function findOwnChat(ctx: Context, caller: Caller, kbName: string, id: string): Promise<ChatSession> {
  const { id: kbId } = await findKb(ctx, caller, kbName)
  const session = await ctx.chatSessions.find(caller.tenantId, id, ctx.now())
  const isOwn = session?.ownerId === actorOf(caller).id && session.kbId === kbId
  // A curator may be a reader by now, who must not see answers for curators.
  if (!isOwn || effectiveAudience(caller, session.audience) !== session.audience) throw new GanglionError('not_found')
  return session
}
