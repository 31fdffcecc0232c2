import { lineStarts } from '../rules/text/lines.ts'
import { characterStart } from '../rules/text/whole-characters.ts'
import type { Anchor, Extracted } from './extracted.ts'

/** Place in the original at which a passage begins; empty if unknown. */
export type TextPlace = Omit<Anchor, 'line'>

/** A run of a text from one place of its original. */
export type TextPassage = {
  place: TextPlace
  /** True if the place begins here; otherwise this continues the previous passage. */
  isBeginning: boolean
  text: string
}

/**
 * Divides a text into passages at each new page, slide, sheet or time of its original, and these into parts that can be shown at
 * once.
 * @param maxLength UTF-16 units of a part; a passage that is longer is cut, between words where that is possible.
 */
export function divideText(
  { markdown, anchors }: Pick<Extracted, 'markdown' | 'anchors'>,
  maxLength: number,
): TextPassage[][] {
  const parts: TextPassage[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const passage of passagesOf(markdown, anchors)) {
    for (const piece of cut(passage, maxLength)) {
      if (length + piece.text.length > maxLength) {
        parts.push([])
        length = 0
      }
      parts.at(-1)?.push(piece)
      length += piece.text.length
    }
  }
  return parts
}

/** Returns the index of the part where a place begins, or that contains it. */
export function partAt(
  parts: readonly TextPassage[][],
  sought: { [Key in keyof TextPlace]: TextPlace[Key] | undefined },
): number {
  const reached = ({ place }: TextPassage) =>
    (sought.page !== undefined && (place.page ?? Number.POSITIVE_INFINITY) <= sought.page) ||
    (sought.slide !== undefined && (place.slide ?? Number.POSITIVE_INFINITY) <= sought.slide) ||
    (sought.time !== undefined && (place.time ?? Number.POSITIVE_INFINITY) <= sought.time) ||
    (sought.sheet !== undefined && place.sheet === sought.sheet)
  const beginnings = parts.flatMap((passages, index) =>
    passages.filter((one) => one.isBeginning && reached(one)).map(() => index),
  )
  return (sought.sheet === undefined ? beginnings.at(-1) : beginnings[0]) ?? 0
}

function* passagesOf(markdown: string, anchors: readonly Anchor[]): Generator<TextPassage> {
  const starts = lineStarts(markdown)
  let [from, place]: [number, TextPlace] = [0, {}]
  for (const { line, ...next } of anchors) {
    if (isSame(place, next)) continue
    const start = starts[line - 1] ?? markdown.length
    if (start > from) yield { place, isBeginning: true, text: markdown.slice(from, start) }
    ;[from, place] = [start, next]
  }
  if (from < markdown.length) yield { place, isBeginning: true, text: markdown.slice(from) }
}

function isSame(one: TextPlace, other: TextPlace): boolean {
  return one.page === other.page && one.slide === other.slide && one.sheet === other.sheet && one.time === other.time
}

function* cut(passage: TextPassage, maxLength: number): Generator<TextPassage> {
  for (let { text, isBeginning } = passage; text !== ''; isBeginning = false) {
    const end = text.length <= maxLength ? text.length : cutBefore(text, maxLength)
    yield { ...passage, isBeginning, text: text.slice(0, end) }
    text = text.slice(end)
  }
}

function cutBefore(text: string, limit: number): number {
  for (const separator of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(separator, limit - separator.length)
    if (at > limit / 2) return at + separator.length
  }
  return characterStart(text, limit)
}
