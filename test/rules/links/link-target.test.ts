import { describe, expect, test } from 'vitest'
import {
  type LinkAddress,
  linkKey,
  type NamedNeuron,
  namedNeurons,
  namesOf,
  resolveTarget,
  targetKeys,
} from '../../../src/rules/links/link-target.ts'
import { fc, runs } from '../../support/properties.ts'
import { hostileText } from '../hostile-text.ts'

type Named = Parameters<typeof namesOf>[0]

const neurons: Named[] = [
  {
    seqId: 'kb_00000001',
    path: 'neurons/2026/01/vip-escalation.md',
    title: 'VIP escalation policy',
    aliases: ['VIP paging'],
  },
  { seqId: 'kb_00000002', path: 'neurons/on-call.md', title: 'On-call rotation', aliases: [] },
  { seqId: 'kb_00000003', path: 'neurons/people/on-call.md', title: 'People on call', aliases: ['vip-escalation'] },
  { seqId: 'kb_00000004', path: 'neurons/Crème Brûlée.md', title: 'Crème brûlée', aliases: ['Dessert'] },
  { seqId: 'kb_00000005', path: 'neurons/sweet/mousse.md', title: 'Mousse', aliases: ['Dessert'] },
  { seqId: 'kb_00000006', path: 'neurons/case/lower.md', title: 'rust', aliases: [] },
  { seqId: 'kb_00000007', path: 'neurons/case/upper.md', title: 'Rust', aliases: [] },
  { seqId: 'kb_00000008', path: 'neurons/a/b.md', title: 'Outer', aliases: ['kb_00000001'] },
  { seqId: 'kb_00000009', path: 'neurons/x/a/b.md', title: 'Inner', aliases: [] },
  { seqId: 'kb_00000010', path: 'neurons/tcp.md', title: 'TCP/IP', aliases: [] },
  { seqId: 'kb_00000011', path: 'neurons/zettel/202401021530 On notes.md', title: '❤\ufe0f Notes', aliases: [] },
]

function lookupIn(named: readonly Named[]): (key: string) => NamedNeuron[] {
  const all = named.flatMap(namedNeurons)
  return (key) => all.filter((name) => name.key === key)
}

const wiki = (target: string, from = 'neurons/page.md'): LinkAddress => ({ target, form: 'wiki', from })
const resolve = (target: string) => resolveTarget(wiki(target), lookupIn(neurons))

test('thousands of pages that link to their own README take time linear in their number', () => {
  const readmes = Array.from({ length: 40_000 }, (_, n) => ({
    ...{ seqId: `kb_${String(n).padStart(8, '0')}`, path: `neurons/d${n}/README.md`, title: 'README', aliases: [] },
  }))
  const byKey = Map.groupBy(readmes.flatMap(namedNeurons), ({ key }) => key)
  const lookup = (key: string) => byKey.get(key) ?? []
  // In quadratic time, they take more than the test has.
  for (const { seqId, path } of readmes) {
    expect(resolveTarget(wiki('README', path.replace('README', 'page')), lookup)).toEqual({ seqId })
  }
  // Those with the shortest path.
  expect(resolveTarget(wiki('readme', 'neurons/x.md'), lookup)).toEqual({
    ambiguous: readmes.slice(0, 10).map(({ seqId }) => seqId),
  })
})

describe('resolveTarget', () => {
  test.each([
    ['kb_00000002', '2'],
    ['KB_00000002', '2'],
    ['2026/01/vip-escalation', '1'],
    ['neurons/2026/01/vip-escalation.md', '1'],
    ['/neurons/on-call.md', '2'],
    ['01/vip-escalation', '1'],
    ['people/on-call', '3'],
    ['on-call.md', '2'],
    ['VIP escalation policy', '1'],
    ['vip  ESCALATION_policy', '1'],
    ['VIP paging', '1'],
    ['On-call rotation', '2'],
    ['on call rotation', '2'],
    ['creme brulee', '4'],
    ['Cre\u0300me Bru\u0302le\u0301e', '4'],
    ['TCP/IP', '10'],
    ['202401021530', '11'],
    ['❤ notes', '11'],
    ['  Mousse ', '5'],
  ])('%j is Neuron %s', (target, number) => {
    expect(resolve(target)).toEqual({ seqId: `kb_${number.padStart(8, '0')}` })
  })

  test('a seqId wins over an alias of the same spelling', () => {
    expect(resolve('kb_00000001')).toEqual({ seqId: 'kb_00000001' })
  })

  test('a full path wins over the end of another', () => {
    expect(resolve('a/b')).toEqual({ seqId: 'kb_00000008' })
    expect(resolve('on-call')).toEqual({ seqId: 'kb_00000002' })
  })

  test('a file name wins over an alias', () => {
    expect(resolve('vip-escalation')).toEqual({ seqId: 'kb_00000001' })
  })

  test('the exact spelling wins over a folded one, also of a better kind', () => {
    expect(resolve('rust')).toEqual({ seqId: 'kb_00000006' })
    expect(resolve('Rust')).toEqual({ seqId: 'kb_00000007' })
    const lookup = lookupIn([
      { seqId: 'kb_00000001', path: 'neurons/ada.md', aliases: [] },
      { seqId: 'kb_00000002', path: 'neurons/x.md', title: 'Ada', aliases: [] },
    ])
    expect(resolveTarget(wiki('Ada'), lookup)).toEqual({ seqId: 'kb_00000002' })
    expect(resolveTarget(wiki('ADA'), lookup)).toEqual({ seqId: 'kb_00000001' })
  })

  test('several Neurons on the best level are ambiguous', () => {
    expect(resolve('Dessert')).toEqual({ ambiguous: ['kb_00000004', 'kb_00000005'] })
    expect(resolve('RUST')).toEqual({ ambiguous: ['kb_00000006', 'kb_00000007'] })
  })

  test.each(['', ' ', '-', '.md', 'Nowhere', 'vip', 'call', 'neurons/', '__proto__', 'a/b/c', 'ation/vip'])(
    '%j is missing',
    (target) => {
      expect(resolve(target)).toEqual({ missing: true })
    },
  )

  test('a Neuron answers to each of its names, or the name is ambiguous', () => {
    const named = fc.record({
      seqId: fc.integer({ min: 1, max: 99 }).map((n) => `kb_${String(n).padStart(8, '0')}`),
      path: fc
        .array(fc.constantFrom('a', 'b', 'É', 'e'), { minLength: 1, maxLength: 3 })
        .map((p) => `neurons/${p.join('/')}.md`),
      title: hostileText,
      aliases: fc.array(hostileText, { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.uniqueArray(named, { maxLength: 4, selector: ({ seqId }) => seqId }), (all) => {
        const lookup = lookupIn(all)
        for (const neuron of all) {
          expect(resolveTarget(wiki(neuron.seqId), lookup)).toEqual({ seqId: neuron.seqId })
          expect(namesOf(neuron).map(({ exact }) => resolveTarget(wiki(exact), lookupIn(all.toReversed())))).toEqual(
            namesOf(neuron).map(({ exact }) => resolveTarget(wiki(exact), lookup)),
          )
          for (const { exact } of namesOf(neuron))
            expect(resolveTarget(wiki(exact), lookup)).not.toEqual({ missing: true })
        }
      }),
    )
  })
})

describe('a link to a folder', () => {
  const pages = ['guide/README', 'guide/_index', 'Guide/index', 'b/_index', 'b/Readme', 'b/c/page', 'index']
  const named = pages.map((path, index) => ({ seqId: `kb_${index}`, path: `neurons/${path}.md`, aliases: [] }))
  const meant = (target: string, from: string, form: LinkAddress['form'] = 'markdown') => {
    const found = resolveTarget({ target, form, from: `neurons/${from}.md` }, lookupIn(named))
    return 'seqId' in found
      ? named.find(({ seqId }) => seqId === found.seqId)?.path.slice('neurons/'.length, -3)
      : found
  }

  test.each([
    ['guide/', 'page', 'guide/README'],
    ['./Guide/', 'page', 'Guide/index'],
    ['GUIDE/', 'page', 'Guide/index'],
    ['../', 'b/c/page', 'b/Readme'],
    ['..', 'b/c/page', 'b/Readme'],
    ['./', 'b/page', 'b/Readme'],
    ['../..', 'b/c/page', 'index'],
    ['/', 'b/c/page', 'index'],
    ['/b/', 'b/c/page', 'b/Readme'],
    ['b/', 'guide/page', 'b/Readme'],
    ['c/../', 'b/page', 'b/Readme'],
  ])('%s in %s means %s: its index, README or _index', (target, from, page) => {
    expect(meant(target, from)).toBe(page)
    const { key, bareKey = key } = targetKeys({ target, form: 'markdown', from: `neurons/${from}.md` })
    const keys = named
      .flatMap((each) => (each.path === `neurons/${page}.md` ? namesOf(each) : []))
      .map((name) => name.key)
    expect(keys.includes(key) || keys.includes(bareKey)).toBe(true)
  })

  test('is a relative wiki link, or one by the path of the folder', () => {
    expect([meant('../', 'b/c/page', 'wiki'), meant('b/', 'page', 'wiki')]).toEqual(['b/Readme', 'b/Readme'])
  })

  test.each(['c/', './b/', '../../../', '../', 'x/guide/'])(
    '%s is missing where the folder has no such page',
    (target) => {
      expect(meant(target, target === '../' ? 'page' : 'b/page')).toEqual({ missing: true })
    },
  )
})

test('a Neuron answers to its seqId, path, the ends of its path, title and aliases', () => {
  expect(
    namesOf({ seqId: 'kb_00000001', path: 'neurons/A/Über-uns.md', title: 'About us', aliases: ['Us', ' '] }),
  ).toEqual([
    { key: 'kb 00000001', exact: 'kb_00000001', kind: 'seqId' },
    { key: 'a/uber uns', exact: 'A/Über-uns', kind: 'path' },
    { key: 'a/uber uns', exact: 'A/Über-uns', kind: 'file' },
    { key: 'uber uns', exact: 'Über-uns', kind: 'file' },
    { key: 'about us', exact: 'About us', kind: 'title' },
    { key: 'us', exact: 'Us', kind: 'alias' },
  ])
})

test('a link is looked up by its target, and by the path that it may be', () => {
  expect(targetKeys(wiki('On-call'))).toEqual({ key: 'on call' })
  expect(targetKeys(wiki(' On call '))).toEqual({ key: 'on call' })
  expect(targetKeys(wiki('./People/On-call.md', 'neurons/ops/page.md'))).toEqual({
    key: 'ops/people/on call',
    bareKey: './people/on call.md',
  })
  expect(targetKeys(wiki('C#'))).toEqual({ key: 'c#', bareKey: 'c' })
  expect(targetKeys({ target: 'b.md', form: 'markdown', from: 'neurons/a/c.md' })).toEqual({ key: 'a/b', bareKey: 'b' })
  expect(targetKeys(wiki('neurons/x'))).toEqual({ key: 'neurons/x', bareKey: 'x' })
})

test('whatever Neuron a target means, one of the keys of the target is one of its names', () => {
  const spelling = fc.constantFrom(
    ...neurons.flatMap(({ seqId, path, title = '', aliases }) => [seqId, path, title, ...aliases]),
  )
  const target = fc.tuple(
    fc.constantFrom('', './', '/', 'neurons/', ' '),
    spelling,
    fc.constantFrom('', '.md', ' ', '.MD'),
  )
  fc.assert(
    fc.property(target, (parts) => {
      const found = resolve(parts.join(''))
      const holder = neurons.find(({ seqId }) => 'seqId' in found && found.seqId === seqId)
      if (holder === undefined) return
      const keys = new Set(namesOf(holder).map(({ key }) => key))
      const { key, bareKey = key } = targetKeys(wiki(parts.join('')))
      expect(keys.has(key) || keys.has(bareKey)).toBe(true)
    }),
  )
})

describe('as tools spell it', () => {
  const paths = [
    ...[
      'a/b',
      'a/c/index',
      'a/d',
      'a/d/index',
      'docs/guide/_index',
      'docs/x/y',
      'pages/A___B',
      'pages/A%2FC%3A d',
      'pages/100%',
    ],
    ...['journals/2024_01_02', 'journals/2023-11-13', 'journals/2024_13_01', 'vault/note.name', 'e/page', 'e/f'],
  ]
  const named = paths.map((path) => ({ seqId: path, path: `neurons/${path}.md`, title: 'Title', aliases: [] }))
  const lookup = lookupIn(named)
  const meant = (target: string, form: LinkAddress['form'] = 'wiki', from = 'page') => {
    const link = { target, form, from: `neurons/${from}.md` }
    const found = resolveTarget(link, lookup)
    const { key, bareKey = key } = targetKeys(link)
    const holders = [...lookup(key), ...lookup(bareKey)].map(({ seqId }) => seqId)
    if ('seqId' in found) expect(holders).toContain(found.seqId)
    return 'seqId' in found ? found.seqId : found
  }
  const missing = { missing: true }

  test.each([
    ['/a/b/', 'page', 'a/b'],
    ['/a/b', 'e/page', 'a/b'],
    ['a/b/', 'page', 'a/b'],
    ['../a/b/', 'e/page', 'a/b'],
    ['/a/c', 'e/page', 'a/c/index'],
    ['../a/c', 'e/page', 'a/c/index'],
    ['/a/d/', 'page', 'a/d/index'],
    ['/a/d', 'page', 'a/d'],
    ['/A/B/', 'page', 'a/b'],
    ['/x/y/', 'page', 'docs/x/y'],
    ['/guide/', 'page', 'docs/guide/_index'],
    ['/guide', 'page', 'docs/guide/_index'],
    ['guide/', 'page', missing],
    ['y/', 'page', missing],
    ['../f/', 'e/page', 'e/f'],
    ['../f', 'e/page', missing],
    ['../b/', 'a/c/index', 'a/b'],
    ['../../a/b/', 'e/page', 'a/b'],
  ])('a site serves %s in %s from %s', (target, from, page) => {
    expect(meant(target, 'markdown', from)).toEqual(page)
  })

  test.each([
    ['A/B', 'pages/A___B'],
    ['a/b', 'a/b'],
    ['A/C: d', 'pages/A%2FC%3A d'],
    ['A___B', 'pages/A___B'],
    ['100%', 'pages/100%'],
    ['Jan 2nd, 2024', 'journals/2024_01_02'],
    ['November 13th, 2023', 'journals/2023-11-13'],
    ['2024-01-02', 'journals/2024_01_02'],
    ['dendron://vault/note.name', 'vault/note.name'],
    ['dendron://other/note.name', 'vault/note.name'],
    ['guide', missing],
  ])('[[%s]] leads to %s', (target, page) => {
    expect(meant(target)).toEqual(page)
  })

  test('whatever a Markdown link means, one of its keys is a name of it, with a slash behind it or not', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'guide', 'docs', '..', '.', 'index.md')
    const target = fc.tuple(
      fc.constantFrom('', '/', './', '../'),
      fc.array(name, { maxLength: 3 }),
      fc.constantFrom('', '/'),
    )
    fc.assert(
      fc.property(target, fc.constantFrom(...paths), ([start, names, end], from) => {
        meant(start + names.join('/') + end, 'markdown', from)
      }),
    )
  })
})

describe('linkKey', () => {
  test('spaces, underscores and hyphens are one, accents and case none', () => {
    const spellings = [
      'Crème brûlée',
      'creme-brulee',
      'CREME_BRULEE',
      ' creme \u00a0 brulee ',
      'crème‑brûlée',
      'creme – brulee',
    ]
    expect(new Set(spellings.map(linkKey))).toEqual(new Set(['creme brulee']))
  })

  test('marks that are letters of a script keep words apart', () => {
    expect(linkKey('が')).not.toBe(linkKey('か'))
    expect(linkKey('की')).not.toBe(linkKey('का'))
  })

  test.each([
    ['marks of direction', '\u200eOn call\u200f', 'On call'],
    ['a byte order mark and zero-width spaces', '\ufeffOn\u200b call\u2060', 'On call'],
    ['a soft hyphen', 'On\u00ad-call', 'On call'],
    ['joiners between Latin letters', 'On\u200d ca\u200cll', 'On call'],
    ['a non-joiner at the end of a word', 'شیوا\u200c \u061c', 'شیوا'],
  ])('%s are not seen, and do not count', (_, text, seen) => {
    expect(linkKey(text)).toBe(linkKey(seen))
  })

  test.each([
    ['Persian', 'می\u200cخواهم'],
    ['Devanagari', 'क्\u200dष'],
    ['an emoji of several', '❤\ufe0f\u200d🔥'],
    ['a flag', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ])('what joins %s means something', (_, text) => {
    expect(linkKey(text)).not.toBe(linkKey(text.replace(/\p{Cf}/gu, '')))
  })

  test('the key of a key is the key', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(linkKey(linkKey(text))).toBe(linkKey(text))
      }),
      { numRuns: runs(1000) },
    )
  })
})
