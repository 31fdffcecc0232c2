import { expect, test } from 'vitest'
import { withoutFalseHeadings } from '../../../../src/sources/extract/pdf/pdf-false-headings.ts'

const headingsOf = (...blocks: string[]) =>
  withoutFalseHeadings([{ number: 1, lines: blocks.join('\n\n').split('\n') }])
    .flatMap(({ lines }) => lines)
    .filter((line) => /^#+ /.test(line))

const prose = 'The harbour is described here, and what its masters have decided about it over the years.'

test('headings that are none are text, without loss of a word', () => {
  const pages = withoutFalseHeadings([{ number: 1, lines: ['## and of the quays', '', '## Quays', '', prose] }])
  expect(pages).toEqual([{ number: 1, lines: ['and of the quays', '', '## Quays', '', prose] }])
})

test.for([
  '## of the harbour and its quays',
  '### Loading a crate at the quay is often frustrating.',
  '### Editors: Ann Alder, University of Amsterdam Bob Birch, University of Oslo, Norway Advisory Board:',
  '### Permanent URL: https://example.org/9-37',
])('%s is no heading', (line) => {
  expect(headingsOf('## Quays', prose, line, prose, '## Cranes', '## Ships', '## Crates')).not.toContain(line)
})

test.for([
  '## Loading',
  '## 3.2 loading of crates',
  '## 3. What is loaded at the quay, and by whom it is loaded, weighed, stored and sold again.',
  '# iron and salt',
  '## iPhone charging',
  '## Why are crates weighed twice?',
  '### 2. Results.',
  '## State-of-the-art cranes',
])('%s is a heading', (line) => {
  expect(headingsOf('## Quays', prose, line, prose)).toContain(line)
})

test('headings in lower case are left to a document that writes most so', () => {
  expect(headingsOf('## open file', prose, '## read file', prose, '## close file', prose, '## Errors')).toHaveLength(4)
})

test('the labels of a figure are no headings, what stands above the figure is one', () => {
  const labels = ['Beliefs', '## Evaluations toward', 'Behaviour', '## Intention', 'Use']
  expect(headingsOf('## Models', prose, ...labels, 'Figure 3: The model of Alder', prose)).toEqual(['## Models'])
  expect(headingsOf(prose, '## Models', 'Figure 3: The model of Alder', prose)).toEqual(['## Models'])
  expect(headingsOf(prose, '## 4 Models', ...labels, 'Figure 3: The model', prose)).toEqual(['## 4 Models'])
})

test('a large line among little ones is no heading', () => {
  expect(headingsOf(prose, 'Neutral Good Bad', '## Wise Foolish', 'Favourable Unfavourable', prose)).toEqual([])
})

test('hyphens that stand for blanks are blanks', () => {
  expect(headingsOf('## Limits-in-the-methods-used-for-testing-', prose, '## Conclusions-', prose)).toEqual([
    '## Limits in the methods used for testing',
    '## Conclusions',
  ])
})
