import type { ChatQuestion } from '../contract/chat.ts'
import type { KbView } from '../kb/access/kb-view.ts'
import { isHuman } from '../rules/access/caller.ts'
import type { Actor } from '../rules/candidates/candidate.ts'
import type { ChatSession, ChatTurn } from '../state/chat-sessions.ts'
import type { Turn } from './answerer.ts'

/** Turns of a conversation that are considered for a question. */
export const maxHistory = 10

/**
 * Returns the last turns of a conversation that a client stores, oldest first. The assistant's messages answer the question
 * before; system messages of a client are ignored.
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

/** True if an actor may continue a session. That of a person or a visitor is theirs alone; that of a key belongs to all keys of the tenant. */
export function mayContinue({ ownerId }: Pick<ChatSession, 'ownerId'>, { id }: Actor): boolean {
  return ownerId === id || !(isHuman({ id: ownerId ?? '' }) || isHuman({ id }))
}

/**
 * Returns the turns of a session without answers based on a Neuron that is hidden or removed by now, because later answers must
 * not rest on it. `grounds`: Neurons that the other answers are based on.
 */
export function readableTurns(turns: readonly ChatTurn[], view: KbView): { history: Turn[]; grounds: Set<string> } {
  const grounds = new Set<string>()
  const history = turns.map((turn) => {
    const { question, answer } = turn
    if (!isReadable(turn, view)) return { question, answer: '' }
    for (const seqId of turn.grounds) grounds.add(seqId)
    return { question, answer }
  })
  return { history, grounds }
}

/** True if an answer is based on visible Neurons alone. */
export function isReadable({ grounds }: Pick<ChatTurn, 'grounds'>, view: KbView): boolean {
  return grounds.every((seqId) => view.seesNeuron(seqId))
}
