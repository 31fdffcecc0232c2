import { describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import {
  formatFlow,
  parseFullYaml,
  parseYaml,
  readPlainYaml,
  stringifyYaml,
  type YamlInput,
} from '../../src/markdown/yaml/yaml.ts'
import { anyCharacter, fc, runs } from '../support/properties.ts'
import { awkwardText, plainWord } from './arbitraries.ts'

const problemsOf = (text: string) => parseYaml(text).problems.map(({ line, message }) => `${line}: ${message}`)

describe('parseYaml', () => {
  test('keeps every scalar as its text', () => {
    const text = 'a: 00000042\nb: no\nc: 1.10\nd: ~\ne: 2026-01-31\nf: 0x1F\ng: "1"\nh: null\n'
    expect({ ...Object(parseYaml(text).data) }).toEqual({
      a: '00000042',
      b: 'no',
      c: '1.10',
      d: '~',
      e: '2026-01-31',
      f: '0x1F',
      g: '1',
      h: 'null',
    })
  })

  test('reads an empty value as empty text, in blocks, lists and flow', () => {
    const { data, problems } = parseYaml('a:\nb: # comment\nc: [x, ]\nd: {e, f: }\ng:\n  -\n')
    expect(JSON.parse(JSON.stringify(data))).toEqual({ a: '', b: '', c: ['x'], d: { e: '', f: '' }, g: [''] })
    expect(problems).toEqual([])
    expect(parseYaml('').data).toBe('')
    expect(parseYaml('# nothing\n').data).toBe('')
  })

  test.each([
    ['anchor', 'a: 1\nb: &x 1\n', '2: Anchors and aliases are not allowed.'],
    ['alias', 'a: *x\n', '1: Anchors and aliases are not allowed.'],
    ['custom tag', 'a: 1\nb: 2\nc: !ruby/object 1\n', '3: Tags are not allowed.'],
    ['core tag', 'a: !!int 1\n', '1: Tags are not allowed.'],
    ['duplicate key', 'a: 1\nb: 2\na: 3\n', '3: The key a comes twice.'],
    ['list as key', '? [a]\n: 1\n', '1: A key must be text.'],
    ['__proto__', 'a: 1\n__proto__: {b: c}\n', '2: The key __proto__ is not allowed.'],
    ['constructor', 'a: {constructor: 1}\n', '1: The key constructor is not allowed.'],
    ['nesting', `a: ${'['.repeat(8)}${']'.repeat(8)}\n`, '1: Nesting is limited to 8 levels.'],
    ['size', `a: ${'x'.repeat(16 * 1024)}`, '1: YAML is limited to 16384 bytes.'],
    ['bytes, not characters', `a: ${'é'.repeat(8 * 1024)}`, '1: YAML is limited to 16384 bytes.'],
  ])('refuses %s and names the line', (_name, text, problem) => {
    expect(problemsOf(text)).toContain(problem)
  })

  test('accepts eight levels', () => {
    expect(problemsOf(`a: ${'['.repeat(7)}${']'.repeat(7)}\n`)).toEqual([])
  })

  test('names the line of a syntax error', () => {
    expect(parseYaml('a: 1\nb: [x\nc: 2\n').problems[0]?.line).toBe(3)
  })

  test('touches no prototype', () => {
    parseYaml('__proto__: {polluted: yes}\nconstructor: {prototype: {polluted: yes}}\n')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(Object.getPrototypeOf(parseYaml('a: {b: c}').data)).toBeNull()
  })

  test.each(['[', '{a: ', '- ', '? ', '&a ', '*a ', '"\n', "'\n", '|\n ', '!a ', ': ', '[a,', '\n', '#\n'])(
    'survives 16 KB of %j',
    (part) => {
      // What takes more than quadratic time takes minutes.
      expect(parseYaml(part.repeat(Math.floor((16 * 1024) / part.length)))).toHaveProperty('problems')
    },
  )

  test('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => void parseYaml(text)))
    fc.assert(fc.property(awkwardText, (text) => void parseYaml(text)))
  })
})

describe('the reader of plain YAML', () => {
  const inline = fc.oneof(
    awkwardText.map((text) => text.replaceAll('\n', ' ')),
    fc.constantFrom('', '[a, b]', '{ a: b }'),
  )
  const line = fc.oneof(
    fc.tuple(plainWord, inline).map(([key, value]) => `${key}: ${value}`),
    plainWord.map((key) => `${key}:`),
    inline.map((value) => `  - ${value}`),
    fc.tuple(plainWord, plainWord, inline).map(([a, b, value]) => `  - { ${a}: ${value}, ${b}: "${value}" }`),
    fc.tuple(plainWord, fc.array(inline, { maxLength: 4 })).map(([key, values]) => `${key}: [${values.join(', ')}]`),
    awkwardText,
  )

  test('agrees with the full parser wherever it answers', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n')),
        (text) => {
          const plain = readPlainYaml(text)
          if (plain !== undefined) expect(parseFullYaml(text)).toEqual({ data: plain, problems: [] })
        },
      ),
      { numRuns: runs(3000) },
    )
  })

  test('answers for what Ganglion writes', () => {
    const text = stringifyYaml({
      id: 'x',
      title: 'It is: so',
      tags: [],
      count: 3,
      flag: true,
      empty: '',
      date: '2026-01-31',
    })
    expect(readPlainYaml(text)).toEqual(parseFullYaml(text).data)
  })
})

describe('stringifyYaml', () => {
  test('quotes a question mark in a flow collection, where YAML 1.1 takes it for a key', () => {
    const entry = { reason: 'Why? @x', tags: ['a?'] }
    expect(formatFlow(entry)).toBe('{ reason: "Why? @x", tags: ["a?"] }')
    expect(stringifyYaml(entry)).toBe('reason: Why? @x\ntags:\n  - a?\n')
  })

  test('writes block style and quotes only what needs quotes', () => {
    const value = {
      slug: 'handbook',
      title: 'It is: so',
      plain: "a, b [c] it's",
      zones: { green: ['a', 'b'], empty: [], none: {} },
      rules: [{ kind: 'chat', zone: 'red' }, 'x'],
      threshold: 0.8,
      single: false,
      left: undefined,
    }
    expect(stringifyYaml(value)).toBe(
      [
        'slug: handbook',
        'title: "It is: so"',
        "plain: a, b [c] it's",
        'zones:',
        '  green:',
        '    - a',
        '    - b',
        '  empty: []',
        '  none: {}',
        'rules:',
        '  - kind: chat',
        '    zone: red',
        '  - x',
        'threshold: 0.8',
        'single: false',
        '',
      ].join('\n'),
    )
  })

  const deep = fc.letrec<{ value: YamlInput; list: YamlInput; map: YamlInput }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, awkwardText, tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    map: fc.dictionary(plainWord, tie('value'), { maxKeys: 3 }),
  })).value

  test('round-trips any text in any nesting', () => {
    fc.assert(
      fc.property(deep, (value) => {
        const { data, problems } = parseYaml(stringifyYaml(value))
        expect(problems).toEqual([])
        expect(JSON.parse(JSON.stringify(data))).toEqual(value)
      }),
      { numRuns: runs(1000) },
    )
  })

  test.each(['1.1', '1.2'] as const)('text stays text for a typing reader of YAML %s', (version) => {
    const tempting = ['null', '~', '', 'yes', 'No', 'on', 'y', 'True', '42', '-1', '+1', '1_000', '0x1f', '0o17', '0b1']
    const numeric = [
      '017',
      '1.5',
      '1.',
      '.5',
      '1e3',
      '.inf',
      '-.INF',
      '.NaN',
      '12:30',
      '1:30:45.5',
      '2026-01-31',
      '<<',
      '=',
    ]
    const dates = ['2026-01-31T10:00:00Z', '2026-1-31 10:00:00', '1,000', '12e03', '685_230.15']
    const value = Object.fromEntries([...tempting, ...numeric, ...dates].map((text, index) => [`k${index}`, text]))
    expect(parseDocument(stringifyYaml(value), { version }).toJS()).toEqual(value)
    fc.assert(
      fc.property(awkwardText, (text) => {
        expect(parseDocument(stringifyYaml({ text }), { version }).toJS()).toEqual({ text })
      }),
    )
  })
})
