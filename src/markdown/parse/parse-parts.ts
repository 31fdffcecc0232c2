import type { Root } from 'mdast'
import { isTooComplex } from './parse-cost.ts'
import { parseMarkdown } from './parse-markdown.ts'
import { type Part, splitParts } from './split-parts.ts'

/** `tree` is undefined where the part is too complex to parse. */
export type ParsedPart = Part & { tree: Root | undefined }

/** Parses a page, or a stretch of one, in parts; each in time and memory that its length bounds. */
export function parseParts(source: string): ParsedPart[] {
  return splitParts(source).map((part) => ({
    ...part,
    tree: isTooComplex(part.source) ? undefined : parse(part.source),
  }))
}

/** Whether some part of a page is too complex to parse. Takes linear time. */
export function hasComplexPart(page: string): boolean {
  return splitParts(page).some(({ source }) => isTooComplex(source))
}

function parse(source: string): Root | undefined {
  try {
    return parseMarkdown(source)
  } catch (error) {
    // Nesting has exhausted the stack.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
