import { expect, test } from 'vitest'
import { fileLookup, fileNameKey, resolveFile } from '../../../src/rules/links/file-target.ts'
import { fileKeys } from '../../../src/rules/links/link-target.ts'

const paths = [
  'neurons/logo.png',
  'neurons/a/logo.png',
  'neurons/a/b/logo.png',
  'neurons/a/b/Flow chart.png',
  'neurons/img/x.pdf',
  'assets/y.webp',
  'kb.yaml',
]
const files = {
  has: (path: string) => paths.includes(path),
  byKey: (key: string) => paths.filter((path) => fileKeys(path).includes(key)),
}

test.each([
  ['logo.png', 'neurons/a/note.md', 'neurons/a/logo.png'],
  ['logo.png', 'neurons/c/note.md', 'neurons/logo.png'],
  ['logo.png', 'neurons/a/c/note.md', 'neurons/a/logo.png'],
  ['y.webp', 'neurons/a/note.md', 'assets/y.webp'],
  ['b/logo.png', 'neurons/c/note.md', 'neurons/a/b/logo.png'],
  ['a/logo.png', 'neurons/c/note.md', 'neurons/a/logo.png'],
  ['./logo.png', 'neurons/c/note.md', undefined],
  ['../logo.png', 'neurons/a/note.md', 'neurons/logo.png'],
  ['../../assets/y.webp', 'neurons/a/note.md', 'assets/y.webp'],
  ['../../../assets/y.webp', 'neurons/a/note.md', undefined],
  ['/assets/y.webp', 'neurons/a/note.md', 'assets/y.webp'],
  ['/img/x.pdf', 'neurons/a/note.md', 'neurons/img/x.pdf'],
  ['neurons/img/x.pdf', 'neurons/a/note.md', 'neurons/img/x.pdf'],
  ['flow-chart.PNG', 'neurons/c/note.md', 'neurons/a/b/Flow chart.png'],
  [' x.pdf ', 'neurons/c/note.md', 'neurons/img/x.pdf'],
  ['missing.png', 'neurons/a/note.md', undefined],
])('%j in %s is %s', (target, page, path) => {
  expect(resolveFile(target, page, files)).toBe(path)
})

test('of files that are equally near the first path counts, in whatever order they are found', () => {
  const equal = ['neurons/y/pic.png', 'neurons/x/pic.png']
  for (const known of [equal, equal.toReversed()]) {
    expect(resolveFile('pic.png', 'neurons/c/note.md', fileLookup(known))).toBe('neurons/x/pic.png')
  }
})

test.each(['Note', 'Note.md', 'a/Note.markdown', 'v1.2 notes', '', 'a/.', '.png'])('%j names no file', (target) => {
  expect(fileNameKey(target)).toBeUndefined()
})

test('a file name has one key, however its path is written', () => {
  expect(['A b.PNG', '../x/a-b.png', ' a b.png '].map(fileNameKey)).toEqual(['a b.png', 'a b.png', 'a b.png'])
})
