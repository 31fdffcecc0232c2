import { expect, test } from 'vitest'
import { linkCitations } from '../../../src/console/ask/turn.ts'

const citations = [{ seqId: 'handbook_00000042' }, { seqId: 'b-c_00000001' }]

test.each([
  [
    'each citation is a numbered link',
    'One. [handbook_00000042] Two. [b-c_00000001]',
    'One. [[handbook_00000042|1]] Two. [[b-c_00000001|2]]',
  ],
  ['what was not cited stays', 'One. [other_00000001]', 'One. [other_00000001]'],
  ['a link of that text stays', '[handbook_00000042](https://example.com)', '[handbook_00000042](https://example.com)'],
  [
    'code in a fence stays',
    '```\n[handbook_00000042]\n```\n[handbook_00000042]',
    '```\n[handbook_00000042]\n```\n[[handbook_00000042|1]]',
  ],
  ['no cell of a table is cut', '| a [b-c_00000001] | b |', '| a [[b-c_00000001\\|2]] | b |'],
])('%s', (_, answer, linked) => {
  expect(linkCitations(answer, citations)).toBe(linked)
})
