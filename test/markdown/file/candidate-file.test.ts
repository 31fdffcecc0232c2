import { describe, expect, test } from 'vitest'
import { candidateKinds } from '../../../src/contract/vocabulary.ts'
import { CandidateFileError, formatCandidate, parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import type { Candidate } from '../../../src/rules/candidates/candidate.ts'
import { fc, runs } from '../../support/properties.ts'
import { awkwardText } from '../arbitraries.ts'

const candidate: Candidate = {
  id: '0199a5c1-0000-7000-8000-000000000002',
  kind: 'user-correction',
  title: 'VIP: policy',
  content: '---js\nPage the lead.\n',
  metadata: '{"targetNeuron":"handbook_00000042"}',
  confidence: 0.85,
  impactEstimate: 3,
  connector: 'api',
  target: 'handbook_00000042',
  base: 'a'.repeat(40),
  removes: true,
  frontMatter: '---\ntitle: VIP\n---\n',
  verdict: { approve: false, zone: 'red', reason: 'zone red', warnings: ['Careful, now.'] },
  createdAt: '2026-01-31T10:00:00.000Z',
  createdBy: { id: 'key:1', name: 'Ann' },
  decisions: [
    { action: 'dismiss', at: '2026-02-01T10:00:00.000Z', by: { id: 'key:2', name: 'Bob, B.' }, reason: 'No.' },
    { action: 'reopen', at: '2026-02-02T10:00:00.000Z', by: { id: 'cli', name: 'root' } },
  ],
}

const file = `---
id: 0199a5c1-0000-7000-8000-000000000002
kind: user-correction
title: "VIP: policy"
confidence: 0.85
impactEstimate: 3
connector: api
target: handbook_00000042
base: ${'a'.repeat(40)}
removes: true
frontMatter: "---\\ntitle: VIP\\n---\\n"
verdict: { approve: false, zone: red, reason: zone red, warnings: ["Careful, now."] }
createdAt: "2026-01-31T10:00:00.000Z"
createdBy: { id: "key:1", name: Ann }
decisions:
  - { action: dismiss, at: "2026-02-01T10:00:00.000Z", by: { id: "key:2", name: "Bob, B." }, reason: No. }
  - { action: reopen, at: "2026-02-02T10:00:00.000Z", by: { id: cli, name: root } }
metadata: "{\\"targetNeuron\\":\\"handbook_00000042\\"}"
---

---js
Page the lead.

`

describe("a candidate's file", () => {
  test('is front matter with the record, and the content byte for byte', () => {
    expect(formatCandidate(candidate)).toBe(file)
    expect(parseCandidate(file)).toEqual(candidate)
  })

  test('marks a reversal, which older versions record only in the reason', () => {
    const reversal: Candidate = { ...candidate, reverts: true }
    expect(parseCandidate(formatCandidate(reversal))).toEqual(reversal)
    const older = file.replace('reason: zone red', 'reason: takes back "VIP"')
    expect(parseCandidate(older)).toEqual({
      ...reversal,
      verdict: { ...candidate.verdict, reason: 'takes back "VIP"' },
    })
  })

  test('leaves out what is null or empty', () => {
    const bare: Candidate = {
      ...candidate,
      metadata: null,
      confidence: null,
      impactEstimate: null,
      target: null,
      base: null,
      verdict: { approve: true, zone: null, reason: 'x', warnings: [] },
      decisions: [],
    }
    const text = formatCandidate(bare)
    expect(text).not.toMatch(/null|metadata|confidence|decisions|warnings/)
    expect(parseCandidate(text)).toEqual(bare)
  })

  test('may be edited by a hand', () => {
    const edited = file
      .replace('title: "VIP: policy"', "# a comment\ntitle: 'VIP: policy'   # another")
      .replaceAll('zone: red,', 'zone:  red ,')
    expect(parseCandidate(edited)).toEqual(candidate)
  })

  test('holds metadata of 16 KB that is all quotes', () => {
    const metadata = JSON.stringify({ text: '"'.repeat(8 * 1024 - 10) })
    expect(parseCandidate(formatCandidate({ ...candidate, metadata })).metadata).toBe(metadata)
  })

  test.each([
    ['no front matter', 'hello'],
    ['an unclosed block', file.replace('\n---\n\n', '\n\n')],
    ['broken YAML', file.replace('kind: ', 'kind: [')],
    ['an unknown kind', file.replace('user-correction', 'poem')],
    ['a missing id', file.replace(/^id: .*\n/m, '')],
    ['a confidence that is no number', file.replace('0.85', 'high')],
    ['a confidence beyond 1', file.replace('0.85', '1.5')],
    ['an impact that is no whole number', file.replace('impactEstimate: 3', 'impactEstimate: 3.5')],
    ['a day that does not exist', file.replace('2026-01-31T10', '2026-02-31T10')],
    ['metadata that is no JSON object', file.replace(/metadata: .*/, 'metadata: "[1]"')],
    ['an unknown decision', file.replace('action: reopen', 'action: burn')],
    ['a list', '---\n- a\n---\n'],
  ])('%s is a CandidateFileError', (_name, text) => {
    expect(() => parseCandidate(text)).toThrow(CandidateFileError)
  })

  const actor = fc.record({ id: awkwardText, name: awkwardText })
  const time = fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const decision = fc.record(
    {
      action: fc.constantFrom('dismiss' as const, 'reopen' as const, 'comment' as const, 'revise' as const),
      at: time,
      by: actor,
      reason: awkwardText,
    },
    { requiredKeys: ['action', 'at', 'by'] },
  )
  const anyCandidate: fc.Arbitrary<Candidate> = fc.record({
    id: fc.uuid(),
    kind: fc.constantFrom(...candidateKinds),
    title: awkwardText,
    content: awkwardText,
    metadata: fc.option(awkwardText.map((text) => JSON.stringify({ text }))),
    confidence: fc.option(fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0)),
    impactEstimate: fc.option(fc.nat()),
    connector: awkwardText,
    target: fc.option(awkwardText),
    base: fc.option(fc.stringMatching(/^[0-9a-f]{40}$/)),
    removes: fc.boolean(),
    frontMatter: fc.option(awkwardText),
    verdict: fc.record({
      approve: fc.boolean(),
      zone: fc.constantFrom('green' as const, 'red' as const, null),
      reason: awkwardText,
      warnings: fc.array(awkwardText, { maxLength: 2 }),
    }),
    createdAt: time,
    createdBy: actor,
    decisions: fc.array(decision, { maxLength: 3 }),
  })

  test('gives back any candidate', () => {
    fc.assert(
      fc.property(anyCandidate, (any) => {
        expect(JSON.stringify(sorted(parseCandidate(formatCandidate(any))))).toBe(JSON.stringify(sorted(any)))
      }),
      { numRuns: runs(1000) },
    )
  })

  test('is read without a look into its content', () => {
    const content = '---\na: [\n'.repeat(500_000) // as YAML, it would take minutes
    expect(parseCandidate(formatCandidate({ ...candidate, content })).content).toBe(content)
  })
})

/** Key order is not part of a candidate. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, sorted(item)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}
