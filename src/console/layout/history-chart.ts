import type { TestRun } from '../../contract/answer-tests.ts'
import { type Html, html } from './html-template.ts'

const [width, height, most] = [6, 40, 60]

/** The share of answer tests that passed at the last tested commits, oldest first. */
export function historyChart(runs: readonly TestRun[]): Html | undefined {
  const shown = runs.slice(-most)
  const last = shown.at(-1)
  if (shown.length < 2 || last === undefined) return undefined
  const label = `Answer tests that passed at the last ${shown.length} tested commits; now ${last.passed} of ${last.passed + last.failed}`
  return html`<svg class="chart" role="img" aria-label="${label}" width="${shown.length * width}" height="${height}">${shown.map(
    ({ commit, passed, failed }, index) => {
      const high = Math.round((height * passed) / Math.max(1, passed + failed))
      return html`<g><title>${commit.slice(0, 12)}: ${passed} of ${passed + failed}</title>
        <rect class="${failed > 0 ? 'failed' : 'passed'}" x="${index * width}" y="${height - Math.max(1, high)}" width="${width - 1}" height="${Math.max(1, high)}"></rect></g>`
    },
  )}</svg>`
}
