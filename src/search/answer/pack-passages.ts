import type { Chunk } from '../../rules/neurons/chunk.ts'
import { cutText } from '../../rules/text/whole-characters.ts'
import type { ChunkHit, Packing } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { type PassageUnit, passageUnits } from './passage-units.ts'

/** How a knowledge base is read, and its pages, by key: their titles and their chunks. */
type Reading = {
  language: string
  analyser: Analyser
  titleOf: (key: string) => string
  chunkAt: (key: string, ordinal: number) => Chunk | undefined
}

type Read = {
  passage: ChunkHit
  units: readonly PassageUnit[]
  /** The terms of the question that each unit holds. */
  held: readonly (readonly string[])[]
  /** How long what leads to each unit is. */
  leading: readonly number[]
}

/** A part of a passage, from one of its units to another. */
type Window = { of: Read; from: number; to: number }

/** What a passage is worth beside the one before it, and a term beside its last occurrence. */
const decay = 0.8
const repeated = 0.3
/** Between parts of a page that do not follow one another. */
const gap = '\n\n…\n\n'
/** So little left is not worth another window. */
const small = 60
/** Up to this budget, the best page needs the room. A larger one begins with what this one gives, and only adds to it. */
const roomy = 8000

/**
 * Fits what passages say on a question into a budget: of each the units that hold most of its rarer terms, those of one page
 * together in the page's order, and then, as far as there is room, what stands around them. Pages stand in the order of their best
 * passages, and are `topK` at most. The best passage is always there, cut if need be.
 */
export function packPassages(
  ranked: readonly ChunkHit[],
  { maxChars, topK, least }: Packing,
  reading: Reading,
): ChunkHit[] {
  let budget = Math.min(maxChars, roomy)
  let windows: Window[] = []
  let left = budget
  const keep = (changed: Window[]) => {
    const pages = pagesOf(changed, reading)
    const length = pages.reduce((sum, { content }) => sum + content.length, 0)
    if (pages.length > topK || length > budget) return false
    windows = changed
    left = budget - length
    return true
  }
  const take = (passage: ChunkHit, budget: number) => {
    const pages = new Set(windows.map(({ of }) => of.passage.key))
    if (pages.size === topK && !pages.has(passage.key)) return false
    const window = bestWindow(readPassage(passage, reading), Math.min(budget, left))
    return window !== undefined && keep([...windows, window])
  }
  const shares = ranked.slice(0, Math.max(1, Math.floor(budget / least))).map((_, at) => decay ** at)
  const whole = shares.reduce((sum, share) => sum + share, 0)
  for (const [at, passage] of ranked.slice(0, shares.length).entries()) {
    const isKept = take(passage, Math.max(least, ((shares[at] ?? 0) / whole) * budget))
    if (!isKept && at === 0 && !take(passage, left)) return [{ ...passage, content: cut(passage.content, maxChars) }]
  }
  /** Lets a window have what else of its passage fits. */
  const grow = (window: Window) => {
    // What is between windows gets no longer by it: to make their text for each step takes quadratic time.
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
    keep(windows.map((one) => (one === window ? grown : one)))
  }
  for (const window of windows) grow(window)
  for (const passage of ranked) {
    if (left < small) break
    if (!windows.some(({ of }) => of.passage === passage)) take(passage, left)
  }
  // What is taken in has neighbours, too.
  for (let at = 0; at < windows.length && left >= small; at++) {
    for (const next of neighboursOf(windows[at] as Window, windows, reading)) if (keep([...windows, next])) grow(next)
  }
  /** Adds whole chunks in an order that no budget changes, up to the first that does not fit: more room never takes any away. */
  const extend = () => {
    for (const passage of pagesFirst(ranked, topK)) {
      const known = windows.find(({ of }) => of.passage === passage)
      const pages = new Set(windows.map(({ of }) => of.passage.key))
      const isOut = pages.size === topK && !pages.has(passage.key)
      if (known === undefined && (isOut || isTaken(passage.key, passage.ordinal, windows))) continue
      const window = wholeOf(known?.of ?? readPassage(passage, reading))
      const changed = known ? windows.map((one) => (one === known ? window : one)) : [...windows, window]
      if (window.to >= 0 && !keep(changed)) return
    }
    for (let at = 0; at < windows.length; at++) {
      for (const { of } of neighboursOf(windows[at] as Window, windows, reading)) {
        if (!keep([...windows, wholeOf(of)])) return
      }
    }
  }
  if (maxChars > budget) {
    budget = maxChars
    extend()
  }
  return pagesOf(windows, reading)
}

function wholeOf(of: Read): Window {
  return { of, from: 0, to: of.units.length - 1 }
}

/** Whether a window is of a chunk of a page. */
function isTaken(key: string, at: number, windows: readonly Window[]): boolean {
  return windows.some(({ of: { passage } }) => {
    return passage.key === key && passage.ordinal <= at && at < passage.ordinal + passage.chunkCount
  })
}

/** The best passage of each of the best pages before all others. */
function pagesFirst(ranked: readonly ChunkHit[], topK: number): ChunkHit[] {
  const best = new Map(ranked.toReversed().map((passage) => [passage.key, passage]))
  const first = ranked.filter((passage) => best.get(passage.key) === passage).slice(0, topK)
  return [...first, ...ranked.filter((passage) => !first.includes(passage))]
}

/** The beginning of the chunk behind a window's, and the end of the one before it, where none of them is taken. */
function neighboursOf({ of: { passage } }: Window, taken: readonly Window[], reading: Reading): Window[] {
  const { key, ordinal, chunkCount } = passage
  return [ordinal + chunkCount, ordinal - 1].flatMap((at) => {
    const chunk = isTaken(key, at, taken) ? undefined : reading.chunkAt(key, at)
    if (chunk === undefined) return []
    const of = readPassage({ ...passage, ...chunk, ordinal: at, chunkCount: 1 }, reading)
    const unit = at < ordinal ? of.units.length - 1 : 0
    return of.units.length === 0 ? [] : [{ of, from: unit, to: unit }]
  })
}

function readPassage(passage: ChunkHit, { language, analyser }: Reading): Read {
  const units = passageUnits(passage.content, language)
  const held = units.map(({ start, end }) => {
    const terms = new Set<string>()
    analyser.eachToken(passage.content.slice(start, end), ({ term, also }) => {
      for (const one of [term, ...also]) if (Object.hasOwn(passage.rarity, one)) terms.add(one)
    })
    return [...terms]
  })
  const leading = units.map((unit) => leadsOf(unit).reduce((sum, { start, end }) => sum + end - start + 1, 0))
  return { passage, units, held, leading }
}

/** The window of at most so many characters that holds most of the question; of two the shorter, of two alike the first. */
function bestWindow(of: Read, maxLength: number): Window | undefined {
  const { units, held, leading, passage } = of
  let best: Window | undefined
  let [most, shortest] = [-1, 0]
  for (const [from, { start }] of units.entries()) {
    /** What one more occurrence of a term is worth. */
    const worth = new Map<string, number>()
    let score = 0
    for (let to = from; to < units.length; to++) {
      const length = (leading[from] ?? 0) + (units[to]?.end ?? 0) - start
      if (length > maxLength) break
      for (const term of held[to] ?? []) {
        const value = worth.get(term) ?? passage.rarity[term] ?? 0
        score += value
        worth.set(term, value * repeated)
      }
      if (score > most || (score === most && length < shortest)) {
        best = { of, from, to }
        ;[most, shortest] = [score, length]
      }
    }
  }
  return best
}

/** The windows of each page as one passage. */
function pagesOf(windows: readonly Window[], { titleOf }: Reading): ChunkHit[] {
  return Array.from(Map.groupBy(windows, ({ of }) => of.passage.key).values(), ([first, ...others]) =>
    pageOf(first as Window, others, titleOf),
  )
}

/** The breadcrumb has the headings that all of it stands under; the others are told where they begin. */
function pageOf(best: Window, others: readonly Window[], titleOf: Reading['titleOf']): ChunkHit {
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
    const text = textOf(window)
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

/** The head of a table that goes on from the chunk before. */
function repeatedHead({ of: { passage, units } }: Window, before: string): string {
  const head = passage.content.slice(0, units[1]?.start)
  return units[1]?.lead === units[0] && head.startsWith('|') && before.includes(head) ? head : ''
}

/** A window's Markdown, after what it is not understood without. */
function textOf({ of, from, to }: Window): string {
  const { passage, units } = of
  const leads = leadsOf(units[from]).map(({ start, end }) => `${passage.content.slice(start, end)}\n`)
  return `${leads.join('')}${passage.content.slice(units[from]?.start, units[to]?.end)}`
}

function lengthOf({ of: { units, leading }, from, to }: Window): number {
  return (leading[from] ?? 0) + (units[to]?.end ?? 0) - (units[from]?.start ?? 0)
}

/** Outermost first. */
function leadsOf(unit: PassageUnit | undefined): PassageUnit[] {
  return unit?.lead === undefined ? [] : [...leadsOf(unit.lead), unit.lead]
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cutText(text, maxLength - 1)}…`
}
