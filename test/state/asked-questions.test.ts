import { expect, test } from 'vitest'
import { newTestBed } from '../kb/support/test-bed.ts'

test('counts that are written together are kept, but for those of a knowledge base that is gone', async () => {
  const { ctx, kbId } = await newTestBed()
  const gone = '019b9c9a-03b2-7d5e-9c1a-2b3c4d5e6f70'
  const [asked, now] = [{ asked: 1 }, ctx.now()]
  await ctx.askedQuestions.noteAll([
    [kbId, 'when', asked, now],
    [gone, 'where', asked, now],
    [kbId, 'when', asked, now],
  ])
  const kept = await ctx.askedQuestions.list(kbId, { order: 'asked', offset: 0, limit: 10 })
  expect(kept).toMatchObject([{ question: 'when', asked: 2 }])
})
