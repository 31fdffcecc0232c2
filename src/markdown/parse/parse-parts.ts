import type { Root } from 'mdast'
import { isTooComplex } from './parse-cost.ts'
import { parseMarkdown } from './parse-markdown.ts'
import { type Part, splitParts } from './split-parts.ts'

/** Parsed part of a page. `tree`: undefined if the part is too complex to parse. */
export type ParsedPart = Part & { tree: Root | undefined }

/** Parses a page, or a range of it, in parts. The length of a part bounds its time and memory. */
export function parseParts(source: string): ParsedPart[] {
  return splitParts(source).map((part) => ({
    ...part,
    tree: isTooComplex(part.source) ? undefined : parse(part.source),
  }))
}

/** True if a part of a page is too complex to parse. Takes linear time. */
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
