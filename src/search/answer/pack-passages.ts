import { cutText } from '../../rules/text/whole-characters.ts'
import type { ChunkHit, Packing } from '../search-index.ts'
import {
  bestWindow,
  type KbReading,
  lengthOf,
  type Read,
  readPassage,
  stepsBetween,
  type Window,
  wholeOf,
  windowText,
  withWindow,
} from './passage-window.ts'

/** Weight of a passage compared with the one ranked before it. */
const decay = 0.8
/** Separator of parts of a page that do not follow one another. */
const gap = '\n\n…\n\n'
/** Minimum characters left in the budget to add another window. */
const small = 60
/** Budget up to which the best page may take everything. Beyond it, whole chunks are added. */
const roomy = 8000
/**
 * Budgets that are packed in turn, each starting from the windows of the previous one. A budget in between takes the first steps
 * from one to the next, so a larger budget never removes text.
 */
const rungs = [500, 1000, 2000, 4000, roomy]

/**
 * Packs passages into a budget: from each the units with most of the rarer terms of the question, then their neighbours as far as
 * there is room. The parts of a page are joined in the order of the page. Pages are ordered by their best passage, at most `topK`
 * of them. The best passage is always included, cut if necessary.
 */
export function packPassages(
  ranked: readonly ChunkHit[],
  { maxChars, topK, least }: Packing,
  reading: KbReading,
): ChunkHit[] {
  let budget = 0
  let windows: Window[] = []
  let left = 0
  const reads = new Map<ChunkHit, Read>()
  const read = (passage: ChunkHit) => {
    const known = reads.get(passage) ?? readPassage(passage, reading)
    reads.set(passage, known)
    return known
  }
  const lengthOfAll = (some: Window[]) => pagesOf(some, reading).reduce((sum, { content }) => sum + content.length, 0)
  const keep = (changed: Window[]) => {
    const length = lengthOfAll(changed)
    if (length > budget || new Set(changed.map(({ of }) => of.passage.key)).size > topK) return false
    windows = changed
    left = budget - length
    return true
  }
  const take = (passage: ChunkHit, maxLength: number) => {
    const known = windows.find(({ of }) => isSameChunk(of.passage, passage))
    if (known === undefined && isTaken(passage.key, passage.ordinal, windows)) return false
    const room = known === undefined ? left : left + lengthOf(known)
    const window = bestWindow(known?.of ?? read(passage), Math.min(maxLength, room), known)
    return window !== undefined && keep(withWindow(windows, window))
  }
  /** Extends a window over the rest of its passage, as far as it fits. */
  const grow = (window: Window) => {
    // Measures the window alone: joining its page for each step would take quadratic time.
    const longest = lengthOf(window) + left
    const steps = [
      { from: 0, to: 1 },
      { from: -1, to: 0 },
    ]
    let grown = window
    const isLonger = ({ from, to }: { from: number; to: number }) => {
      const next = { ...grown, from: grown.from + from, to: grown.to + to }
      if (next.from < 0 || next.to >= next.of.units.length || lengthOf(next) > longest) return false
      grown = next
      return true
    }
    while (steps.some(isLonger));
    keep(withWindow(windows, grown))
  }
  /** Adds windows until the budget is used. Adds none if the best passage does not fit. */
  const fill = () => {
    left = budget - lengthOfAll(windows)
    const shares = ranked.slice(0, Math.max(1, Math.floor(budget / least))).map((_, at) => decay ** at)
    const whole = shares.reduce((sum, share) => sum + share, 0)
    for (const [at, passage] of ranked.slice(0, shares.length).entries()) {
      const isKept = take(passage, Math.max(least, ((shares[at] ?? 0) / whole) * budget))
      if (!isKept && windows.length === 0 && !take(passage, left)) return
    }
    for (const window of windows) grow(window)
    for (const passage of ranked) {
      if (left < small) break
      take(passage, left)
    }
    // The windows that were added have neighbours, too.
    for (let at = 0; at < windows.length && left >= small; at++) {
      for (const next of neighboursOf(windows[at] as Window, windows, reading)) if (keep([...windows, next])) grow(next)
    }
  }
  /** Adds whole chunks in an order independent of the budget, up to the first that does not fit: a larger budget never removes any. */
  const extend = () => {
    for (const passage of pagesFirst(ranked, topK)) {
      const known = windows.find(({ of }) => isSameChunk(of.passage, passage))
      const pages = new Set(windows.map(({ of }) => of.passage.key))
      const isOut = pages.size === topK && !pages.has(passage.key)
      if (known === undefined && (isOut || isTaken(passage.key, passage.ordinal, windows))) continue
      const window = wholeOf(known?.of ?? read(passage))
      if (window.to >= 0 && !keep(withWindow(windows, window))) return
    }
    for (let at = 0; at < windows.length; at++) {
      for (const { of } of neighboursOf(windows[at] as Window, windows, reading)) {
        if (!keep([...windows, wholeOf(of)])) return
      }
    }
  }
  for (const rung of rungs) {
    if (budget >= maxChars) break
    const before = windows
    budget = rung
    fill()
    if (rung > maxChars) windows = lastFitting(stepsBetween(before, windows), (some) => lengthOfAll(some) <= maxChars)
  }
  if (maxChars > budget) {
    budget = maxChars
    extend()
  }
  const [best] = ranked
  if (windows.length === 0 && best !== undefined) return [{ ...best, content: cut(best.content, maxChars) }]
  return pagesOf(windows, reading)
}

/** Returns the last state that fits, by bisection, which assumes that the first one does. Larger budgets never return an earlier state. */
function lastFitting(steps: readonly Window[][], fits: (windows: Window[]) => boolean): Window[] {
  let [low, high] = [0, steps.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (fits(steps[middle] ?? [])) low = middle
    else high = middle
  }
  return steps[low] ?? []
}

function isSameChunk(one: ChunkHit, other: ChunkHit): boolean {
  return one.key === other.key && one.ordinal === other.ordinal && one.chunkCount === other.chunkCount
}

/** True if a window covers this chunk of the page. */
function isTaken(key: string, at: number, windows: readonly Window[]): boolean {
  return windows.some(({ of: { passage } }) => {
    return passage.key === key && passage.ordinal <= at && at < passage.ordinal + passage.chunkCount
  })
}

/** Moves the best passage of each of the best pages to the front. */
function pagesFirst(ranked: readonly ChunkHit[], topK: number): ChunkHit[] {
  const best = new Map(ranked.toReversed().map((passage) => [passage.key, passage]))
  const first = ranked.filter((passage) => best.get(passage.key) === passage).slice(0, topK)
  return [...first, ...ranked.filter((passage) => !first.includes(passage))]
}

/** Returns the first unit of the chunk after a window and the last unit of the chunk before it, unless these chunks are covered. */
function neighboursOf({ of: { passage } }: Window, taken: readonly Window[], reading: KbReading): Window[] {
  const { key, ordinal, chunkCount } = passage
  return [ordinal + chunkCount, ordinal - 1].flatMap((at) => {
    const chunk = isTaken(key, at, taken) ? undefined : reading.chunkAt(key, at)
    if (chunk === undefined) return []
    const of = readPassage({ ...passage, ...chunk, ordinal: at, chunkCount: 1 }, reading)
    const unit = at < ordinal ? of.units.length - 1 : 0
    return of.units.length === 0 ? [] : [{ of, from: unit, to: unit }]
  })
}

/** Joins the windows of each page. */
function pagesOf(windows: readonly Window[], { titleOf }: KbReading): ChunkHit[] {
  return Array.from(Map.groupBy(windows, ({ of }) => of.passage.key).values(), ([first, ...others]) =>
    pageOf(first as Window, others, titleOf),
  )
}

/** Joins the windows of a page. Its headings are those common to all windows; other headings are written where they begin. */
function pageOf(best: Window, others: readonly Window[], titleOf: KbReading['titleOf']): ChunkHit {
  const windows = [best, ...others].sort((a, b) => a.of.passage.ordinal - b.of.passage.ordinal)
  const paths = windows.map(({ of }) => of.passage.headings)
  const [shortest = []] = paths.toSorted((a, b) => a.length - b.length)
  const apart = shortest.findIndex((heading, depth) => paths.some((path) => path[depth] !== heading))
  const headings = apart < 0 ? shortest : shortest.slice(0, apart)
  let under = headings.join('\n')
  let content = ''
  for (const [at, window] of windows.entries()) {
    const { passage } = window.of
    const path = passage.headings.join('\n')
    const isNext = follows(window, windows[at - 1])
    const text = windowText(window)
    const head = isNext && path === under ? repeatedHead(window, content) : ''
    if (at > 0) content += head !== '' ? '\n' : isNext ? '\n\n' : gap
    if (path !== under) content += `## ${passage.headings.at(-1) ?? titleOf(passage.key)}\n\n`
    content += text.slice(head.length)
    under = path
  }
  return { ...best.of.passage, headings, content }
}

function follows({ of, from }: Window, before: Window | undefined): boolean {
  if (before === undefined || from > 0 || before.to < before.of.units.length - 1) return false
  return of.passage.ordinal === before.of.passage.ordinal + before.of.passage.chunkCount
}

/** Returns the head of a table that continues from the chunk before. */
function repeatedHead({ of: { passage, units } }: Window, before: string): string {
  const head = passage.content.slice(0, units[1]?.start)
  return units[1]?.lead === units[0] && head.startsWith('|') && before.includes(head) ? head : ''
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cutText(text, maxLength - 1)}…`
}
