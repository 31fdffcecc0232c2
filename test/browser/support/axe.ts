import axe from 'axe-core'
import type { Page } from 'playwright-core'

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Violation = { id: string; nodes: { html: string; failureSummary?: string }[] }

/** Returns axe's violations of a page: WCAG 2.2 AA and best practices. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const run = `axe.run({ runOnly: ${JSON.stringify(levels)} }).then(({ violations }) => violations)`
  const violations = (await page.evaluate(run)) as Violation[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  )
}
