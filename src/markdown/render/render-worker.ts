import { type BudgetTask, noteStart } from '../pool/budget-task.ts'
import { type RenderedParts, type RenderRequest, renderBlocks } from './render-markdown.ts'

export function renderPages({ requests, started }: BudgetTask<RenderRequest>): RenderedParts[] {
  noteStart(started)
  return requests.map(renderBlocks)
}
