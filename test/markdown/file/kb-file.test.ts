import { expect, test } from 'vitest'
import { parseKbFile } from '../../../src/markdown/file/kb-file.ts'

test('a sound file is read as its settings say', () => {
  const { settings, problems } = parseKbFile('title: Handbook\npolicy:\n  threshold: 0.9\n')
  expect(settings).toMatchObject({ title: 'Handbook', policy: { threshold: 0.9 }, defaultAudience: ['tool', 'public'] })
  expect(problems.map(({ path }) => path)).toEqual(['id', 'slug', 'prefix'])
})

test.each([
  ['a key that comes twice', 'title: A\npolicy:\n  threshold: 0.5\npolicy:\n  threshold: 0.99\n'],
  ['a list that is not closed', 'title: A\npolicy:\n  threshold: 0.5\ndefaultAudience: [curator\n'],
])('a file with %s approves nothing and shows nothing, and its line is named', (_, text) => {
  const { settings, problems } = parseKbFile(text)
  expect(settings).toMatchObject({ title: 'A', policy: null, zones: null, defaultAudience: [] })
  expect(problems[0]).toEqual({ path: '', severity: 'error', message: expect.stringMatching(/^line \d: /) })
})
