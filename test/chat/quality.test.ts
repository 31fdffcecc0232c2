import { describe, expect, test } from 'vitest'
import { chat } from '../../src/chat/answer-question.ts'
import { ChatInput } from '../../src/contract/chat.ts'
import type { TestBed } from '../kb/support/test-bed.ts'
import { neuronText, writtenBed } from '../kb/support/written-neurons.ts'
import { type HandbookQuestion, laterQuestions, neurons, questions } from './questions.ts'
import { extractAnswerer } from './support/extract-answerer.ts'

function handbook(): Promise<TestBed> {
  const files = neurons.map(({ title, body }, index) => [`page-${index}.md`, neuronText(index + 1, { title }, body)])
  return writtenBed(Object.fromEntries(files))
}

async function ask({ ctx, app }: TestBed, message: string): Promise<{ text: string; cited: string[] }> {
  const question = ChatInput.parse({ kb: 'handbook', message })
  const answering = chat(ctx, extractAnswerer, app, question, new AbortController().signal)
  for (;;) {
    const { done, value } = await answering.next()
    if (done) return { text: value.answer, cited: (value.citations ?? []).map(({ seqId }) => seqId) }
  }
}

/** Shares of the questions whose page is cited, whose answer is in the text, also below a refusal, and that are refused rightly. */
async function measure(asked: readonly HandbookQuestion[]): Promise<{ cited: number; said: number; refused: number }> {
  const bed = await handbook()
  const counts = { cited: 0, said: 0, refused: 0 }
  for (const { ask: message, supportedBy, says = '' } of asked) {
    const { text, cited } = await ask(bed, message)
    if (supportedBy.length === 0) counts.refused += cited.length === 0 ? 1 : 0
    else {
      counts.cited += cited.some((seqId) => supportedBy.includes(seqId)) ? 1 : 0
      counts.said += text.includes(says) ? 1 : 0
    }
  }
  const supported = asked.filter(({ supportedBy }) => supportedBy.length > 0).length
  return {
    cited: counts.cited / supported,
    said: counts.said / supported,
    refused: counts.refused / (asked.length - supported),
  }
}

describe('chat over the handbook, with the search that it runs on', () => {
  test('cites the right Neuron, shows what was asked, and refuses what is not there', async () => {
    const { cited, said, refused } = await measure(questions)
    expect(cited).toBeGreaterThanOrEqual(0.8)
    expect(said).toBeGreaterThanOrEqual(0.95)
    expect(refused).toBeGreaterThanOrEqual(0.9)
  })

  test('shows what was asked in words that its constants were not set with, and cites it rather than not', async () => {
    const { cited, said, refused } = await measure(laterQuestions)
    expect(cited).toBeGreaterThanOrEqual(0.4)
    expect(said).toBeGreaterThanOrEqual(0.95)
    expect(refused).toBe(1)
  })
})
