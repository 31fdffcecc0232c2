import type { Anchor } from '../extracted.ts'
import type { PlaceInSource, Span } from './compiled.ts'

/**
 * Returns the place in the original of a range of lines (1-based); empty if there is no anchor at or before the first. Anchors
 * must be in the order of their lines.
 */
export function anchoredPlace(anchors: readonly Anchor[], first: number, last: number): PlaceInSource {
  const begin = anchors.findLast(({ line }) => line <= first)
  const end = anchors.findLast(({ line }) => line <= last)
  return {
    ...spanOf('pages', begin?.page, end?.page),
    ...spanOf('slides', begin?.slide, end?.slide),
    ...(begin?.sheet !== undefined && { sheet: begin.sheet }),
    ...(begin?.time !== undefined && { time: begin.time }),
  }
}

function spanOf(name: 'pages' | 'slides', first: number | undefined, last = first): { [name: string]: Span } {
  return first === undefined || last === undefined ? {} : { [name]: [first, Math.max(first, last)] }
}

/** Number of pages, slides and sheets that anchors name. */
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
