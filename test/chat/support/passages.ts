import type { Answer, Answerer, Question } from '../../../src/chat/answerer.ts'
import type { Passage } from '../../../src/search/search-index.ts'

export function passage(fields: Partial<Passage> & { seqId: string; content: string }): Passage {
  return {
    documentId: fields.seqId,
    title: 'VIP customers',
    path: 'neurons/vip-customers.md',
    commit: '0'.repeat(40),
    headings: [],
    rank: 1,
    rarity: {},
    ...fields,
  }
}

export const vip = passage({
  seqId: 'handbook_00000001',
  content: 'When a VIP customer raises a ticket, page the on-call lead at once. Do not wait for triage.',
})

export const refunds = passage({
  seqId: 'handbook_00000011',
  title: 'Refunds',
  content: 'Support may refund up to 200 euros. Larger refunds are approved by the head of finance.',
  rank: 0.5,
})

export function question(fields: Partial<Question> = {}): Question {
  return {
    message: 'Who is paged when a VIP customer raises a ticket?',
    history: [],
    passages: [vip, refunds],
    tone: null,
    audience: 'tool',
    language: 'en',
    synonyms: [],
    ...fields,
  }
}

/** Returns what an answerer yields and returns. */
export async function ask(
  answerer: Answerer,
  asked: Question,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ deltas: string[]; answer: Answer }> {
  const deltas: string[] = []
  const answers = answerer.answer(asked, signal)
  for (;;) {
    const { done, value } = await answers.next()
    if (done) return { deltas, answer: value }
    deltas.push(value)
  }
}
