import { type BudgetTask, noteStart } from './budget-task.ts'
import { type PageParts, type PageRequest, parsePage } from './parse-page.ts'

export function parsePages({ requests, started }: BudgetTask<PageRequest>): PageParts[] {
  noteStart(started)
  return requests.map(parsePage)
}
