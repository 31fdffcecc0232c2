import type { AskedWord } from './asked.ts'
import { isAnaphoric } from './belonging.ts'
import { holds, type Unit } from './units.ts'

/** What words of a question count, in their order: 0 to 1 each. */
export type Counts = readonly number[]

/** Where a unit, or what stands around it, holds the words of a question. */
export type Coverage = {
  /** In the unit itself. */
  own: Counts
  /** In the innermost heading that it stands under. */
  heading: Counts
  /** In its page's title and all of its headings. */
  context: Counts
  /** In the best of all places: the nearer, the more. */
  best: number[]
}

/** What a word of the question counts by where it stands. */
export const worth = {
  own: 1,
  lead: 0.95,
  heading: 0.9,
  context: 0.8,
  block: 0.7,
  neighbour: 0.6,
  comment: 0.9,
  code: 0.4,
  passage: 0.4,
  sibling: 0.4,
}
/** What a word counts, in parts of itself, that stands for one of the question. */
const alike = 0.9

/** Where each unit holds the words, in their order. */
export function coverageOf(words: readonly AskedWord[], units: readonly Unit[]): Coverage[] {
  const own = units.map(({ terms, text }) => countsIn(words, terms, text))
  const blocks = new Map<number, Counts>()
  const passages = new Map<Unit['passage'], Counts>()
  const paths = new Map<string, { heading: Counts; context: Counts }>()
  for (const [index, { passage, block }] of units.entries()) {
    blocks.set(block, most(blocks.get(block), own[index]))
    passages.set(passage, most(passages.get(passage), own[index]))
  }
  return units.map((unit, index) => {
    const { passage, block, lead, path, heading, context } = unit
    const key = path.join('\n')
    const ofPath = paths.get(key) ?? {
      heading: countsIn(words, heading, path.at(-1) ?? ''),
      context: countsIn(words, context, key),
    }
    paths.set(key, ofPath)
    const isCode = unit.kind === 'code'
    // Items and rows beside one seldom go on with the same thing.
    const isListed = unit.kind === 'item' || unit.kind === 'row'
    const around = [index - 1, index + 1].filter((at) => units[at]?.passage === passage).map((at) => own[at])
    const places: [number, Counts | undefined][] = [
      [isCode ? worth.code : worth.own, own[index]],
      [worth.comment, countsIn(words, unit.comments, '')],
      [worth.lead, lead && own[lead.position]],
      [worth.lead, isAnaphoric(unit) && units[index - 1]?.block === block ? own[index - 1] : undefined],
      [worth.heading, ofPath.heading],
      [worth.context, ofPath.context],
      [isCode ? 0 : worth.block, blocks.get(block)],
      ...around.map((counts): [number, Counts | undefined] => [isListed ? worth.sibling : worth.neighbour, counts]),
      [isListed ? worth.sibling : worth.passage, passages.get(passage)],
    ]
    const best = words.map((_, at) => Math.max(...places.map(([each, counts]) => each * (counts?.[at] ?? 0))))
    return { own: own[index] ?? [], ...ofPath, best }
  })
}

/** What each word counts in terms; where a word is to be found as it is written, in the text. */
export function countsIn(words: readonly AskedWord[], terms: string, text: string): Counts {
  return words.map(({ terms: own, others, isName, exact }) => {
    if (exact !== undefined) return exact.test(text) ? 1 : 0
    if (own.some((term) => holds(terms, term))) return 1
    return !isName && others.some((other) => holds(terms, other)) ? alike : 0
  })
}

function most(a: Counts | undefined, b: Counts = []): Counts {
  return a === undefined ? b : a.map((count, at) => Math.max(count, b[at] ?? 0))
}
