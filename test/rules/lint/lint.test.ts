import { describe, expect, test } from 'vitest'
import { edgeTypes } from '../../../src/contract/enumerations.ts'
import {
  findingFingerprint,
  impactOf,
  LinkSurvey,
  type LintedLink,
  type LintFinding,
} from '../../../src/rules/lint/link-survey.ts'
import { fc } from '../../support/properties.ts'

type Written = Pick<LintedLink, 'seqId' | 'meaning'> & Partial<LintedLink>

function findings(links: readonly Written[], neurons: readonly string[] = [], likely: Record<string, string[]> = {}) {
  const survey = new LinkSurvey()
  for (const link of links) {
    const target = link.target ?? 'Target'
    survey.add({ type: 'cites', form: 'wiki', embed: false, line: 1, target, key: target.toLowerCase(), ...link })
  }
  return [...survey.findings(neurons, (key) => likely[key] ?? [])]
}

const missing = { missing: true } as const
const rules = (found: readonly LintFinding[]) => found.map(({ rule }) => rule)

describe('orphan', () => {
  const orphans = (links: readonly Written[]) =>
    findings(links, ['a', 'b', 'c']).filter(({ rule }) => rule === 'orphan')
  const orphan = (seqId: string) => ({ rule: 'orphan', seqId })

  test('is a Neuron that no link leads to or from', () => {
    expect(orphans([{ seqId: 'a', meaning: { seqId: 'b' } }])).toEqual([orphan('c')])
  })

  test('a link to itself, or to a file, makes no difference', () => {
    const links = [{ seqId: 'a', meaning: { seqId: 'a' } }, { seqId: 'b', meaning: { file: 'neurons/a.png' } } as const]
    expect(orphans(links)).toEqual([orphan('a'), orphan('b'), orphan('c')])
  })

  test('a link that is broken, leads elsewhere or may mean it does', () => {
    const links = [
      { seqId: 'a', meaning: missing },
      { seqId: 'b', meaning: undefined },
      { seqId: 'x', meaning: { ambiguous: ['c', 'd'] } },
    ]
    expect(orphans(links)).toEqual([])
  })
})

describe('missing-target', () => {
  test('is one for a target, however often and wherever it is linked to', () => {
    const links: Written[] = [
      { seqId: 'a', line: 3, meaning: missing },
      { seqId: 'a', line: 9, meaning: missing, target: 'TARGET' },
      { seqId: 'b', line: null, meaning: missing },
      { seqId: 'b', line: 1, meaning: missing, target: 'Other' },
    ]
    expect(findings(links, [], { target: ['z'] })).toEqual([
      {
        rule: 'missing-target',
        ...{ key: 'target', target: 'Target', links: 3, neurons: 2, likely: ['z'] },
        places: [
          { seqId: 'a', line: 3 },
          { seqId: 'a', line: 9 },
          { seqId: 'b', line: null },
        ],
      },
      {
        rule: 'missing-target',
        ...{ key: 'other', target: 'Other', links: 1, neurons: 1, likely: [] },
        places: [{ seqId: 'b', line: 1 }],
      },
    ])
  })

  test('is also an edge of the front matter that leads to a file', () => {
    expect(rules(findings([{ seqId: 'a', form: 'edge', line: null, meaning: { file: 'neurons/a.png' } }]))).toEqual([
      'missing-target',
    ])
  })

  test('keeps the first twenty places and counts all', () => {
    const links = Array.from({ length: 50 }, (_, line) => ({ seqId: 'a', line, meaning: missing }))
    const [found] = findings(links)
    expect(found).toMatchObject({ links: 50, neurons: 1, places: { length: 20 } })
  })
})

describe('gap', () => {
  const from = (...seqIds: string[]): Written[] => seqIds.map((seqId) => ({ seqId, meaning: missing }))

  test('is a missing target that three Neurons want', () => {
    expect(rules(findings(from('a', 'b', 'c')))).toEqual(['gap'])
    expect(rules(findings(from('a', 'a', 'a', 'b')))).toEqual(['missing-target'])
  })

  test('is none where the target has a likely meaning', () => {
    expect(rules(findings(from('a', 'b', 'c'), [], { target: ['z'] }))).toEqual(['missing-target'])
  })

  test('is none where what is missing is a file', () => {
    const embeds = from('a', 'b', 'c').map((link) => ({ ...link, embed: true }))
    expect(rules(findings(embeds.map((link) => ({ ...link, target: 'plan.png' }))))).toEqual(['missing-target'])
    expect(rules(findings(embeds))).toEqual(['gap'])
  })
})

test('ambiguous-target names all that any spelling may mean', () => {
  const links: Written[] = [
    { seqId: 'a', meaning: { ambiguous: ['y', 'z'] } },
    { seqId: 'b', meaning: { ambiguous: ['x', 'y'] }, target: 'TARGET', line: 2 },
  ]
  expect(findings(links)).toEqual([
    {
      rule: 'ambiguous-target',
      ...{ key: 'target', target: 'Target', links: 2, neurons: 2, meanings: ['x', 'y', 'z'] },
      places: [
        { seqId: 'a', line: 1 },
        { seqId: 'b', line: 2 },
      ],
    },
  ])
})

describe('contradiction', () => {
  const edge = (seqId: string, type: LintedLink['type'], target: string): Written => ({
    ...{ seqId, type, meaning: { seqId: target } },
  })
  const pair = { rule: 'contradiction', pair: ['a', 'b'] }

  test('is one for two Neurons, whichever says so', () => {
    expect(findings([edge('b', 'contradicts', 'a')])).toEqual([pair])
    expect(findings([edge('a', 'contradicts', 'b'), edge('b', 'contradicts', 'a')])).toEqual([pair])
  })

  test.each([
    ['one supersedes the other', [edge('a', 'supersedes', 'b')]],
    ['the other supersedes the one', [edge('b', 'supersedes', 'a')]],
    ['a third supersedes both', [edge('c', 'supersedes', 'a'), edge('c', 'supersedes', 'b')]],
  ])('is decided where %s', (_, decisions) => {
    expect(findings([edge('a', 'contradicts', 'b'), ...decisions])).toEqual([])
  })

  test('is not decided by what supersedes only one, or each', () => {
    const links = [edge('a', 'contradicts', 'b'), edge('c', 'supersedes', 'a'), edge('d', 'supersedes', 'b')]
    expect(findings(links)).toEqual([pair])
  })
})

describe('a fingerprint', () => {
  const prints = (links: readonly Written[]) => findings(links, ['o']).map(findingFingerprint)

  test('is the same wherever the links stand and however many there are', () => {
    const link: Written = { seqId: 'a', meaning: missing }
    const moved: Written[] = [
      { ...link, seqId: 'b', line: 7, target: 'TARGET' },
      { ...link, seqId: 'c' },
    ]
    expect(prints([link])).toEqual(prints(moved))
    expect(prints([link])).toEqual([
      // Other values would propose again what every queue has already.
      '3270ce80e5d0ee9c58ab3718312b7d48102a686866318f5f46d6431e6d69e985',
      'f6620a56c12ad5197bcd0213237ac1b95ee94a9843a09695b5ad06cf2ee33d8c',
    ])
  })

  test('is another for another rule or subject', () => {
    const links: Written[] = [
      { seqId: 'a', meaning: missing },
      { seqId: 'a', meaning: missing, target: 'o' },
      { seqId: 'a', meaning: { ambiguous: ['x', 'y'] } },
      { seqId: 'a', meaning: { seqId: 'b' }, type: 'contradicts' },
    ]
    expect(new Set(prints(links)).size).toBe(5)
  })
})

test('every finding concerns a Neuron at least', () => {
  const neuron = fc.constantFrom('a', 'b', 'c', 'd')
  const meaning = fc.oneof(
    fc.constantFrom(missing, undefined, { file: 'neurons/a.png' } as const),
    fc.record({ seqId: neuron }),
    fc.record({ ambiguous: fc.uniqueArray(neuron, { minLength: 2 }) }),
  )
  const link = fc.record({
    ...{ seqId: neuron, meaning, target: fc.constantFrom('T', 'U'), type: fc.constantFrom(...edgeTypes) },
    line: fc.option(fc.nat()),
  })
  fc.assert(
    fc.property(fc.array(link), (links) => {
      const sorted = links.toSorted((a, b) => a.seqId.localeCompare(b.seqId))
      const found = findings(sorted, ['a', 'b', 'c', 'd'])
      expect(found.every((finding) => impactOf(finding) > 0)).toBe(true)
      expect(new Set(found.map(findingFingerprint)).size).toBe(found.length)
    }),
  )
})
