import type { Anchor } from '../extracted.ts'
import type { CompiledPage } from './compiled.ts'

/** The place of the last anchor at or before a 1-based line; nothing where there is none. The anchors are in the order of their lines. */
export function placeAt(anchors: readonly Anchor[], line: number): CompiledPage['anchor'] {
  const { line: _, ...place } = anchors.findLast((anchor) => anchor.line <= line) ?? { line }
  return place
}

/** How many pages, slides and sheets the anchors tell of. */
export function extentOf(anchors: readonly Anchor[]): { pages: number; slides: number; sheets: number } {
  let [pages, slides] = [0, 0]
  const sheets = new Set<string>()
  for (const { page = 0, slide = 0, sheet } of anchors) {
    pages = Math.max(pages, page)
    slides = Math.max(slides, slide)
    if (sheet !== undefined) sheets.add(sheet)
  }
  return { pages, slides, sheets: sheets.size }
}
