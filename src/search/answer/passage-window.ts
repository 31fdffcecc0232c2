import { linesOf } from '../../markdown/parse/split-blocks.ts'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import { atxHeading } from '../../rules/text/atx-heading.ts'
import { closesFence, fenceMarker } from '../../rules/text/fence.ts'
import { type Range, type Sentence, sentencesOf } from '../../rules/text/sentences.ts'
import type { ChunkHit } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'

/** Weight of a term compared with its last occurrence in the window. */
const repeated = 0.3

/** Access to the pages of an index, by key. */
export type KbReading = {
  language: string
  analyser: Analyser
  titleOf: (key: string) => string
  chunkAt: (key: string, ordinal: number) => Chunk | undefined
}

export type Read = {
  passage: ChunkHit
  units: readonly PassageUnit[]
  /** Terms of the question in each unit. */
  held: readonly (readonly string[])[]
  /** Length of the lead-in of each unit. */
  leading: readonly number[]
}

/** A range of a passage, from unit `from` to unit `to`. */
export type Window = { of: Read; from: number; to: number }

export function readPassage(passage: ChunkHit, { language, analyser }: KbReading): Read {
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

/**
 * Returns the window of at most `maxLength` characters that covers most of the question: the shorter, then the earlier of two equal ones.
 * `known`: a window that the result contains.
 */
export function bestWindow(of: Read, maxLength: number, known?: Window): Window | undefined {
  const { units, held, leading, passage } = of
  let best: Window | undefined
  let [most, shortest] = [-1, 0]
  for (const [from, { start }] of units.slice(0, known && known.from + 1).entries()) {
    /** Value of one more occurrence, by term. */
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
      if (to < (known?.to ?? 0)) continue
      if (score > most || (score === most && length < shortest)) {
        best = { of, from, to }
        ;[most, shortest] = [score, length]
      }
    }
  }
  return best
}

/** Returns the unit of a window that holds most of the question. */
function bestUnit({ of, from, to }: Window): Window {
  const worthOf = (at: number) => (of.held[at] ?? []).reduce((sum, term) => sum + (of.passage.rarity[term] ?? 0), 0)
  let best = from
  for (let at = from + 1; at <= to; at++) if (worthOf(at) > worthOf(best)) best = at
  return { of, from: best, to: best }
}

export function wholeOf(of: Read): Window {
  return { of, from: 0, to: of.units.length - 1 }
}

/** Returns the states from some windows to others that contain them, each with one unit more. */
export function stepsBetween(before: Window[], goal: readonly Window[]): Window[][] {
  const steps = [before]
  const add = (window: Window): Window => {
    steps.push(withWindow(steps.at(-1) ?? [], window))
    return window
  }
  for (const end of goal) {
    const { units } = end.of
    let window = before.find(({ of }) => of === end.of) ?? add(bestUnit(end))
    while (window.from > end.from || window.to < end.to) {
      // A unit that leads to the first one is a part of its text already.
      const isLed = window.from > end.from && units[window.from]?.lead === units[window.from - 1]
      const { from, to } = window
      window = add(isLed || to === end.to ? { ...window, from: from - 1 } : { ...window, to: to + 1 })
    }
  }
  return steps
}

/** Replaces the window of the same chunk, or appends the window if there is none. */
export function withWindow(windows: readonly Window[], window: Window): Window[] {
  const isKnown = windows.some(({ of }) => of === window.of)
  return isKnown ? windows.map((one) => (one.of === window.of ? window : one)) : [...windows, window]
}

export function lengthOf({ of: { units, leading }, from, to }: Window): number {
  return (leading[from] ?? 0) + (units[to]?.end ?? 0) - (units[from]?.start ?? 0)
}

/** Returns a window's Markdown, preceded by the units needed to understand it. */
export function windowText({ of, from, to }: Window): string {
  const { passage, units } = of
  const leads = leadsOf(units[from]).map(({ start, end }) => `${passage.content.slice(start, end)}\n`)
  return `${leads.join('')}${passage.content.slice(units[from]?.start, units[to]?.end)}`
}

/** Returns the units needed to understand a unit, outermost first. */
function leadsOf(unit: PassageUnit | undefined): PassageUnit[] {
  return unit?.lead === undefined ? [] : [...leadsOf(unit.lead), unit.lead]
}

/** Unit that a passage is cut into, as a range of UTF-16 units: a sentence, a list item, a table row, or code. */
export type PassageUnit = Range & {
  /** Unit needed to understand this one: the heading, the sentence that introduces a list or code, or the head of a table. */
  lead: PassageUnit | undefined
}

const item = /^\s*(?:[-*+]|\d{1,9}[.)])\s/
/** Maximum characters of a sentence; a longer one is divided between words. */
const longest = 400
const words = new Intl.Segmenter('und', { granularity: 'word' })
const dashes = /^[\s|:-]+$/

/** Returns the units of a chunk's Markdown, in order. The reading is approximate: whatever is misread is still text of the chunk. */
export function passageUnits(content: string, language: string): PassageUnit[] {
  const units: PassageUnit[] = []
  let heading: PassageUnit | undefined
  let announced: PassageUnit | undefined
  let head: PassageUnit | undefined
  let paragraph: Range | undefined
  const add = (range: Range, lead = announced ?? heading) => {
    const unit = { ...range, lead }
    units.push(unit)
    return unit
  }
  const endParagraph = () => {
    if (paragraph === undefined) return
    const { start, end } = paragraph
    paragraph = undefined
    announced = undefined
    // A line break does not end a sentence.
    for (const sentence of sentencesOf(content.slice(start, end).replace(/[\r\n]/g, ' '), language)) {
      for (const part of partsOf(sentence)) add({ start: start + part.start, end: start + part.end })
    }
    if (/[:：]$/.test(content.slice(start, end).trimEnd())) announced = units.at(-1)
  }
  const lines = linesOf(content)
  for (let at = 0; at < lines.length; at++) {
    const { text: line, ...range } = lines[at] ?? { text: '', start: 0, end: 0 }
    const marker = fenceMarker(line.trimStart())
    const isRow = line.trimStart().startsWith('|')
    if (!isRow) head = undefined
    const last = units.at(-1)
    if (marker === undefined && !isRow && !item.test(line) && atxHeading(line) === undefined && line.trim() !== '') {
      // A continuation line of a list item.
      if (paragraph === undefined && last !== undefined && last !== heading && /^\s/.test(line)) last.end = range.end
      else paragraph = { start: paragraph?.start ?? range.start, end: range.end }
      continue
    }
    endParagraph()
    if (marker !== undefined) {
      do at++
      while (at < lines.length && !closesFence(lines[at]?.text.trim() ?? '', marker))
      add({ start: range.start, end: lines[at]?.end ?? content.length })
    } else if (isRow && head !== undefined) {
      // A separator row, or a row of empty cells, belongs to the head.
      if (last === head && dashes.test(line)) head.end = range.end
      else add(range, head)
    } else if (isRow) head = add(range)
    else if (item.test(line)) add(range)
    else if (line.trim() !== '') {
      announced = undefined
      heading = add(range, undefined)
    }
  }
  endParagraph()
  return units
}

/** Divides a long sentence between words. Thai text, for example, has no full stops. */
function partsOf({ start, end, text }: Sentence): Range[] {
  if (text.length <= longest) return [{ start, end }]
  const parts: Range[] = []
  let from = 0
  for (const { index, segment } of words.segment(text)) {
    if (index + segment.length - from <= longest || index === from || segment.trim() === '') continue
    parts.push({ start: start + from, end: start + index })
    from = index
  }
  return [...parts, { start: start + from, end }]
}
