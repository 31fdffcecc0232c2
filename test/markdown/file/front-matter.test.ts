import matter from 'gray-matter'
import { describe, expect, test, vi } from 'vitest'
import { formatFrontMatter, frontMatterKeyLine, parseFrontMatter } from '../../../src/markdown/file/front-matter.ts'
import { fc, runs } from '../../support/properties.ts'
import { awkwardText, plainWord } from '../arbitraries.ts'

describe('parseFrontMatter', () => {
  test('reads data as text and tells where the body begins', () => {
    const text = '---\ntitle: 0042\ntags: [a, b]\n---\nBody\n'
    expect(parseFrontMatter(text)).toEqual({
      data: { title: '0042', tags: ['a', 'b'] },
      body: 'Body\n',
      bodyStart: 33,
      bodyLine: 5,
      problems: [],
      mayHide: false,
    })
  })

  test('a text without front matter is body', () => {
    expect(parseFrontMatter('# Title\n---\na: b\n---\n')).toMatchObject({
      data: {},
      bodyStart: 0,
      bodyLine: 1,
      problems: [],
    })
    expect(parseFrontMatter('')).toMatchObject({ data: {}, body: '', problems: [] })
    expect(parseFrontMatter('---')).toMatchObject({ data: {}, body: '---', problems: [] })
  })

  test.each([
    '---js\n{a: 1}\n---\nx',
    '---json\n{"a": 1}\n---\nx',
    '--- yaml\na: b\n---\nx',
    '----\na: b\n----\nx',
    ' ---\na: b\n---\n',
  ])('%j opens nothing', (text) => {
    expect(parseFrontMatter(text)).toMatchObject({ data: {}, body: text, problems: [] })
  })

  test('runs no code from the text', () => {
    const marker = 'frontMatterRan'
    const code = `globalThis.${marker} = true`
    for (const fence of ['---js', '---javascript', '--- js', '---coffee', '---\n---js']) {
      parseFrontMatter(`${fence}\n{ a: (${code}) }\n---\nbody`)
    }
    expect(Reflect.get(globalThis, marker)).toBeUndefined()
    expect(matter(`---js\n{ a: 1 }\n---\n`, {}).data, 'gray-matter by itself does run it').toEqual({ a: 1 })
  })

  test('keeps nothing in the cache of gray-matter', () => {
    parseFrontMatter('---\na: never-kept\n---\nbody')
    const { cache } = matter as unknown as { cache: Record<string, unknown> }
    expect(Object.keys(cache).filter((text) => text.includes('never-kept'))).toEqual([])
  })

  test('never lets gray-matter write', () => {
    const stringify = vi.spyOn(matter, 'stringify')
    const { data } = parseFrontMatter('---\na: b # c\nlist:\n- excerpt_separator: x\n---\nbody')
    formatFrontMatter({ a: String(data.a) })
    expect(stringify).not.toHaveBeenCalled()
    expect(data).toEqual({ a: 'b', list: [{ excerpt_separator: 'x' }] })
  })

  // Why the split is not gray-matter's: with these it would take other text for front matter, or another body.
  test.each([
    ['a line that only begins like a delimiter', '---\na: b\n---x: 1\n---\nbody'],
    ['a longer line', '---\na: b\n----\n---\nbody'],
    ['blanks after the closing delimiter', '---\na: b\n--- \nbody'],
    ['a block that nothing closes', '---\na: b\nbody'],
    ['a language', '--- yaml\na: b\n---\nbody'],
    ['a lone carriage return', '---\na: b\n---\rbody'],
  ])('splits otherwise than gray-matter at %s', (_, text) => {
    const engines = { yaml: () => ({}), js: () => ({}), javascript: () => ({}), json: () => ({}) }
    expect(matter(text, { language: 'yaml', engines }).content).not.toBe(parseFrontMatter(text).body)
  })

  test('reads the entries that are valid of a block that is not', () => {
    expect(parseFrontMatter('---\ntitle: A: b # c\nsite: @x\ntags: [internal]\ntags: [a]\nx\n---\n')).toMatchObject({
      data: { title: 'A: b', site: '@x', tags: ['internal'], audience: [] },
      mended: 'title: "A: b"\nsite: "@x"\ntags: [internal]\n# tags: [a]\n# x\n',
      mayHide: true,
    })
    expect(parseFrontMatter('---\r\ntitle: A: b\r\ntags: [a]\r\n---\r\n')).toMatchObject({
      data: { title: 'A: b', tags: ['a'] },
      mended: 'title: "A: b"\r\ntags: [a]\r\n',
      mayHide: false,
    })
  })

  test('a mended block has no problem, and the same data', () => {
    const line = fc.oneof(
      fc.constantFrom('a: b: c', 'tags:', '\t- x', '  - y', '- z', 'k: [', '}', 'q: "x', '*a: &b c', '', '# c'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const { data, mended, mayHide } = parseFrontMatter(`---\n${lines.join('\n')}\n---\n`)
        if (mended === undefined || mayHide) return
        expect(parseFrontMatter(`---\n${mended}---\n`)).toMatchObject({ data, problems: [] })
      }),
    )
  })

  test.each([
    '+++\ntags = ["internal"]\n+++\n',
    '\n---\ntags: internal\n---\n',
    '---json\n{"audience": ["curator"]}\n---\n',
    '\u200b---\ntags: internal\n---\n',
    '+++\ntitle = "A"\n\ntags = ["internal"]\n+++\n',
    ';;;\n{"tags": ["internal"]}\n;;;\n',
    '# A comment\n%YAML 1.2\n\n---\ntags: internal\n---\n',
    'tags:: [[internal]]\n',
    '{\n  "tags": [\n    "internal"\n  ]\n}\n',
  ])('hides a page that %j opens', (text) => {
    expect(parseFrontMatter(text)).toMatchObject({ data: { audience: [] }, mayHide: true, problems: [{ line: 1 }] })
    expect(parseFrontMatter(text.replace(/internal|audience/, 'x'))).toMatchObject({
      data: {},
      mayHide: false,
      problems: [],
    })
  })

  test('only a line that is --- closes', () => {
    expect(parseFrontMatter('---\na: b\n---x\n---\nbody').body).toBe('body')
    expect(parseFrontMatter('---\na: b\n ---\n---  \nbody').body).toBe('body')
    expect(parseFrontMatter('---\na: b\n---').body).toBe('')
    expect(parseFrontMatter('---\n---\nbody')).toMatchObject({ data: {}, body: 'body', problems: [] })
  })

  test('an unclosed block is a problem, and all of it body', () => {
    for (const text of ['---\na: b\n', '---\na: b\n---x\nbody', '---\n']) {
      expect(parseFrontMatter(text)).toMatchObject({ data: {}, body: text, bodyLine: 1 })
      expect(parseFrontMatter(text).problems).toMatchObject([{ rule: 'front-matter-unclosed', line: 1 }])
    }
  })

  test('works with CRLF and a BOM', () => {
    const { data, body, bodyLine, problems } = parseFrontMatter('\uFEFF---\r\na: b\r\nc: [d]\r\n---\r\nbody\r\n')
    expect({ ...data }).toEqual({ a: 'b', c: ['d'] })
    expect({ body, bodyLine, problems }).toEqual({ body: 'body\r\n', bodyLine: 5, problems: [] })
  })

  test.each([
    ['bad YAML', 'a: 1\nb: [\n', 'front-matter-yaml', 4],
    ['duplicate key', 'a: 1\nb: 2\na: 3\n', 'front-matter-yaml', 4],
    ['a list', '- a\n', 'front-matter-not-a-map', 1],
    ['a text', 'hello\n', 'front-matter-not-a-map', 1],
    ['more than 16 KB', `a: ${'x'.repeat(16_384)}\n`, 'front-matter-too-large', 1],
    ['more than 1,000 lines', '\n'.repeat(1001), 'front-matter-too-large', 1],
  ])('%s is a problem at its line', (_name, yaml, rule, line) => {
    const { problems, body } = parseFrontMatter(`---\n${yaml}---\nbody`)
    expect(problems[0]).toMatchObject({ rule, line })
    expect(body).toBe('body')
  })

  test('has a key below 16 KB of blanks', () => {
    const { data, problems } = parseFrontMatter(`---\n${`${' '.repeat(15)}\n`.repeat(990)}a: b\n---\n`)
    expect([data, problems]).toEqual([{ a: 'b' }, []])
  })

  test('finds the line of a key', () => {
    const text = '---\n# c\na: 1\n"b": 2\n---\n'
    expect([frontMatterKeyLine(text, 'a'), frontMatterKeyLine(text, 'b'), frontMatterKeyLine(text, 'z')]).toEqual([
      3, 4, 1,
    ])
  })

  test('never throws, and body is the end of the text', () => {
    fc.assert(
      fc.property(fc.constantFrom('', '---\n', '\uFEFF---\r\n', '---js\n'), awkwardText, awkwardText, (head, a, b) => {
        const text = `${head}${a}\n---\n${b}`
        const { body, bodyStart } = parseFrontMatter(text)
        expect(text.slice(bodyStart)).toBe(body)
      }),
      { numRuns: runs(1000) },
    )
  })
})

test('formatFrontMatter is read back, one line for each item of a list of maps', () => {
  const entries = { id: 'x', tags: ['a', 'b'], edges: [{ type: 'cites', target: 'x_00000007' }], note: '---\n' }
  const text = formatFrontMatter(entries)
  expect(text).toBe('---\nid: x\ntags: [a, b]\nedges:\n  - { type: cites, target: x_00000007 }\nnote: "---\\n"\n---\n')
  fc.assert(
    fc.property(fc.dictionary(plainWord, fc.oneof(awkwardText, fc.array(awkwardText))), awkwardText, (map, body) => {
      const parsed = parseFrontMatter(formatFrontMatter(map) + body)
      expect({ ...parsed.data }).toEqual({ ...map })
      expect(parsed.body).toBe(body)
    }),
  )
})
