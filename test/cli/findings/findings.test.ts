import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { formatGithub } from '../../../src/cli/findings/github-findings.ts'
import { ruleSummary } from '../../../src/cli/findings/rule-summary.ts'
import { formatSarif } from '../../../src/cli/findings/sarif.ts'
import { formatText } from '../../../src/cli/findings/text-findings.ts'
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

const Text = z.strictObject({ text: z.string().min(1) })
/** What of the SARIF 2.1.0 schema the log uses; the names and the required properties are the standard's. */
const Sarif = z.strictObject({
  $schema: z.url(),
  version: z.literal('2.1.0'),
  runs: z.tuple([
    z.strictObject({
      tool: z.strictObject({
        driver: z.strictObject({
          name: z.string(),
          rules: z.array(z.strictObject({ id: z.string(), shortDescription: Text })),
        }),
      }),
      columnKind: z.literal('utf16CodeUnits'),
      originalUriBaseIds: z.record(z.string(), z.strictObject({ description: Text })),
      results: z.array(
        z.strictObject({
          ruleId: z.string(),
          ruleIndex: z.int().nonnegative(),
          level: z.enum(['error', 'warning']),
          message: z.strictObject({ text: z.string() }),
          locations: z.tuple([
            z.strictObject({
              physicalLocation: z.strictObject({
                artifactLocation: z.strictObject({
                  uri: z.string().regex(/^(?:[\w.!~*'()/-]|%[0-9A-F]{2})+$/),
                  uriBaseId: z.string(),
                }),
                region: z.strictObject({ startLine: z.int().positive() }),
              }),
            }),
          ]),
        }),
      ),
    }),
  ]),
})

test('SARIF names each rule once, and every result refers to its rule, base and place', () => {
  fc.assert(
    fc.property(fc.array(anyFinding), (findings) => {
      const text = formatSarif(findings)
      expect(text).not.toContain('\n')
      const [run] = Sarif.parse(JSON.parse(text)).runs
      const ids = run.tool.driver.rules.map(({ id }) => id)
      expect(ids).toEqual([...new Set(findings.map(({ rule }) => rule))].sort())
      expect(run.results).toHaveLength(findings.length)
      for (const [index, { ruleId, ruleIndex, level, message, locations }] of run.results.entries()) {
        const { artifactLocation, region } = locations[0].physicalLocation
        const found = findings[index]
        expect(ids[ruleIndex]).toBe(ruleId)
        expect(run.originalUriBaseIds).toHaveProperty([artifactLocation.uriBaseId])
        expect({
          ...{ rule: ruleId, severity: level, line: region.startLine, message: message.text },
          path: decodeURIComponent(artifactLocation.uri),
        }).toEqual({ ...found, path: found?.path.toWellFormed() })
      }
    }),
  )
})

test('SARIF paths are relative URIs', () => {
  const log = Sarif.parse(JSON.parse(formatSarif([finding({ path: 'neurons/a b/100% ü#1?.md' })])))
  const [location] = log.runs[0].results[0]?.locations ?? []
  expect(location?.physicalLocation.artifactLocation.uri).toBe('neurons/a%20b/100%25%20%C3%BC%231%3F.md')
})

test('every rule of the check has a summary', () => {
  const folder = fileURLToPath(new URL('../../../src/', import.meta.url))
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?:rules\/check|markdown\/|clone-check\/read-checkout)/.test(path) && path.endsWith('.ts'))
    .map((path) => readFileSync(folder + path, 'utf8'))
    .join('\n')
  const named = [...sources.matchAll(/(?:rule: |report\(|duplicates\(holders, |problem\(|\? \[)'([a-z-]+)'/g)]
  const rules = new Set(named.map(([, rule = '']) => rule))
  expect(rules.size).toBeGreaterThan(15)
  expect([...rules].filter((rule) => ruleSummary(rule) === rule)).toEqual([])
})
