import { setImmediate } from 'node:timers/promises'
import { withoutComments } from '../../markdown/comments.ts'
import { atxHeading } from '../../rules/text/atx-heading.ts'
import type { Extracted } from '../extracted.ts'
import { compiledLines, firstLines } from './clean-source.ts'
import type { CompiledPage } from './compiled.ts'
import { wordsIn } from './source-blocks.ts'
import { headingText, withoutBareNumber } from './titles/document-title.ts'

/** Words of a document that none of its pages contains, by reason. Numbers of headings, and rows that are only searched, do not count. */
export type LeftOut = {
  /** Number of words in the document. */
  all: number
  comments: string[]
  /** Words of headers and footers that pages repeat. */
  running: string[]
  /** Words that are missing for no known reason. */
  lost: string[]
}

/** Share of left-out words above which people are warned. */
const mostUntold = 0.05
/** Share of lost words above which a curator decides. */
const mostLost = 0.1
/** Minimum number of left-out words for a warning. */
const fewest = 5
/** Number of lines, or pages, after which the event loop gets a turn. */
const turn = 2000

/** Compares the words of a document with those of the pages that were compiled from it without a model. Takes linear time. */
export async function leftOut(extracted: Extracted, pages: readonly CompiledPage[]): Promise<LeftOut> {
  const found = new Map<string, number>()
  for (const [at, { title, content }] of pages.entries()) {
    if (at % turn === turn - 1) await setImmediate()
    count(found, wordsIn(`${title}\n${content}`))
  }
  const { lines, running } = compiledLines(extracted)
  const out: LeftOut = { all: 0, comments: [], running: [], lost: [] }
  for (const [at, line] of lines.entries()) {
    if (at % turn === turn - 1) await setImmediate()
    const isHeading = atxHeading(line) !== undefined
    const words = wordsIn(isHeading ? withoutBareNumber(headingText(line)) : line)
    out.all += words.length
    const missing = words.filter((word) => !take(found, word))
    if (running.has(at + 1)) out.running.push(...missing)
    else out.lost.push(...missing)
  }
  const written = firstLines(extracted.markdown, extracted.searchOnlyFrom)
  const shown = withoutComments(written)
  if (shown !== written) {
    const kept = count(new Map(), wordsIn(shown))
    out.comments = wordsIn(written).filter((word) => !take(kept, word))
    out.all += out.comments.length
  }
  return out
}

/** Returns the warnings about words that were left out, and the doubts for which a curator must decide. */
export function reportLeftOut({ all, comments, running, lost }: LeftOut): { warnings: string[]; doubts: string[] } {
  const missing = comments.length + running.length + lost.length
  if (missing < fewest || missing <= all * mostUntold) return { warnings: [], doubts: [] }
  const reasons: [readonly string[], string][] = [
    [comments, 'in comments'],
    [running, 'in heads and feet that its pages repeat'],
    [lost, 'lost for no known reason'],
  ]
  const told = reasons.filter(([words]) => words.length > 0).map(([words, reason]) => `${words.length} ${reason}`)
  const warning = `Of the ${all} words of the document, ${missing} are on none of its pages: ${told.join(', ')}.`
  return { warnings: [warning], doubts: lost.length >= fewest && lost.length > all * mostLost ? [warning] : [] }
}

function count(counts: Map<string, number>, words: readonly string[]): Map<string, number> {
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function take(counts: Map<string, number>, word: string): boolean {
  const left = counts.get(word) ?? 0
  if (left > 0) counts.set(word, left - 1)
  return left > 0
}
