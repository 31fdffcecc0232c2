import type { TestEffects, TestResult } from '../contract/answer-tests.ts'
import { oneLine } from './text/lines.ts'

const maxShown = 5
const and = new Intl.ListFormat('en-GB')

/**
 * Returns lines for a terminal about the answer tests whose result approvals change, none if nothing changes.
 * @param approvals number of approvals
 */
export function effectLines(
  { state, reason = '', tests, broken, mended, changed }: TestEffects,
  approvals = 1,
): string[] {
  if (state === 'running') return ['The answer tests are still being run.']
  if (state === 'failed') return [`The answer tests could not be run: ${oneLine(reason, 300)}`]
  if (broken.length + mended.length + changed.length === 0) return []
  const mends = mended.length > 0 && `mends ${mended.length}`
  const changes = changed.length > 0 && `changes other results of ${changed.length}`
  const does = [`breaks ${broken.length || 'none'} of ${tests} answer tests`, mends, changes].filter(
    (part) => part !== false,
  )
  return [
    `${approvals === 1 ? 'Its' : 'Their'} approval ${and.format(does)}${broken.length > 0 ? ':' : '.'}`,
    ...failing(broken),
  ]
}

/** Returns lines for a terminal about the tests that fail on main, none if all pass. */
export function failureLines(results: readonly TestResult[]): string[] {
  const failed = results.filter(({ passed }) => !passed)
  if (failed.length === 0) return []
  return [`${failed.length} of ${results.length} answer tests fail on main now:`, ...failing(failed)]
}

function failing(tests: readonly Pick<TestResult, 'file' | 'line' | 'question' | 'failures'>[]): string[] {
  const lines = tests
    .slice(0, maxShown)
    .map(({ file, line, question, failures: [first = ''] }) => oneLine(`${file}:${line}: "${question}" ${first}`, 400))
  return [
    ...lines.map((line) => `  ${line}`),
    ...(tests.length > maxShown ? [`  … and ${tests.length - maxShown} more.`] : []),
  ]
}
