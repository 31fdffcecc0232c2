import { type BudgetTask, noteStart } from '../pool/budget-task.ts'
import { type RenderedParts, type RenderRequest, renderBlocks } from './render-markdown.ts'

/** Start of a line that begins an element of its own: a heading, a list item, a quote or a row of a table. */
const blockStart = /^[ \t]*(?:[#>|]|[-+*][ \t]|\d{1,9}[.)][ \t])/gm
const maxBlocks = 25_000

/** Undefined for a page that is too complex. */
export function renderPages({ requests, started }: BudgetTask<RenderRequest>): (RenderedParts | undefined)[] {
  noteStart(started)
  return requests.map((request) => (hasTooManyBlocks(request.content) ? undefined : renderBlocks(request)))
}

/** Whether to render a page would exceed the CPU time in any case: 25,000 list items take 1.7 s. */
function hasTooManyBlocks(content: string): boolean {
  return content.matchAll(blockStart).drop(maxBlocks).next().done !== true
}
