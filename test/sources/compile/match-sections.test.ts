import { describe, expect, test } from 'vitest'
import { matchSections, type OldSection } from '../../../src/sources/compile/editions/continue-parts.ts'
import { fc } from '../../support/properties.ts'

type Section = { name: string; text: string }

const old = (text: string, more: Partial<OldSection> = {}): OldSection => ({ text, isGone: false, ...more })

/** Returns matches by name, if no two old sections have the same one. */
async function match(olds: readonly Section[], news: readonly Section[], more: Partial<OldSection>[] = []) {
  const matches = await matchSections(
    olds.map(({ text }, at) => old(text, more[at])),
    news.map(({ text }) => text),
    (section, at) => news[section]?.name === olds[at]?.name,
  )
  return matches
    .map((found) => (found === undefined ? '-' : `${found.old}${found.doubt === undefined ? '' : '?'}`))
    .join(' ')
}

const words =
  'alder birch cedar daisy elder fern ginger hazel iris juniper kale laurel maple nettle oak poplar quince rose'.split(
    ' ',
  )
/** Words that no other letter's text has. */
const text = (letter: string, count = 40) =>
  Array.from({ length: count }, (_, at) => `${words[at % words.length]} ${letter}${at}`).join(' ')
const changed = (...letters: string[]): Section[] => letters.map((letter) => ({ name: 'Changed', text: text(letter) }))

describe('sections that are all called the same', () => {
  test.each([
    ['as they are', 'abcde', 'abcde', '0 1 2 3 4'],
    ['with one in front', 'abcde', 'xabcde', '- 0 1 2 3 4'],
    ['with one in the midst', 'abcde', 'abxcde', '0 1 - 2 3 4'],
    ['without the first', 'abcde', 'bcde', '1 2 3 4'],
    ['turned round', 'abcde', 'edcba', '4 3 2 1 0'],
    ['with one twice', 'abc', 'aabc', '0 - 1 2'],
    ['all new', 'abc', 'xyz', '- - -'],
  ])('%s', async (_, before, after, expected) => {
    expect(await match(changed(...before), changed(...after))).toBe(expected)
  })

  test('with the same text keep their order', async () => {
    expect(await match(changed('a', 'b', 'a', 'a'), changed('a', 'a', 'b', 'a', 'a'))).toBe('0 - 1 2 3')
  })
})

const one = (name: string, content: string): Section => ({ name, text: content })

test('a section that was split goes on as its larger half, two that were joined as the larger one', async () => {
  const halves = [one('Setup', text('a', 60)), one('Setup of phones', text('b', 30))]
  const whole = one('Setup', `${text('a', 60)} ${text('b', 30)}`)
  expect(await match([whole], halves)).toBe('0 -')
  expect(await match(halves, [whole])).toBe('0')
})

test('a section that has grown much is the same by its name, and else for a curator', async () => {
  const grown = `${text('a', 30)} ${text('x', 150)}`
  expect(await match([one('Setup', text('a', 30))], [one('Setup', grown)])).toBe('0')
  expect(await match([one('Setup', text('a', 30))], [one('Installation', grown)])).toBe('0?')
})

test('a section that was rewritten is for a curator, if its name is its own', async () => {
  const others = [one('Setup', text('a')), one('Use', text('b'))]
  expect(await match(others, [one('Setup', text('x')), one('Use', text('b'))])).toBe('0? 1')
  expect(await match([...others, one('Setup', text('c'))], [one('Setup', text('x')), one('Use', text('b'))])).toBe(
    '- 1',
  )
})

test('a section that has moved and changed its name is the same', async () => {
  const before = ['a', 'b', 'c'].map((letter) => one(letter, text(letter)))
  expect(await match(before, [one('Last', `${text('c')} and more`), ...before.slice(0, 2)])).toBe('2 0 1')
})

test('what is gone comes back only as what it was', async () => {
  const before = [one('Setup', text('a')), one('Use', text('b'))]
  const gone = [{ isGone: true }, {}]
  expect(await match(before, [one('Setup', text('a')), one('Use', text('b'))], gone)).toBe('0 1')
  expect(await match(before, [one('Setup', text('x')), one('Use', text('b'))], gone)).toBe('- 1')
})

test('what a curator refused to take for a section is another', async () => {
  const before = [one('Setup', text('a'))]
  expect(await match(before, [one('Setup', text('x'))])).toBe('0?')
  expect(await match(before, [one('Setup', text('x'))], [{ refused: text('x') }])).toBe('-')
  expect(await match(before, [one('Setup', text('y'))], [{ refused: text('x') }])).toBe('0?')
})

test('texts in scripts without blanks are told apart', async () => {
  const before = [
    one('変更', '本契約は日本法に準拠し解釈される。'),
    one('変更', '返品は三十日以内に限り受け付けます。'),
  ]
  const after = [
    one('変更', '送料は無料です。'),
    one('変更', '本契約は日本法に準拠し、解釈される。'),
    one('変更', '返品は二十日以内に限り受け付けます。'),
  ]
  expect(await match(before, after)).toBe('- 0 1')
})

/** Jaccard of the pairs of neighbouring words, on its own. */
function resemblance(one: string, other: string): number {
  const pairsOf = (content: string) => {
    const all = ['^', ...content.split(' '), '$']
    return new Set(all.slice(1).map((word, at) => `${all[at]} ${word}`))
  }
  const [a, b] = [pairsOf(one), pairsOf(other)]
  const both = [...a].filter((pair) => b.has(pair)).length
  return both / (a.size + b.size - both)
}

const content = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 40 }).map((list) => list.join(' '))
const section: fc.Arbitrary<Section> = fc.record({ name: fc.constantFrom('Changed', 'Added', 'Fixed'), text: content })
type Edit = (sections: Section[], at: number, other: Section) => Section[]
const edits: Edit[] = [
  (all, at, other) => all.toSpliced(at, 0, other),
  (all, at) => all.toSpliced(at, 1),
  (all, at) => [...all.toSpliced(at, 1), ...all.slice(at, at + 1)],
  (all, at, { text: more }) => all.map((it, index) => (index === at ? { ...it, text: `${it.text} ${more}` } : it)),
  (all, at) =>
    all.flatMap((it, index) => {
      const parts = it.text.split(' ')
      const half = parts.length >> 1
      if (index !== at || half === 0) return [it]
      return [parts.slice(0, half), parts.slice(half)].map((list) => ({ ...it, text: list.join(' ') }))
    }),
  (all, at) => {
    const [first, second] = all.slice(at, at + 2)
    return first && second ? all.toSpliced(at, 2, { ...first, text: `${first.text} ${second.text}` }) : all
  },
  (all, at, { name }) => all.map((it, index) => (index === at ? { ...it, name } : it)),
]

test('whatever is changed, no section gets a text that resembles another one more', async () => {
  const editing = fc.tuple(fc.constantFrom(...edits), fc.nat(12), section)
  await fc.assert(
    fc.asyncProperty(
      fc.array(section, { maxLength: 10 }),
      fc.array(editing, { maxLength: 6 }),
      async (before, changes) => {
        const after = changes.reduce((all, [edit, at, other]) => edit(all, at, other), before)
        const matches = await matchSections(
          before.map(({ text: content }) => old(content)),
          after.map(({ text: content }) => content),
          (section, at) => after[section]?.name === before[at]?.name,
        )
        const olds = matches.flatMap((found) => found?.old ?? [])
        expect(new Set(olds).size).toBe(olds.length)
        for (const [at, { text: content }] of after.entries()) {
          const found = matches[at]
          if (found === undefined || found.doubt !== undefined) continue
          const own = resemblance(before[found.old]?.text ?? '', content)
          for (const { text: other } of before) expect(resemblance(other, content)).toBeLessThanOrEqual(own + 1e-9)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('two editions of five hundred sections that share most words take bounded work', async () => {
  const many = Array.from({ length: 500 }, (_, at) =>
    one('Changed', `${text('a', 200)} ${text(String(at), 20)} number ${at}`),
  )
  const expected = ['-', ...many.keys()].join(' ')
  expect(await match(many, [one('Changed', text('x', 100)), ...many])).toBe(expected)
})
