import { expect, test } from 'vitest'
import { groundedIn } from '../../src/chat/citations.ts'

const cited = ['kb_00000001']
const by = (answeredBy: string, text: string, seqIds = cited) => groundedIn({ text, cited: seqIds, answeredBy })

test.each([
  ['a cited sentence', 'Page the lead. [kb_00000001]', 'true'],
  ['each paragraph', '# Paging\n\nPage the lead. Then wait. [kb_00000001]\n\nOr do not. [kb_00000001]', 'true'],
  ['each item below a line that announces them', 'Do this:\n\n- a [kb_00000001]\n- b [kb_00000001]', 'true'],
  ['code beside it', 'Run this [kb_00000001]\n\n```sh\nshipctl page\n\n- x\n```\n', 'true'],
  ['one paragraph of two', 'Page the lead. [kb_00000001]\n\nThat is all.', 'partly'],
  ['one item of two', '- a [kb_00000001]\n- b', 'partly'],
])('%s', (_, text, is) => {
  expect(by('model', text)).toBe(is)
})

test('without a citation nothing is grounded, and an extract with one is', () => {
  expect(by('model', 'I believe so.', [])).toBe('false')
  expect(by('extract', 'I do not know.', [])).toBe('false')
  expect(by('extract', 'Page the lead.\n\nAt once. [kb_00000001]')).toBe('true')
})

test.each([' ', '-', '*', '\n', '- ', '```\n', ': ', '#'])(
  'an answer of a model that repeats %j is read in linear time',
  (sign) => {
    expect(by('model', `[kb_00000001]\n\n${sign.repeat(100_000)}x`)).toMatch(/true|partly/)
  },
)
