import { type BudgetTask, noteStart } from '../pool/budget-pool.ts'
import { type RenderedParts, type RenderRequest, renderBlocks } from './render-markdown.ts'

/** Matches the start of a line that begins an element: a heading, a list item, a quote or a table row. */
const blockStart = /^[ \t]*(?:[#>|]|[-+*][ \t]|\d{1,9}[.)][ \t])/gm
const maxBlocks = 25_000

/** Renders a page; undefined if it is too complex. */
export function renderInThread({ request, started }: BudgetTask<RenderRequest>): RenderedParts | undefined {
  noteStart(started)
  return hasTooManyBlocks(request.content) ? undefined : renderBlocks(request)
}

/** True if rendering a page would certainly exceed the CPU time: 25,000 list items take 1.7 s. */
function hasTooManyBlocks(content: string): boolean {
  return content.matchAll(blockStart).drop(maxBlocks).next().done !== true
}
