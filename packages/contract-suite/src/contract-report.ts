import type { ScenarioResult } from './run-scenarios.ts'

export type ContractReport = {
  url: string
  kb: string
  level: string
  startedAt: string
  passed: number
  /** Number of unexpected failures, and of scenarios that pass although they are expected to fail. */
  failed: number
  expected: number
  skipped: number
  scenarios: (ScenarioResult & { verdict: ScenarioVerdict })[]
  /** Things that the run could not remove from the server. */
  left: string[]
}
export type ScenarioVerdict = 'passed' | 'failed' | 'skipped' | 'expected failure' | 'passed unexpectedly'

const signs: Readonly<Record<ScenarioVerdict, string>> = {
  passed: '✓',
  failed: '✗',
  skipped: '-',
  'expected failure': '~',
  'passed unexpectedly': '!',
}

export function verdictOf({ id, outcome }: ScenarioResult, expected: ReadonlySet<string>): ScenarioVerdict {
  if (!expected.has(id) || outcome === 'skipped') return outcome
  return outcome === 'failed' ? 'expected failure' : 'passed unexpectedly'
}

export function isBad(verdict: ScenarioVerdict): boolean {
  return verdict === 'failed' || verdict === 'passed unexpectedly'
}

export function resultLine({ id, says, reasons }: ScenarioResult, verdict: ScenarioVerdict): string {
  const because = reasons.map((reason) => `\n    ${reason}`).join('')
  return `${signs[verdict]} ${id}  ${says}${because}\n`
}

export function summaryOf({ passed, failed, expected, skipped, left }: ContractReport): string {
  const counts = `${passed} passed, ${failed} failed, ${expected} expected to fail, ${skipped} skipped`
  const kinds = left.map((what) => what.replace(/ .*/, ''))
  const stays = [...new Set(kinds)].map((kind) => {
    const { length } = kinds.filter((each) => each === kind)
    return `${length} ${kind}${length === 1 ? '' : 's'}`
  })
  return `\n${counts}\nLeft on the server: ${stays.join(', ') || 'nothing'}.\n`
}

export function junitOf({ scenarios, failed, skipped, startedAt }: ContractReport): string {
  const cases = scenarios.map(({ id, says, verdict, reasons, milliseconds }) => {
    const [area = '', name = ''] = id.split('/')
    const text = escaped(reasons.join('\n'))
    const inner = isBad(verdict)
      ? `<failure message="${verdict}">${text}</failure>`
      : verdict === 'passed'
        ? ''
        : `<skipped message="${text}"/>`
    return `<testcase classname="${area}" name="${escaped(`${name}: ${says}`)}" time="${milliseconds / 1000}">${inner}</testcase>`
  })
  const counts = `tests="${scenarios.length}" failures="${failed}" skipped="${skipped}" timestamp="${startedAt}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="ganglion-contract" ${counts}>\n${cases.join('\n')}\n</testsuite>\n`
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8886;padding:.3rem .5rem;text-align:left;vertical-align:top}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0 0}.bad{color:#c33}`

export function htmlOf(report: ContractReport): string {
  const row = ({ id, says, level, verdict, reasons }: ContractReport['scenarios'][number]) => {
    const because = reasons.length === 0 ? '' : `<pre>${escaped(reasons.join('\n'))}</pre>`
    const name = `<td${isBad(verdict) ? ' class="bad"' : ''}>${signs[verdict]} ${verdict}</td>`
    return `<tr>${name}<td><code>${escaped(id)}</code></td><td>${escaped(says)}${because}</td><td>${level}</td></tr>`
  }
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Contract of ${escaped(report.url)}</title><style>${style}</style>
<h1>Contract of ${escaped(report.url)}</h1><p>Knowledge base <code>${escaped(report.kb)}</code>, ${escaped(report.startedAt)}, level ${report.level}.</p>
<p>${escaped(summaryOf(report)).trim().replace('\n', '<br>')}</p>
<table><thead><tr><th>Result</th><th>Scenario</th><th>What the document says</th><th>Level</th></tr></thead><tbody>
${report.scenarios.map(row).join('\n')}
</tbody></table></html>
`
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  // Removes the characters that XML does not allow.
  return text
    .replaceAll(/[&<>"]/g, (character) => names[character] ?? '')
    .replaceAll(/(?![\t\n\r])[\p{Cc}\uFFFE\uFFFF]/gu, '')
}
