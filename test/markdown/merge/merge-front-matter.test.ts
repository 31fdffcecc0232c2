import { describe, expect, test } from 'vitest'
import { formatFrontMatter, parseFrontMatter } from '../../../src/markdown/file/front-matter.ts'
import { mergeBlocks, mergeFields } from '../../../src/markdown/merge/merge-page.ts'
import type { YamlMap, YamlValue } from '../../../src/markdown/yaml/yaml.ts'
import { fc } from '../../support/properties.ts'
import { awkwardText, plainWord } from '../arbitraries.ts'

const nothing: ReadonlySet<string> = new Set()
const base = `---
seqId: x_00000001
title: VIP policy
tags: [policy, old]
connector: ingest
owner: ops
due: 2026-01-31
---
`

function merge(current: string, proposed: string, { from = base, told = nothing } = {}) {
  return mergeBlocks({ base: from, current, proposed }, told)
}

describe('mergeBlocks', () => {
  test('changes of lines that stand side by side are both kept, as they were written', () => {
    const current = base.replace('owner: ops', 'owner: "sales"   # since May')
    const proposed = base.replace('due: 2026-01-31', 'due: 2026-02-28').replace('old]', 'new]')
    expect(merge(current, proposed)).toEqual({
      text: current.replace('due: 2026-01-31', 'due: 2026-02-28').replace('old]', 'new]'),
    })
  })

  test('keys that both sides add stand one below the other', () => {
    const add = (line: string) => base.replace(/---\n$/, `${line}\n---\n`)
    expect(merge(add('draft: true'), add('on: 2026-02-28'))).toEqual({ text: add('draft: true\non: 2026-02-28') })
  })

  test('tags, aliases and edges merge by element, in the current order', () => {
    const current = base.replace('[policy, old]', '[mine, policy, old] # why')
    const proposed = base.replace('[policy, old]', '["#policy", new]').replace('owner: ops\n', '')
    expect(merge(current, proposed)).toEqual({
      text: current.replace('[mine, policy, old]', '[mine, policy, new]').replace('owner: ops\n', ''),
    })
  })

  test('edges are the same by type and target, and texts with commas are lists', () => {
    const edge = (target: string) => ({ type: 'cites', target })
    const blockOf = (edges: object[], aliases: string) =>
      `---\nedges: ${JSON.stringify(edges)}\naliases: ${aliases}\n---\n`
    const merged = mergeBlocks(
      {
        base: blockOf([edge('a'), edge('b')], 'One, Two'),
        current: blockOf([{ target: 'b', type: 'cites' }], 'One, Two, Three'),
        proposed: blockOf([edge('a'), edge('b'), edge('c')], '[Two]'),
      },
      nothing,
    )
    expect(dataOf(merged)).toEqual({ edges: [edge('b'), edge('c')], aliases: ['Two', 'Three'] })
  })

  test('where it is from is never a conflict: the proposal tells, and without being told only what it changes', () => {
    const current = base.replace('connector: ingest', 'connector: api\nsourceUrl: https://example.com')
    expect(dataOf(merge(current, base))).toMatchObject({ connector: 'api', sourceUrl: 'https://example.com' })
    const proposed = base.replace('connector: ingest', 'connector: feed')
    expect(dataOf(merge(current, proposed))).toMatchObject({ connector: 'feed', sourceUrl: 'https://example.com' })
    const told = new Set(['connector', 'sourceUrl'])
    expect(merge(current, base, { told })).toEqual({ text: current.replace('connector: api', 'connector: ingest') })
  })

  test('a key that both sides changed conflicts, with its lines and where they stand', () => {
    const current = base.replace('owner: ops', '# Who?\nowner: sales').replace('VIP policy', 'Very important')
    const proposed = base.replace('owner: ops\n', 'owner:\n  - law # new\n').replace('VIP policy', '"VIPs"')
    expect(merge(current, proposed)).toEqual({
      conflicts: [
        { line: 3, base: 'title: VIP policy\n', current: 'title: Very important\n', proposed: 'title: "VIPs"\n' },
        { line: 7, base: 'owner: ops\n', current: 'owner: sales\n', proposed: 'owner:\n  - law # new\n' },
      ],
    })
  })

  test('a change of a key that the other side removed conflicts; keys of a map on one line are told too', () => {
    const without = base.replace('owner: ops\n', '')
    const changed = base.replace('owner: ops', 'owner: law')
    expect(merge(without, changed)).toEqual({
      conflicts: [{ line: 7, base: 'owner: ops\n', current: '', proposed: 'owner: law\n' }],
    })
    expect(merge('---\n{ a: b }\n---\n', '---\na: c\n---\n', { from: '---\na: a\n---\n' })).toEqual({
      conflicts: [{ line: 3, base: 'a: a\n', current: 'a: b\n', proposed: 'a: c\n' }],
    })
  })

  test('the current line endings and byte order mark stay', () => {
    const current = `\uFEFF${base.replace('ops', 'sales').replaceAll('\n', '\r\n')}`
    const proposed = base.replace('2026-01-31', '2026-02-28')
    expect(merge(current, proposed)).toEqual({ text: current.replace('2026-01-31', '2026-02-28') })
    const mixed = base.replace('policy\n', 'policy\r\n')
    expect(merge(mixed, proposed)).toEqual({ text: mixed.replace('2026-01-31', '2026-02-28') })
    expect(merge(mixed, mixed)).toEqual({ text: mixed })
  })

  test('a comment that the proposal adds comes along, and conflicts with nothing', () => {
    const proposed = base.replace('owner: ops', 'owner: ops # since May')
    expect(merge(base.replace('VIP', 'My'), proposed)).toEqual({ text: proposed.replace('VIP', 'My') })
    const current = base.replace('owner: ops', 'owner: ops # in Rome')
    expect(merge(current, base.replace('owner: ops', 'owner: law'))).toEqual({
      text: base.replace('owner: ops', 'owner: law'),
    })
    expect(merge(current, proposed.replace('VIP', 'My'))).toEqual({ text: current.replace('VIP', 'My') })
  })

  test('what cannot be read is merged by lines', () => {
    const broken = base.replace('owner: ops', 'owner: [ops')
    expect(merge(broken, broken.replace('[ops', 'ops'), { from: broken })).toEqual({ text: base })
    expect(merge(broken.replace('VIP', 'My'), broken.replace('due: 2026', 'due: 2027'), { from: broken })).toEqual({
      text: broken.replace('VIP', 'My').replace('due: 2026', 'due: 2027'),
    })
    expect(merge(broken.replace('VIP', 'My'), broken.replace('VIP', 'Your'), { from: broken })).toMatchObject({
      conflicts: [{ line: 3, current: 'title: My policy\n' }],
    })
  })
})

const word = fc.oneof(plainWord, awkwardText)
const keys = ['title', 'tags', 'aliases', 'edges', 'connector', 'sources', 'metadata', 'owner', 'due', 'a key']
const value: fc.Arbitrary<YamlValue> = fc.oneof(
  word,
  fc.array(fc.constantFrom('a', 'b', 'c', '#a', 'd, e')),
  fc.array(word, { maxLength: 3 }),
  fc.array(
    plainWord.map((target): YamlMap => asMap({ type: 'cites', target })),
    { maxLength: 2 },
  ),
  fc.dictionary(plainWord, word, { maxKeys: 2 }).map(asMap),
)
const fields = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), { selector: ([key]) => key })
  .map((entries) => asMap(Object.fromEntries(entries)))
/** Three versions, of which the later two share much with the first. */
const versions = fc
  .tuple(fields, fields, fields, fc.infiniteStream(fc.nat(3)))
  .map(([first, second, third, choices]) => {
    const mixed = (other: YamlMap) =>
      asMap(
        Object.fromEntries(
          keys.flatMap((key) => {
            const side = (choices.next().value ?? 0) === 0 ? other : first
            return side[key] === undefined ? [] : [[key, side[key]]]
          }),
        ),
      )
    return { base: first, current: mixed(second), proposed: mixed(third) }
  })

function asMap(entries: { [key: string]: YamlValue }): YamlMap {
  return Object.assign(Object.create(null), entries)
}

function dataOf(merged: ReturnType<typeof mergeBlocks>): YamlMap {
  if (!('text' in merged)) throw new Error('It conflicts.')
  const { data, problems } = parseFrontMatter(merged.text)
  expect(problems).toEqual([])
  return data
}

describe('properties', () => {
  test('what one side changed is as that side has it, and what both changed alike as both do', () => {
    fc.assert(
      fc.property(versions, ({ base, current, proposed }) => {
        const merged = mergeFields({ base, current, proposed }, nothing)
        const same = (a: unknown, b: unknown) => JSON.stringify([a]) === JSON.stringify([b])
        for (const key of keys) {
          if (same(base[key], current[key])) expect(merged.fields[key]).toEqual(proposed[key])
          else if (same(base[key], proposed[key])) expect(merged.fields[key]).toEqual(current[key])
          else if (same(current[key], proposed[key])) expect(merged.fields[key]).toEqual(current[key])
        }
      }),
    )
  })

  test('no key is lost: each is in the outcome or a conflict, unless one side removed it', () => {
    fc.assert(
      fc.property(versions, ({ base, current, proposed }) => {
        const { fields, conflicts } = mergeFields({ base, current, proposed }, nothing)
        for (const key of keys) {
          const [inCurrent, inProposed] = [key in current, key in proposed]
          const isRemoved = key in base ? !(inCurrent && inProposed) : !(inCurrent || inProposed)
          const isSet = ['tags', 'aliases', 'edges'].includes(key)
          const outcomes = [key in fields, conflicts.includes(key)]
          if (!isRemoved && !isSet) expect(outcomes).toContain(true)
          expect(outcomes).toContain(false)
        }
      }),
    )
  })

  test('an element that one side added to a set is there, one that a side removed is not', () => {
    const elements: YamlValue[] = ['a', 'b', 'c', 'd', asMap({ type: 'cites', target: 'e' })]
    const set = fc.uniqueArray(fc.constantFrom(...elements))
    fc.assert(
      fc.property(set, set, set, (base, current, proposed) => {
        const withEdges = (edges: YamlValue[]) => asMap({ edges })
        const versions = { base: withEdges(base), current: withEdges(current), proposed: withEdges(proposed) }
        const { edges = [] } = mergeFields(versions, nothing).fields
        for (const element of elements) {
          const isKept = current.includes(element) && proposed.includes(element)
          const isAdded = !base.includes(element) && (current.includes(element) || proposed.includes(element))
          expect(Array.isArray(edges) && edges.includes(element)).toBe(isKept || isAdded)
        }
      }),
    )
  })

  test('blocks hold what their fields merge to, whatever they look like; equal ones stay byte for byte', () => {
    fc.assert(
      fc.property(versions, fc.constantFrom('\n' as const, '\r\n' as const), ({ base, current, proposed }, eol) => {
        const blocks = {
          base: formatFrontMatter(base),
          current: formatFrontMatter(current, eol),
          proposed: formatFrontMatter(proposed),
        }
        const expected = mergeFields({ base, current, proposed }, nothing)
        const merged = mergeBlocks(blocks, nothing)
        if ('conflicts' in merged) expect(merged.conflicts).toHaveLength(expected.conflicts.length)
        else expect(dataOf(merged)).toEqual(expected.fields)
        expect(mergeBlocks({ ...blocks, proposed: blocks.current }, nothing)).toEqual({ text: blocks.current })
        expect(mergeBlocks({ ...blocks, proposed: blocks.base }, nothing)).toEqual({ text: blocks.current })
      }),
    )
  })
})
