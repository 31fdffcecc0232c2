import { expect, test } from 'vitest'
import { PathClaims } from '../../../src/operate/import/import-plan.ts'
import { checkPaths } from '../../../src/rules/check/check-paths.ts'
import { pathKey, portablePath } from '../../../src/rules/paths/portable-path.ts'
import { fc } from '../../support/properties.ts'

test('a name that is taken gets a number, before its extension', () => {
  const claims = new PathClaims([])
  expect(['a/Note.md', 'a/note.md', 'a/NOTE.md', 'a/note-2.md'].map((path) => claims.claim(path))).toEqual([
    'a/Note.md',
    'a/note-2.md',
    'a/NOTE-3.md',
    'a/note-2-2.md',
  ])
})

test('a folder keeps the spelling that it had first, also in what is there already', () => {
  const claims = new PathClaims(['neurons/Ops/a.md'])
  expect(claims.claim('neurons/ops/b.md')).toBe('neurons/Ops/b.md')
  expect(claims.claim('neurons/cafe\u0301/a.md')).toBe('neurons/cafe\u0301/a.md')
  expect(claims.claim('neurons/caf\u00e9/b.md')).toBe('neurons/cafe\u0301/b.md')
})

test('a folder never takes the place of a file, nor a file that of a folder', () => {
  const claims = new PathClaims(['assets'])
  expect(claims.claim('Assets/a.png')).toBe('Assets-2/a.png')
  expect(claims.claim('readme')).toBe('readme')
  expect(claims.claim('README/a.md')).toBe('README-2/a.md')
  expect(claims.claim('docs/a.md')).toBe('docs/a.md')
  expect(claims.claim('Docs')).toBe('Docs-2')
})

test('what is there already may be claimed by the file that it came from', () => {
  expect(new PathClaims(['a.md']).claim('a.md')).toBe('a.md')
})

test('claims never collide, whatever is wished for', () => {
  const name = fc.constantFrom('a', 'A', 'a.md', 'A.md', 'a-2', 'a-2.md', '\u00e9', 'e\u0301', 'CON', 'x:')
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => portablePath(names.join('/')))
  fc.assert(
    fc.property(fc.array(path), (paths) => {
      const claims = new PathClaims([])
      const claimed = paths.map((wished) => claims.claim(wished))
      expect(new Set(claimed.map(pathKey)).size).toBe(paths.length)
      expect(checkPaths(claimed)).toEqual([])
    }),
  )
})
