import { answerWithin, wholeAnswer } from '../chat/answer-question.ts'
import type { Answerer } from '../chat/answerer.ts'
import { maxPassagesRead } from '../chat/extract/extract-passages.ts'
import { shownResults, type TestResultLine } from '../contract/answer-tests.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import { oneLine } from '../rules/text/lines.ts'
import { retrieveRanked } from '../search/kb/retrieve.ts'
import { findPagesIn } from '../search/kb/search-kb.ts'
import type { Passage } from '../search/search-index.ts'
import type { Asker } from './run-tests.ts'

const passageChars = 500
const by = 'words'

/**
 * Returns an asker that works like a reader's requests, but by words alone, so that a commit always has the same results.
 * @param extracts answers without a language model
 */
export function kbAsker(ctx: Context, kb: ReadableKb, extracts: Answerer): Asker {
  return {
    async search(q, audience) {
      const found = await findPagesIn(ctx, kb, audience, { q, kind: 'all', limit: 1, by })
      return whole(found).hits
    },
    retrieve(question, audience, count) {
      return withFirstPages(count, async (limit) =>
        whole(await retrieveRanked(ctx, kb, { query: question, audience, topK: count, by, ...limit })),
      ).then(({ found }) => found)
    },
    async answer(message, audience) {
      const signal = AbortSignal.timeout(60_000)
      const asked = { message, history: [], audience, by } as const
      const { said, found } = await withFirstPages(shownResults, async (limit) =>
        whole(await wholeAnswer(answerWithin(ctx, extracts, kb, { ...asked, ...limit }, signal))),
      )
      return { text: said.text, cited: said.cited, found }
    },
  }
}

/**
 * Returns what `find` returns, with the best passage of each of the best `count` pages. First asks for the passages that an extract reads,
 * and for as many as readers get only if these are of fewer pages: a lower limit ends the list earlier, and changes nothing else.
 */
async function withFirstPages<Found extends { passages: readonly Passage[] }>(
  count: number,
  find: (limit: { limit?: number }) => Promise<Found>,
): Promise<Found & { found: TestResultLine[] }> {
  const few = await find({ limit: maxPassagesRead })
  const found = firstPages(few.passages, count)
  if (found.length === count || few.passages.length < maxPassagesRead) return { ...few, found }
  const all = await find({})
  return { ...all, found: firstPages(all.passages, count) }
}

function firstPages(passages: readonly Passage[], count: number): TestResultLine[] {
  const first = passages.filter(({ seqId }, at) => passages.findIndex((one) => one.seqId === seqId) === at)
  return first.slice(0, count).map(({ seqId, title, content }) => {
    return { seqId, title, passage: oneLine(content, passageChars) }
  })
}

/** Rejects the answer of an index that lacks pages. @throws {GanglionError} `unavailable` */
function whole<Found extends { behind?: unknown }>(found: Found): Found {
  if (found.behind === undefined) return found
  throw new GanglionError('unavailable', 'The search index is being built: the answer tests are run once it is.')
}
