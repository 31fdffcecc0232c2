import { describe, expect, test } from 'vitest'
import { edgeTypes } from '../../../src/contract/enumerations.ts'
import { FrontMatterError } from '../../../src/markdown/file/front-matter-edit.ts'
import { editNeuron, formatNeuron, parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import type { NeuronFields } from '../../../src/rules/neurons/neuron.ts'
import { fc, runs } from '../../support/properties.ts'
import { awkwardText, plainWord } from '../arbitraries.ts'

const empty: NeuronFields = { tags: [], aliases: [], edges: [], sources: [], noteShared: false }
const full: NeuronFields = {
  seqId: 'handbook_00000042',
  id: '0199a5c2-0000-7000-8000-000000000001',
  title: 'VIP escalation policy',
  tags: ['policy', 'escalation'],
  audience: ['tool', 'public'],
  aliases: ['VIP paging'],
  edges: [{ type: 'supersedes', target: 'handbook_00000007' }],
  candidate: '0199a5c1-0000-7000-8000-000000000002',
  connector: 'api',
  sourceUrl: 'https://example.com/vip?a=b#c',
  metadata: '{"conversationId":"c-1"}',
  sources: [{ id: 's1', filename: 'vip, final.pdf', sha256: 'ab12', page: '12' }],
  note: 'Ask Ann.\nTwice.',
  noteShared: true,
}

const file = `---
seqId: handbook_00000042
id: 0199a5c2-0000-7000-8000-000000000001
title: VIP escalation policy
tags: [policy, escalation]
audience: [tool, public]
aliases: [VIP paging]
edges:
  - { type: supersedes, target: handbook_00000007 }
connector: api
sourceUrl: https://example.com/vip?a=b#c
candidate: 0199a5c1-0000-7000-8000-000000000002
metadata: "{\\"conversationId\\":\\"c-1\\"}"
sources:
  - { id: s1, filename: "vip, final.pdf", sha256: ab12, page: "12" }
note: "Ask Ann.\\nTwice."
noteShared: true
---

Page the lead.
`

const findingsOf = (yaml: string) => {
  const { fields, findings } = parseNeuronFile(`---\n${yaml}---\n`)
  return { fields, findings: findings.map(({ line, severity, message }) => `${line} ${severity} ${message}`) }
}

describe('the file of a Neuron', () => {
  test('is front matter in a fixed order, a blank line, content, a newline', () => {
    expect(formatNeuron(full, 'Page the lead.')).toBe(file)
    expect(formatNeuron(empty, 'Only text.')).toBe('---\n---\n\nOnly text.\n')
  })

  test('is read back', () => {
    expect(parseNeuronFile(file)).toEqual({
      fields: full,
      extra: {},
      propertyLinks: [],
      content: 'Page the lead.',
      contentLine: 20,
      findings: [],
    })
  })

  test("keeps the curator's own keys apart", () => {
    const { extra, fields } = parseNeuronFile('---\ntitle: T\ncssclasses: [a]\nowner: { name: Ann }\n---\nx')
    expect(JSON.parse(JSON.stringify(extra))).toEqual({ cssclasses: ['a'], owner: { name: 'Ann' } })
    expect(fields.title).toBe('T')
  })

  test('may lack front matter, blank line and newline', () => {
    expect(parseNeuronFile('# Hi\n')).toMatchObject({ fields: empty, content: '# Hi', contentLine: 1, findings: [] })
    expect(parseNeuronFile('---\n---\n# Hi')).toMatchObject({ content: '# Hi', contentLine: 3 })
    expect(parseNeuronFile('---\r\ntitle: A\r\n---\r\n\r\n\r\n# Hi\r\n\r\n')).toMatchObject({
      content: '\r\n# Hi\r\n',
      contentLine: 5,
    })
    expect(parseNeuronFile('')).toMatchObject({ fields: empty, content: '', contentLine: 1 })
  })

  const awkwardContent = fc.oneof(
    awkwardText,
    fc.tuple(fc.constantFrom('---', '---js\n', '\n', '\r\n'), awkwardText).map((parts) => parts.join('')),
  )
  const list = fc.array(awkwardText, { maxLength: 3 })
  const anyFields: fc.Arbitrary<NeuronFields> = fc.record(
    {
      seqId: fc.constant('handbook_00000042'),
      id: fc.uuid(),
      title: awkwardText.filter((text) => text !== ''),
      tags: fc.array(plainWord, { maxLength: 3 }),
      audience: list,
      aliases: list,
      edges: fc.array(
        fc.record({ type: fc.constantFrom(...edgeTypes), target: awkwardText.filter((text) => text !== '') }),
        { maxLength: 3 },
      ),
      candidate: fc.uuid(),
      connector: plainWord,
      sourceUrl: fc.webUrl(),
      metadata: fc.dictionary(plainWord, fc.jsonValue({ maxDepth: 2 })).map((map) => JSON.stringify(map)),
      sources: fc.array(fc.record({ filename: awkwardText, page: plainWord }, { requiredKeys: [] }), { maxLength: 2 }),
      note: awkwardText.filter((text) => text !== ''),
      noteShared: fc.boolean(),
    },
    { requiredKeys: ['tags', 'aliases', 'edges', 'sources', 'noteShared'] },
  )

  test('gives back any fields and any content byte for byte', () => {
    fc.assert(
      fc.property(anyFields, awkwardContent, (fields, content) => {
        const parsed = parseNeuronFile(formatNeuron(fields, content))
        expect(parsed).toMatchObject({ content, findings: [], extra: {} })
        expect(JSON.parse(JSON.stringify(parsed.fields))).toEqual(JSON.parse(JSON.stringify(fields)))
      }),
      { numRuns: runs(500) },
    )
  })

  test('edited has the changes, and any content byte for byte, in LF and CRLF', () => {
    fc.assert(
      fc.property(
        anyFields,
        awkwardContent,
        anyFields,
        awkwardContent,
        fc.boolean(),
        fc.tuple(fc.constantFrom('\n', '\r\n', ''), fc.constantFrom('\n', '\r\n', '')),
        (before, written, changes, content, crlf, [blank, newline]) => {
          const head = formatNeuron(before, '').slice(0, -2)
          const text = (crlf ? head.replaceAll('\n', '\r\n') : head) + blank + written + newline
          const old = parseNeuronFile(text).content
          const edited = parseNeuronFile(editNeuron(text, changes, content))
          expect(edited).toMatchObject({ content, findings: [] })
          expect(JSON.parse(JSON.stringify(edited.fields))).toEqual(
            JSON.parse(JSON.stringify({ ...before, ...changes })),
          )
          expect(editNeuron(text, before, old)).toBe(text)
        },
      ),
      { numRuns: runs(500) },
    )
  })
})

describe('values that a person writes', () => {
  test('text with commas is a list, and tags may have a hash', () => {
    expect(findingsOf('tags: "foo, #bar"\naliases: A, B\naudience: tool\n')).toEqual({
      fields: { ...empty, tags: ['foo', 'bar'], aliases: ['A', 'B'], audience: ['tool'] },
      findings: [],
    })
    expect(findingsOf('tags:\n  - "#a"\n  - "#"\n').fields.tags).toEqual(['a'])
  })

  test('an empty value counts as absent', () => {
    expect(findingsOf('seqId:\ntitle:\ntags:\naudience:\nedges:\nnoteShared:\n')).toEqual({
      fields: empty,
      findings: [],
    })
  })

  test.each([
    ['seqId: 42\n', '2 error seqId must look like handbook_00000042'],
    ['title: A\nid: x\n', '3 warning id is no UUID: the server keeps it as imported-id'],
    ['title: [A]\n', '2 error title must be text'],
    ['tags: { a: b }\n', '2 error tags must be a list of texts'],
    ['aliases: [[a]]\n', '2 error aliases must be a list of texts'],
    ['edges: x\n', '2 error edges must be a list'],
    ['sources: [x]\n', '2 error sources, item 1: must be a map of texts'],
    ['metadata: "[]"\n', '2 error metadata must be a JSON object, as text'],
    ['metadata: "{"\n', '2 error metadata must be a JSON object, as text'],
    ['noteShared: yes\n', '2 error noteShared must be true or false'],
  ])('%j is a finding, and the value is absent', (yaml, finding) => {
    const { fields, findings } = findingsOf(yaml)
    expect(findings).toEqual([finding])
    expect({ ...fields, title: undefined }).toEqual({ ...empty, title: undefined })
  })

  test('an edge of unknown type or without a target is a finding, the others stay', () => {
    const { fields, findings } = findingsOf(
      'edges:\n  - { type: likes, target: x }\n  - { type: cites, target: y, why: z }\n  - { type: cites }\n  - no\n',
    )
    expect(fields.edges).toEqual([{ type: 'cites', target: 'y' }])
    expect(findings).toHaveLength(3)
    expect(findings[0]).toContain('2 error edges, item 1: type: ')
    expect(findings[2]).toBe('2 error edges, item 4: must be a map of type and target')
  })

  test('other names of lists count until the list is changed, and a foreign id keeps its text', () => {
    const page = '---\nTags: one two, three\ntag: [x]\nalias: B\nid: 2023\n---\n'
    expect(parseNeuronFile(page).fields).toMatchObject({ tags: ['one', 'two', 'three', 'x'], aliases: ['B'] })
    const id = '0190b8a0-0000-7000-8000-000000000000'
    const { fields, extra } = parseNeuronFile(editNeuron(page, { tags: ['y'], id }))
    expect({ fields, extra }).toMatchObject({
      fields: { tags: ['y'], aliases: ['B'], id },
      extra: { 'imported-id': '2023' },
    })
    expect(parseNeuronFile(page).extra).toEqual({ 'imported-id': '2023' })
  })

  test('an audience that cannot be read hides the Neuron from all but curators', () => {
    expect(findingsOf('audience: { tool: yes }\n').fields.audience).toEqual([])
    expect(findingsOf('audience: []\n')).toEqual({ fields: { ...empty, audience: [] }, findings: [] })
    expect(parseNeuronFile(formatNeuron({ ...empty, audience: [] }, 'x')).fields.audience).toEqual([])
  })

  test('broken front matter is a finding at its line, never an exception', () => {
    expect(parseNeuronFile('---\ntitle: [\n---\nx').findings[0]).toMatchObject({
      rule: 'front-matter-yaml',
      severity: 'error',
    })
    expect(parseNeuronFile('---\ntitle: x\n').findings).toMatchObject([{ rule: 'front-matter-unclosed', line: 1 }])
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...Object.keys(full)), awkwardText)), (lines) => {
        parseNeuronFile(`---\n${lines.map(([key, value]) => `${key}: ${value}\n`).join('')}---\n`)
      }),
    )
  })
})

describe('editNeuron', () => {
  const curated = '---\n# mine\ntitle:  "T"\nowner: Ann # keep\ntags: a, b\n---\n# Heading\n\ntext'

  test('changes fields and leaves the rest', () => {
    expect(editNeuron(curated, { title: 'T', tags: ['a', 'b'], seqId: 'x_00000001' })).toBe(
      curated.replace('tags: a, b\n', 'tags: a, b\nseqId: x_00000001\n'),
    )
    expect(editNeuron(curated, { title: undefined, tags: [] })).toBe(
      curated.replace('title:  "T"\n', '').replace('tags: a, b\n', ''),
    )
  })

  test('replaces the content only when it differs', () => {
    expect(editNeuron(curated, {}, '# Heading\n\ntext')).toBe(curated)
    expect(editNeuron(curated, {}, 'New')).toBe(curated.replace('# Heading\n\ntext', 'New'))
  })

  test("keeps the page's own form: a blank line before the content, and a newline after it, or none", () => {
    for (const blank of ['', '\n']) {
      for (const newline of ['', '\n']) {
        const page = (content: string) => `---\ntitle: T\n---\n${blank}${content}${newline}`
        expect(editNeuron(page('Old'), {}, 'New')).toBe(page('New'))
        expect(editNeuron(page('Old').replaceAll('\n', '\r\n'), {}, 'New')).toBe(page('New').replaceAll('\n', '\r\n'))
      }
    }
  })

  test('gives a page the usual form where it had no content, or where the new content would not come back', () => {
    const head = '---\ntitle: T\n---\n'
    for (const empty of ['', '\n', '\n\n']) expect(editNeuron(head + empty, {}, 'New')).toBe(`${head}\nNew\n`)
    expect(editNeuron(head.trimEnd(), {}, '\nNew')).toBe(`${head}\n\nNew\n`)
    for (const content of ['\nNew', 'New\n', '\r\nNew', '\n']) {
      expect(editNeuron(`${head}Old`, {}, content)).toBe(`${head}\n${content}\n`)
    }
  })

  test('gives front matter to a file that has none', () => {
    expect(editNeuron('# Hi\n', { seqId: 'x_00000001' })).toBe('---\nseqId: x_00000001\n---\n\n# Hi\n')
    expect(editNeuron('\r\n# Hi\r\n', { seqId: 'x_00000001' })).toBe('---\r\nseqId: x_00000001\r\n---\r\n\r\n# Hi\r\n')
    expect(editNeuron('# Hi\n', {})).toBe('# Hi\n')
    expect(editNeuron('# Hi\n', { title: 'A' }, '---js')).toBe('---\ntitle: A\n---\n\n---js\n')
  })

  test('refuses a file that it cannot read', () => {
    expect(() => editNeuron('---\ntitle: [\n---\n', { title: 'x' })).toThrow(FrontMatterError)
  })
})
