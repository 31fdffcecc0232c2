import { expect, test, vi } from 'vitest'
import { chat, wholeAnswer } from '../../../src/chat/answer-question.ts'
import { ChatInput } from '../../../src/contract/chat.ts'
import { RetrieveInput } from '../../../src/contract/search.ts'
import { writeQuestions } from '../../../src/search/kb/question-log.ts'
import { retrieve } from '../../../src/search/kb/retrieve.ts'
import { search } from '../../../src/search/kb/search-kb.ts'
import { extractAnswerer } from '../../chat/support/extract-answerer.ts'
import { neuronText, writtenBed } from '../../kb/support/written-neurons.ts'

/** A knowledge base whose index takes in nothing until it is let go on. */
async function unindexed() {
  const pages = Array.from({ length: 130 }, (_, n): [string, string] => [
    `p${n}.md`,
    neuronText(n + 2, { title: `Page ${n}` }, `Filler number ${n}.\n`),
  ])
  const bed = await writtenBed({
    ...Object.fromEntries(pages),
    'heron.md': neuronText(1, { title: 'Herons' }, 'Intro.\n\nHerons eat frogs and small fish.\n'),
    'secret.md': neuronText(900, { title: 'Secret heron', tags: ['internal'] }, 'Herons eat secrets.\n'),
  })
  const { promise: gate, resolve: goOn } = Promise.withResolvers<void>()
  const divide = bed.ctx.parser.chunks.bind(bed.ctx.parser)
  const divided = vi.spyOn(bed.ctx.parser, 'chunks').mockImplementation(async (content) => {
    await gate
    return divide(content)
  })
  const end = () => {
    goOn()
    divided.mockRestore()
  }
  return { ...bed, end }
}

test('a knowledge base that was never indexed answers by its titles and texts, and says that it lacks an index', async () => {
  const { ctx, app, end } = await unindexed()
  try {
    const found = await search(ctx, app, 'handbook', { q: 'heron frog', kind: 'all', limit: 10 })
    expect(found).toMatchObject({ matched: 'all', behind: { pages: 131 } })
    expect(found.documents.map(({ title }) => title)).toEqual(['Herons'])
    expect(found.documents[0]).toMatchObject({ rank: 1, highlight: expect.stringContaining('<mark>frogs</mark>') })
    const input = RetrieveInput.parse({ query: 'What do herons eat?', maxChars: 100 })
    const { chunks, totalChars } = await retrieve(ctx, app, 'handbook', input)
    expect(chunks.map(({ content }) => content)).toEqual(['Herons eat frogs and small fish.'])
    expect(totalChars).toBeLessThanOrEqual(100)
    const few = await search(ctx, app, 'handbook', { q: 'nothing-of-it', kind: 'all', limit: 10 })
    expect(few).toMatchObject({ documents: [], behind: { pages: 131 } })
  } finally {
    end()
  }
})

test('chat says that it is not ready, rather than that nothing is known, and counts no refusal', async () => {
  const { ctx, curator, end } = await unindexed()
  const person = { ...curator, id: 'user:ada', name: 'Ada' }
  const ask = (message: string) => {
    const question = ChatInput.parse({ knowledgeBaseId: 'handbook', message })
    return wholeAnswer(chat(ctx, extractAnswerer, person, question, new AbortController().signal))
  }
  const noted = vi.spyOn(ctx.askedQuestions, 'noteAll')
  try {
    expect(await ask('How tall is the lighthouse?')).toMatchObject({
      answer: 'The knowledge base is being prepared for search. Ask again in a moment.',
      ...{ grounded: 'false', citations: [], behind: { pages: expect.any(Number) } },
    })
    await writeQuestions(ctx)
    expect(noted.mock.calls.flat(2).map(([, , counts]) => counts)).toEqual([{ asked: 1, refused: 0 }])
    const known = await ask('What do herons eat?')
    expect(known).toMatchObject({ grounded: 'true', behind: { pages: expect.any(Number) } })
    expect(known.answer).toContain('frogs')
  } finally {
    end()
    noted.mockRestore()
  }
})
