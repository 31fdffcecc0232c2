import type { ChatQuestion } from '../contract/chat.ts'
import { accessOf } from '../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import { type Audience, maySee } from '../rules/access/audience.ts'
import { isPerson } from '../rules/access/caller.ts'
import type { Actor } from '../rules/candidates/candidate.ts'
import type { ChatSession, ChatTurn } from '../state/chat-sessions.ts'
import type { Turn } from './answerer.ts'

/** How much of a conversation a question is understood by. */
export const maxHistory = 10

/**
 * The last turns of a conversation that a client keeps, oldest first. What the assistant says is the answer to the question
 * before it; instructions are not a client's to give.
 */
export function lastTurnsOf(messages: ChatQuestion['history']): Turn[] {
  const turns: Turn[] = []
  for (const { role, content } of messages) {
    const last = turns.at(-1)
    if (role === 'user') turns.push({ question: content, answer: '' })
    else if (role === 'assistant' && last !== undefined) {
      last.answer = last.answer === '' ? content : `${last.answer}\n\n${content}`
    }
  }
  return turns.slice(-maxHistory)
}

/** Whether somebody may go on with a session. A person's is that person's alone; a key's belongs to all keys of the tenant. */
export function mayContinue({ ownerId }: Pick<ChatSession, 'ownerId'>, { id }: Actor): boolean {
  return ownerId === id || !(isPerson({ id: ownerId ?? '' }) || isPerson({ id }))
}

/** Which Neurons an audience may be told of now. */
export async function citable(kb: ReadableKb, audience: Audience): Promise<(seqId: string) => boolean> {
  const { defaultAudience } = await kb.settings()
  return (seqId) => {
    const access = accessOf(kb.projection.read, seqId)
    return access !== undefined && maySee(audience, access, defaultAudience)
  }
}

/**
 * The turns of a session without the answers that rest on a Neuron which is hidden or gone by now: what is said next must not rest
 * on it. `grounds`: what the answers that are left rest on.
 */
export function readableTurns(
  turns: readonly ChatTurn[],
  mayCite: (seqId: string) => boolean,
): { history: Turn[]; grounds: Set<string> } {
  const grounds = new Set<string>()
  const history = turns.map((turn) => {
    const { question, answer } = turn
    if (!isReadable(turn, mayCite)) return { question, answer: '' }
    for (const seqId of turn.grounds) grounds.add(seqId)
    return { question, answer }
  })
  return { history, grounds }
}

/** Whether an answer rests on nothing that is hidden or gone by now. */
export function isReadable({ grounds }: Pick<ChatTurn, 'grounds'>, mayCite: (seqId: string) => boolean): boolean {
  return grounds.every(mayCite)
}
