import type { ChatQuestion } from '../contract/chat.ts'
import type { KbView } from '../kb/access/kb-view.ts'
import { isHuman } from '../rules/access/caller.ts'
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

/** Whether somebody may go on with a session. What a person or a visitor has begun is theirs alone; a key's belongs to all keys of the tenant. */
export function mayContinue({ ownerId }: Pick<ChatSession, 'ownerId'>, { id }: Actor): boolean {
  return ownerId === id || !(isHuman({ id: ownerId ?? '' }) || isHuman({ id }))
}

/**
 * The turns of a session without the answers that rest on a Neuron which is hidden or gone by now: what is said next must not rest
 * on it. `grounds`: what the answers that are left rest on.
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

/** Whether an answer rests on nothing that is hidden or gone by now. */
export function isReadable({ grounds }: Pick<ChatTurn, 'grounds'>, view: KbView): boolean {
  return grounds.every((seqId) => view.seesNeuron(seqId))
}
