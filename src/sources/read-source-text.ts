import type { Context } from '../kb/context.ts'
import { withoutComments } from '../markdown/comments.ts'
import type { Caller } from '../rules/access/caller.ts'
import { lineStarts } from '../rules/text/lines.ts'
import { characterStart } from '../rules/text/whole-characters.ts'
import type { Source } from '../state/sources/source.ts'
import type { Anchor, Extracted } from './extracted.ts'
import { findSource } from './find-source.ts'
import { sourceTexts } from './ingest/source-texts.ts'

/** A part of a Source's text. `part` counts from 1. */
export type SourceText = {
  passages: TextPassage[]
  part: number
  parts: number
  /** Length of the whole text. */
  characters: number
  /** Places at which pages, slides, sheets or times begin. */
  anchors: readonly Anchor[]
}

/** Selects a part by its number, or by a place in it. */
export type AskedPart = {
  part?: number | undefined
  page?: number | undefined
  slide?: number | undefined
  sheet?: string | undefined
  /** Seconds. */
  time?: number | undefined
}

/** UTF-16 units that are shown at once. */
const maxPart = 24_000

/**
 * Returns a part of the text of a Source: by number, else the one that contains a place, else the first. Undefined if the text
 * is not extracted yet. @throws {GanglionError} `not_found`
 */
export async function readSourceText(
  ctx: Context,
  caller: Caller,
  docId: string,
  { part, ...place }: AskedPart,
): Promise<SourceText | undefined> {
  const source = await findSource(ctx, caller, docId)
  const extracted = source.extractedAt === null ? undefined : await sourceTexts(ctx).read(source)
  if (extracted === undefined) return undefined
  const markdown = caller.role === 'curator' ? extracted.markdown : shownMarkdown(source, extracted)
  const parts = divideText({ ...extracted, markdown }, maxPart)
  const index = part === undefined ? partAt(parts, place) : Math.min(part, Math.max(1, parts.length)) - 1
  const { anchors } = extracted
  return { passages: parts[index] ?? [], part: index + 1, parts: parts.length, characters: markdown.length, anchors }
}

/** Returns the text that readers see. Only notes can have comments, which are removed. */
export function shownMarkdown(
  { fileType }: Pick<Source, 'fileType'>,
  { markdown }: Pick<Extracted, 'markdown'>,
): string {
  return fileType === 'md' ? withoutComments(markdown) : markdown
}

/** Place in the original at which a passage begins; empty if unknown. */
type TextPlace = Omit<Anchor, 'line'>

/** A run of a text from one place of its original. */
type TextPassage = {
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
