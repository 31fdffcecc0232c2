import { expect, test } from 'vitest'
import { CandidateInput } from '../../../src/contract/candidates.ts'
import { parseMarkdown } from '../../../src/markdown/parse/parse-markdown.ts'
import type { LintFinding } from '../../../src/rules/lint/link-survey.ts'
import { lintCandidate } from '../../../src/rules/lint/lint-candidate.ts'
import { extractLinks } from '../../markdown/extract-parts.ts'
import { anyCharacter, fc } from '../../support/properties.ts'

const a = 'handbook_00000001'
const b = 'handbook_00000002'
const places = [
  { seqId: a, line: 3 },
  { seqId: b, line: null },
]
const target = (name: string) => ({ key: name, target: name, links: 2, neurons: 2, places })
const findingsOn = (name: string): LintFinding[] => [
  { rule: 'orphan', seqId: a },
  { rule: 'contradiction', pair: [a, b] },
  { rule: 'gap', ...target(name) },
  { rule: 'taken-name', key: name, name, holder: a, others: [b] },
  { rule: 'missing-target', ...target(name), likely: [b] },
  { rule: 'ambiguous-target', ...target(name), meanings: [a, b] },
]
const candidateOf = (finding: LintFinding, titleOf = (seqId: string) => `Title of ${seqId.slice(-1)}`) =>
  lintCandidate('handbook', finding, { titleOf, related: [b] })

test('a finding is a candidate that a curator can read and follow', () => {
  expect(candidateOf({ rule: 'missing-target', ...target('On-call rotaton'), links: 5, likely: [b] })).toEqual({
    knowledgeBaseId: 'handbook',
    kind: 'cross-ref-suggestion',
    title: 'Broken link: On-call rotaton',
    content:
      'No Neuron answers to “On-call rotaton”, so 5 links to it lead nowhere.\n\n' +
      `## Perhaps meant\n\n- [[${b}|Title of 2]]\n\n` +
      `## Links\n\n- [[${a}|Title of 1]], line 3\n- [[${b}|Title of 2]], front matter\n- and 3 more\n`,
    metadata: expect.stringMatching(
      /^\{"connector":"lint","rule":"missing-target","fingerprint":"[0-9a-f]{64}","tags":\["internal","lint"\]\}$/,
    ),
    confidence: null,
    impactEstimate: 2,
  })
})

test('each rule has its kind', () => {
  expect(findingsOn('X').map((finding) => candidateOf(finding).kind)).toEqual([
    'cross-ref-suggestion',
    'contradiction-alert',
    'gap-detection',
    'cross-ref-suggestion',
    'cross-ref-suggestion',
    'cross-ref-suggestion',
  ])
})

test('whatever a title or a target holds, it adds no link and no heading, and the candidate is one that the contract takes', () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      '[[X]]',
      'a]] [[X',
      '\n# Head\n',
      '\u202e[x](http://x)',
      '<script>',
      '| a |\n|--|',
      '`',
      '---',
      '\\',
    ),
    fc.string({ unit: anyCharacter, maxLength: 300 }),
    fc
      .array(fc.constantFrom('[', ']', '|', '#', '\\', '`', '<', '\n', '!', 'x'), { maxLength: 12 })
      .map((all) => all.join('')),
  )
  const headings = (content: string) => parseMarkdown(content).children.filter(({ type }) => type === 'heading')
  fc.assert(
    fc.property(hostile, hostile, (title, name) => {
      for (const [index, finding] of findingsOn(name).entries()) {
        const candidate = candidateOf(finding, () => title)
        const plain = candidateOf(findingsOn('X')[index] ?? finding)
        const targets = (content: string) => extractLinks(content).map((link) => link.target)
        expect(targets(candidate.content)).toEqual(targets(plain.content))
        expect(headings(candidate.content)).toHaveLength(headings(plain.content).length)
        expect(CandidateInput.safeParse(candidate).error).toBeUndefined()
      }
    }),
  )
})
