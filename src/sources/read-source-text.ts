import type { Context } from '../kb/context.ts'
import { withoutComments } from '../markdown/comments.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Source } from '../state/sources/source.ts'
import { divideText, partAt, type TextPassage } from './divide-text.ts'
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
