import { expect, test } from 'vitest'
import { parseTestFile } from '../../../src/markdown/file/test-file.ts'

const findingsOf = (text: string) =>
  parseTestFile(text).findings.map(({ severity, line, message }) => `${severity} ${line}: ${message}`)

test('a list of questions is read, with the line of each', () => {
  const text = `# What must hold.
- question: Who is paged for a VIP ticket?
  retrieves: [handbook_00000042]
  top: 3
  refuses: false

- {question: "2024", audience: public, contains: [the lead, on call], search: {q: vip, first: handbook_00000042}}
`
  expect(parseTestFile(text)).toEqual({
    findings: [],
    tests: [
      {
        line: 2,
        test: {
          question: 'Who is paged for a VIP ticket?',
          audience: 'tool',
          top: 3,
          retrieves: ['handbook_00000042'],
          refuses: false,
        },
      },
      {
        line: 7,
        test: {
          question: '2024',
          audience: 'public',
          top: 5,
          contains: ['the lead', 'on call'],
          search: { q: 'vip', first: 'handbook_00000042' },
        },
      },
    ],
  })
})

test('what is wrong with a test is an error on its line', () => {
  const text = `- question: One?
  retrieves:
    - handbook_00000042
    - the VIP page
- question: Two?
- question: Three?
  refuses: maybe
  must: [hold]
- text
- contains: [x]
- question: Four?
  audience: nobody
  top: 500
  search: { q: four }
`
  expect(findingsOf(text)).toEqual([
    'error 4: retrieves.1 must look like handbook_00000042.',
    'error 5: An answer test needs at least one of retrieves, cites, contains, notContains, refuses, search.',
    'error 7: refuses must be true or false.',
    'error 8: must is no field of an answer test.',
    'error 9: An answer test must be a mapping.',
    'error 10: question must be given, as text.',
    'error 12: audience must be curator, tool, public or student.',
    'error 13: top must be a whole number from 1 to 20.',
    'error 14: search.first must be given.',
  ])
  expect(findingsOf('- question: One?\n  refuses: true\n- question: "open\n')).toEqual([
    'error 4: Missing closing "quote',
  ])
})

test('what was never meant as answer tests is a warning', () => {
  const found = 'warning 1: The file holds no answer tests: it is no list of questions with what must hold.'
  for (const text of ['name: CI\non: push\n', '- one\n- two\n', '- name: a\n', '{{ template }}', '- [', '"'])
    expect(findingsOf(text)).toEqual([found])
  expect(findingsOf('# nothing yet\n')).toEqual([])
  expect(findingsOf(`- question: ${'x'.repeat(70_000)}`)).toEqual([
    'warning 1: The file holds no answer tests: it has more than 64 KB.',
  ])
})

test('no more tests than a knowledge base may have are read', () => {
  const { tests, findings } = parseTestFile('- {question: Who?, refuses: true}\n'.repeat(501))
  expect([tests.length, findings.map(({ line }) => line)]).toEqual([500, [501]])
})
