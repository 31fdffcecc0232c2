import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { editKbFile, type SettingEdit } from '../../../src/markdown/file/kb-file.ts'
import { parseYaml } from '../../../src/markdown/yaml/yaml.ts'
import { fc } from '../../support/properties.ts'

const template = readFileSync(new URL('../../../kb-template/kb.yaml', import.meta.url), 'utf8')

const edit = (text: string, ...edits: (readonly [path: string, value: SettingEdit['value']])[]) =>
  editKbFile(
    text,
    edits.map(([path, value]) => ({ path: path.split('.') as [string, ...string[]], value })),
  )

/** The lines that differ, of a text with as many lines. */
function changedLines(before: string, after: string): string[] {
  const lines = before.split('\n')
  expect(after.split('\n')).toHaveLength(lines.length)
  return after.split('\n').filter((line, index) => line !== lines[index])
}

test('one setting changes one line; comments, order and quoting stay', () => {
  expect(changedLines(template, edit(template, ['policy.threshold', 0.9]))).toEqual(['  threshold: 0.9'])
  expect(changedLines(template, edit(template, ['lint.schedule', '30 5 * * 1']))).toEqual([
    expect.stringMatching(/^ {2}schedule: "?30 5 \* \* 1"?$/),
  ])
  expect(changedLines(template, edit(template, ['defaultAudience', ['tool']]))).toEqual(['defaultAudience: [tool]'])
  expect(changedLines(template, edit(template, ['zones.kinds.ingest-summary', 'red']))).toEqual([
    '    ingest-summary: red',
  ])
  expect(edit(template, ['policy.threshold', 0.8], ['protectMain', false], ['tone', 'plain and friendly'])).toBe(
    template,
  )
})

test('a new setting stands below the others of its part, and one that goes takes its line', () => {
  const added = edit(template, ['zones.kinds.chat', 'red'], ['inlineTags', true], ['search.engine', 'segments'])
  expect(added).toContain('    reader-feedback: yellow\n    chat: red\n')
  expect(added.endsWith('inlineTags: true\nsearch:\n  engine: segments\n')).toBe(true)
  expect(added).toContain('# inlineTags: true\n')
  expect(edit(added, ['zones.kinds.chat', undefined])).toBe(added.replace('    chat: red\n', ''))
  expect(edit(template, ['zones.kinds.chat', undefined])).toBe(template)
})

test('a flow map, an empty part and a file without a last line break are changed too', () => {
  const kept = 'title: x # what it is\n'
  for (const [before, path] of [
    [`${kept}policy: { threshold: 0.5 }\n`, 'policy.threshold'],
    [`${kept}policy:\n`, 'policy.threshold'],
    [`${kept}language: en`, 'policy.threshold'],
    [`${kept}zones:\n  connectors: {} # none\n`, 'zones.connectors.site chat: x'],
    ['', 'title'],
  ] as const) {
    const after = edit(before, [path, 'red'])
    const read = path.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), parseYaml(after).data)
    expect(read).toBe('red')
    if (before !== '') expect(after.startsWith(kept)).toBe(true)
  }
  expect(edit('a: 1\r\ntone: x\r\n', ['tone', 'dry'], ['title', 'z'])).toBe('a: 1\r\ntone: dry\r\ntitle: z\r\n')
})

test('whatever is set is read back, and every comment stays', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 })
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((key) => !key.includes('.'))
  const setting = fc.oneof(
    fc.tuple(fc.constantFrom('title', 'tone', 'policy.threshold', 'lint.schedule', 'zones.kinds.chat'), text),
    fc.tuple(
      name.map((connector) => `zones.connectors.${connector}`),
      text,
    ),
    fc.tuple(fc.constantFrom('defaultAudience', 'sources.types'), fc.array(text, { maxLength: 4 })),
  )
  const comments = (yaml: string) => yaml.split('\n').filter((line) => line.trim().startsWith('#'))
  fc.assert(
    fc.property(fc.array(setting, { maxLength: 5 }), (settings) => {
      const edited = edit(template, ...settings)
      const { data, problems } = parseYaml(edited)
      // The keys of prototypes, which no reader takes.
      fc.pre(problems.length === 0)
      for (const [path, value] of new Map<string, unknown>(settings)) {
        const read = path.split('.').reduce<unknown>((at, key) => Reflect.get(Object(at), key), data)
        expect(read).toEqual(value)
      }
      expect(comments(edited)).toEqual(comments(template))
    }),
  )
})
