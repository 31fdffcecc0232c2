import { expect, test } from 'vitest'
import type { TestEffects } from '../../src/contract/answer-tests.ts'
import { effectLines } from '../../src/rules/effect-lines.ts'

test('what approvals change is one sentence, of one candidate or of several', () => {
  const one: TestEffects['mended'][number] = {
    ...{ file: 'tests/a.yaml', line: 1, question: 'Why?', audience: 'tool' },
    ...{ failures: [], before: [], after: [] },
  }
  const effects = { state: 'tested', tests: 4 } as const
  const does = 'breaks none of 4 answer tests, mends 1 and changes other results of 2.'
  expect(effectLines({ ...effects, broken: [], mended: [one], changed: [one, one] })).toEqual([`Its approval ${does}`])
  expect(effectLines({ ...effects, broken: [], mended: [], changed: [one] }, 10)).toEqual([
    'Their approval breaks none of 4 answer tests and changes other results of 1.',
  ])
})
