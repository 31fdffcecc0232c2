import { expect, test } from 'vitest'
import { formatCodeClimate, formatGithub, formatText } from '../../../src/cli/commands/check.ts'
import type { Finding } from '../../../src/rules/neurons/neuron.ts'
import { anyCharacter, fc } from '../../support/properties.ts'

const finding = (given: Partial<Finding>): Finding => ({
  ...{
    rule: 'broken-link',
    severity: 'warning',
    path: 'neurons/a.md',
    line: 3,
    message: 'No Neuron answers to [[x]].',
  },
  ...given,
})
const anyFinding = fc.record({
  rule: fc.constantFrom('broken-link', 'path', 'settings'),
  severity: fc.constantFrom('error' as const, 'warning' as const),
  path: fc.string({ unit: anyCharacter, minLength: 1 }),
  line: fc.integer({ min: 1 }),
  message: fc.string(),
})

test('text has a line for each finding, and a summary', () => {
  expect(formatText([finding({}), finding({ severity: 'error', rule: 'path', message: 'Bad.' })], 12)).toBe(
    [
      'neurons/a.md:3: warning[broken-link]: No Neuron answers to [[x]].',
      'neurons/a.md:3: error[path]: Bad.',
      '1 error and 1 warning in 12 files.',
    ].join('\n'),
  )
  expect(formatText([], 1)).toBe('0 errors and 0 warnings in 1 file.')
})

test('a hostile path stays on its line and cannot steer a terminal', () => {
  const hostile = /[\p{Cc}\p{Bidi_Control}]/u
  const path = 'neurons/\u001b[2Jx\n::error::y\u202e.md'
  expect(formatText([finding({ path })], 1).split('\n')).toHaveLength(2)
  expect(formatText([finding({ path })], 1).replaceAll('\n', '')).not.toMatch(hostile)
  expect(formatGithub([finding({ path })])).not.toMatch(hostile)
})

test("GitHub's workflow commands escape what would end a property or the message", () => {
  const given = finding({ path: 'neurons/100%: a,b.md', message: '50%\r\nof it: a,b', severity: 'error' })
  expect(formatGithub([given, finding({})])).toBe(
    [
      '::error file=neurons/100%25%3A a%2Cb.md,line=3,title=broken-link::50%25%0D%0Aof it: a,b',
      '::warning file=neurons/a.md,line=3,title=broken-link::No Neuron answers to [[x]].',
    ].join('\n'),
  )
  expect(formatGithub([])).toBe('')
})

test("GitHub's workflow commands read back as what was found", () => {
  const decoded = (text = '') =>
    text
      .replaceAll('%2C', ',')
      .replaceAll('%3A', ':')
      .replaceAll('%0A', '\n')
      .replaceAll('%0D', '\r')
      .replaceAll('%25', '%')
  fc.assert(
    fc.property(anyFinding, (given) => {
      const [, severity, file, line, title, message] =
        /^::(\w+) file=([^,:]*),line=(\d+),title=([^,:]*)::(.*)$/.exec(formatGithub([given])) ?? []
      expect([severity, Number(line), decoded(title)]).toEqual([given.severity, given.line, given.rule])
      expect(decoded(message)).toBe(given.message)
      expect(file).toBeDefined()
    }),
  )
})

test('the report for GitLab has what GitLab reads, and tells findings apart', () => {
  const one = finding({ message: 'No.' })
  const issues = JSON.parse(formatCodeClimate([one, { ...one, line: 9 }, { ...one, severity: 'error' }]))
  expect(issues[0]).toEqual({
    description: 'No.',
    check_name: 'broken-link',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    severity: 'minor',
    location: { path: 'neurons/a.md', lines: { begin: 3 } },
  })
  expect(issues[2].severity).toBe('major')
  expect(new Set(issues.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).size).toBe(3)
  const [moved] = JSON.parse(formatCodeClimate([{ ...one, line: 40 }]))
  expect(moved.fingerprint).toBe(issues[0].fingerprint)
  expect(formatCodeClimate([])).toBe('[]')
})
