import { describe, expect, test } from 'vitest'
import { formatFrontMatter, parseFrontMatter } from '../../../src/markdown/file/front-matter.ts'
import { editFrontMatter, FrontMatterError } from '../../../src/markdown/file/front-matter-edit.ts'
import { fc, runs } from '../../support/properties.ts'
import { awkwardText, plainWord } from '../arbitraries.ts'

const file = `---
# Who owns this?
title:   'VIP policy'   # keep me
tags: # why
  - a # first
  - b

note: |
  two
  lines
empty:
edges:
- { type: cites, target: x_00000001 }
last: "x"
---

Body --- stays.
`

describe('editFrontMatter', () => {
  test('replaces a value and leaves its comment and every other byte', () => {
    expect(editFrontMatter(file, { title: 'New: title' })).toBe(
      file.replace("'VIP policy'", '"New: title"').replace(':   ', ': '),
    )
  })

  test('replaces a list of lines by a short list, keeping the comment of its key', () => {
    expect(editFrontMatter(file, { tags: ['a', 'c'] })).toBe(file.replace('- a # first\n  - b', '[a, c]'))
  })

  test('replaces a block scalar, an empty value and a list of maps', () => {
    const edges = [{ type: 'supersedes', target: 'x_00000007' }]
    expect(editFrontMatter(file, { note: 'one', empty: 'full', edges })).toBe(
      file
        .replace('|\n  two\n  lines', 'one')
        .replace('empty:', 'empty: full')
        .replace('\n- { type: cites, target: x_00000001 }', '\n  - { type: supersedes, target: x_00000007 }'),
    )
  })

  test('appends what is new, in order', () => {
    expect(editFrontMatter(file, { seqId: 'x_00000042', aliases: ['A', 'B, C'] })).toBe(
      file.replace('last: "x"\n', 'last: "x"\nseqId: x_00000042\naliases: [A, "B, C"]\n'),
    )
  })

  test('removes the lines of a key alone', () => {
    expect(editFrontMatter(file, { tags: undefined, last: undefined, absent: undefined })).toBe(
      file.replace('tags: # why\n  - a # first\n  - b\n', '').replace('last: "x"\n', ''),
    )
    expect(editFrontMatter('---\na: b\n---\nx', { a: undefined })).toBe('---\n---\nx')
  })

  test('changes no byte for equal values', () => {
    const same = { title: 'VIP policy', tags: ['a', 'b'], note: 'two\nlines\n', empty: '', last: 'x' }
    expect(editFrontMatter(file, { ...same, edges: [{ target: 'x_00000001', type: 'cites' }] })).toBe(file)
    expect(editFrontMatter('no block', {})).toBe('no block')
  })

  test('keeps CRLF and a BOM', () => {
    const text = '\uFEFF---\r\na: 1\r\nb: [x] # c\r\n---\r\nbody\r\n'
    expect(editFrontMatter(text, { a: '2 x', c: 'd', b: [{ e: 'f' }] })).toBe(
      '\uFEFF---\r\na: 2 x\r\nb:\r\n  - { e: f } # c\r\nc: d\r\n---\r\nbody\r\n',
    )
  })

  test('makes a block where there is none', () => {
    expect(editFrontMatter('body\n', { a: 'b' })).toBe('---\na: b\n---\nbody\n')
    expect(editFrontMatter('\uFEFFbody\r\n', { a: 'b' })).toBe('\uFEFF---\r\na: b\r\n---\r\nbody\r\n')
    expect(editFrontMatter('---\nunclosed', { a: 'b' })).toBe('---\na: b\n---\n---\nunclosed')
    expect(editFrontMatter('---\n---\nx', { a: 'b' })).toBe('---\na: b\n---\nx')
    expect(editFrontMatter('---\n# only a comment\n---\nx', { a: 'b' })).toBe('---\n# only a comment\na: b\n---\nx')
  })

  test('follows an indented block, and writes one that is a flow map anew', () => {
    expect(editFrontMatter('---\n  a: 1\n---\n', { b: [{ c: 'd' }] })).toBe('---\n  a: 1\n  b:\n    - { c: d }\n---\n')
    expect(editFrontMatter('---\n{a: 1, b: x}\n---\n', { b: 'z' })).toBe('---\na: "1"\nb: z\n---\n')
    expect(editFrontMatter('---\na: x\n...\n---\n', { b: 'z' })).toBe('---\na: x\nb: z\n---\n')
  })

  test('refuses what it cannot read', () => {
    expect(() => editFrontMatter('---\na: [\n---\n', { b: 'c' })).toThrow(FrontMatterError)
    expect(() => editFrontMatter('---\na: &x 1\n---\n', { b: 'c' })).toThrow(FrontMatterError)
  })
})

describe('for any front matter and any values', () => {
  const scalarSource = fc.constantFrom(
    'x',
    '"q: q"',
    "'it''s'",
    '[a, b]',
    '[a,\n  b]',
    '{ a: b }',
    '',
    '|\n  text\n  more',
    '>-\n  folded\n',
    'x # c',
  )
  const listSource = fc.constantFrom('\n  - a\n  - b # c', '\n- a\n- { b: c }', ' # c\n  - a', '\n  # inside\n  - a')
  const separator = fc.constantFrom('', '# comment\n', '\n', '  # indented\n')
  const entry = fc.tuple(
    plainWord,
    fc.oneof(
      scalarSource.map((source) => ` ${source}`),
      listSource,
    ),
    separator,
  )
  const block = fc.uniqueArray(entry, { selector: ([key]) => key, maxLength: 6 })
  const value = fc.oneof(
    awkwardText,
    fc.array(awkwardText, { maxLength: 4 }),
    fc.array(fc.dictionary(plainWord, awkwardText, { minKeys: 1, maxKeys: 3 }), { minLength: 1, maxLength: 3 }),
    fc.constant(undefined),
  )
  const edit = fc
    .tuple(
      block,
      awkwardText,
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.tuple(fc.nat(), value), { maxLength: 3 }),
      plainWord,
    )
    .map(([entries, body, eol, edits, fresh]) => {
      const keys = [...entries.map(([key]) => key), fresh]
      const yaml = entries.map(([key, source, after]) => `${key}:${source}\n${after}`).join('')
      const text = `---\n${yaml}---\n`.replaceAll('\n', eol) + body
      return { text, changes: Object.fromEntries(edits.map(([at, to]) => [keys[at % keys.length] ?? fresh, to])) }
    })

  test('an edit gives the new values, keeps the others and the body, and is idempotent', () => {
    fc.assert(
      fc.property(edit, ({ text, changes }) => {
        const before = parseFrontMatter(text)
        expect(before.problems).toEqual([])
        const edited = editFrontMatter(text, changes)
        const after = parseFrontMatter(edited)
        expect(after.problems).toEqual([])
        const expected = Object.entries({ ...before.data, ...changes }).filter(([, to]) => to !== undefined)
        expect(JSON.parse(JSON.stringify(after.data))).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))))
        expect(after.body).toBe(before.body)
        expect(editFrontMatter(edited, changes)).toBe(edited)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('the lines of untouched keys stay byte for byte', () => {
    fc.assert(
      fc.property(block, plainWord, value, ([...entries], key, to) => {
        const sources = entries.map(([name, source, after]) => ({ name, source: `${name}:${source}\n${after}` }))
        const text = `---\n${sources.map(({ source }) => source).join('')}---\nbody`
        const edited = editFrontMatter(text, { [key]: to })
        const others = sources.filter(({ name }) => name !== key)
        for (const { source } of others) expect(edited).toContain(source)
      }),
      { numRuns: runs(1000) },
    )
  })
})

test('what is appended to a plain block is what the YAML parser would have it be', () => {
  const comment = '# a comment, which only the parser reads\n'
  const values = fc.oneof(awkwardText, fc.array(awkwardText, { maxLength: 3 }))
  fc.assert(
    fc.property(fc.dictionary(plainWord, values, { minKeys: 1 }), values, (data, added) => {
      const plain = `${formatFrontMatter(data)}Body.\n`
      const commented = plain.replace('---\n', `---\n${comment}`)
      const changes = { seqId: 'kb_00000001', Added: added }
      expect(editFrontMatter(plain, changes)).toBe(editFrontMatter(commented, changes).replace(comment, ''))
    }),
  )
})
