import type { Chunk } from '../../rules/neurons/chunk.ts'
import type { ChunkHit } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { type PassageUnit, passageUnits } from './passage-units.ts'

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
 * Returns the window of at most `maxLength` characters with most of the question: of two equal ones the shorter, then the first.
 * `known`: a window that it contains.
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

/** Replaces the window of the same chunk, or adds one. */
export function withWindow(windows: readonly Window[], window: Window): Window[] {
  const isKnown = windows.some(({ of }) => of === window.of)
  return isKnown ? windows.map((one) => (one.of === window.of ? window : one)) : [...windows, window]
}

export function lengthOf({ of: { units, leading }, from, to }: Window): number {
  return (leading[from] ?? 0) + (units[to]?.end ?? 0) - (units[from]?.start ?? 0)
}

/** A window's Markdown, after what it is not understood without. */
export function windowText({ of, from, to }: Window): string {
  const { passage, units } = of
  const leads = leadsOf(units[from]).map(({ start, end }) => `${passage.content.slice(start, end)}\n`)
  return `${leads.join('')}${passage.content.slice(units[from]?.start, units[to]?.end)}`
}

/** Outermost first. */
function leadsOf(unit: PassageUnit | undefined): PassageUnit[] {
  return unit?.lead === undefined ? [] : [...leadsOf(unit.lead), unit.lead]
}
