import { describe, expect, test } from 'vitest'
import { isReservedName, pathKey, pathProblem, portablePath } from '../../../src/rules/paths/portable-path.ts'
import { fc, runs } from '../../support/properties.ts'
import { hostileText } from '../hostile-text.ts'

describe('pathProblem', () => {
  test.each([
    'kb.yaml',
    'README.md',
    'neurons/2026/01/vip-escalation-policy.md',
    'neurons/Über uns/知識 (draft) – v1.2.md',
    'neurons/⚠\ufe0f Known issues.md',
    'neurons/console.md',
    'neurons/com10.md',
    'neurons/.obsidian/app.json',
    'neurons/notes~1.md',
    '.github/workflows/ganglion.yml',
    '.gitlab-ci.yml',
    '.gitignore',
    '.gitattributes',
    '.gitea/workflows/check.yml',
    '.forgejo/workflows/check.yml',
    '.editorconfig',
    `neurons/${'a'.repeat(252)}.md`,
    `${'d/'.repeat(15)}x.md`,
  ])('%s can be checked out everywhere', (path) => {
    expect(pathProblem(path)).toBeUndefined()
  })

  test.each([
    ['', /empty/],
    ['/etc/passwd', /empty/],
    ['a//b.md', /empty/],
    ['a/', /empty/],
    ['./a.md', /relative/],
    ['a/../b.md', /relative/],
    ['a\\b.md', /character \\/],
    ['C:evil.md', /character :/],
    ['what?.md', /character \?/],
    ['a<b>.md', /character </],
    ['a"b.md', /character "/],
    ['a|b.md', /character \|/],
    ['a*.md', /character \*/],
    ['a\nb.md', /U\+000A/],
    ['a\0.md', /U\+0000/],
    ['a\x1b[31m.md', /U\+001B/],
    ['a\u202egnp.md', /U\+202E/],
    ['a\u2066b.md', /U\+2066/],
    ['a\u200bb.md', /U\+200B/],
    ['a\u00adb.md', /U\+00AD/],
    ['a\u3164.md', /U\+3164/],
    ['a\u2028.md', /U\+2028/],
    ['a\ud800.md', /U\+D800/],
    ['caf\ufffd.md', /UTF-8/],
    ['cafe\u0301.md', /normalisation/],
    ['a.', /dot or space/],
    ['a /b.md', /dot or space/],
    ['CON', /reserves/],
    ['nul.md', /reserves/],
    ['aux.tar.gz', /reserves/],
    ['folder/Com1/x.md', /reserves/],
    ['LPT³.md', /reserves/],
    ['con .md', /reserves/],
    ['CONOUT$', /reserves/],
    ['.git/config', /meaning/],
    ['x/.GIT/hooks/pre-commit', /meaning/],
    ['.gitmodules', /meaning/],
    ['.GitModules', /meaning/],
    ['.GitAttributes', /meaning/],
    ['.GitHub', /meaning/],
    ['git~1/config', /meaning/],
    ['GIT~2', /meaning/],
    ['gitmod~1', /meaning/],
    ['GI7EBA~1', /meaning/],
    ['.g\u200cit/config', /U\+200C/],
    ['.git\u200d', /U\+200D/],
    ['.git.', /dot or space/],
    ['.git ', /dot or space/],
    ['.git::$INDEX_ALLOCATION', /character :/],
    [`${'a'.repeat(256)}`, /255 bytes/],
    [`${'知'.repeat(86)}`, /255 bytes/],
    [`${'d/'.repeat(16)}x.md`, /16 levels/],
    [`${`${'a'.repeat(200)}/`.repeat(6)}x.md`, /1024 bytes/],
  ])('%j is refused', (path, reason) => {
    expect(pathProblem(path)).toMatch(reason)
  })

  test('a reason prints on one line without the hostile characters of the path', () => {
    fc.assert(
      fc.property(hostileText, (path) => {
        expect(pathProblem(path) ?? '').not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
    )
  })

  test('quick on a path of a megabyte', () => {
    expect(pathProblem('a/'.repeat(500_000))).toMatch(/1024 bytes/)
  })
})

test('a name is reserved with or without an extension, in any case', () => {
  expect(
    ['con', 'PRN', 'Aux.md', 'nul.tar.gz', 'COM0', 'lpt9', 'con  .x'].filter((name) => !isReservedName(name)),
  ).toEqual([])
  expect(['icon', 'cons', 'con-1', 'com', 'com12', 'nul_', '.con'].filter(isReservedName)).toEqual([])
})

describe('pathKey', () => {
  test.each([
    ['Notes/A.md', 'notes/a.md'],
    ['café.md', 'cafe\u0301.md'],
    ['STRASSE.md', 'straße.md'],
    ['ẞ.md', 'ß.md'],
    ['ΟΔΟΣ.md', 'οδος.md'],
    ['\u212b.md', 'å.md'],
    ['⚠\ufe0f.md', '⚠.md'],
  ])('%s and %s collide', (a, b) => {
    expect(pathKey(a)).toBe(pathKey(b))
  })

  test('accents and names keep paths apart', () => {
    expect(pathKey('cafe.md')).not.toBe(pathKey('café.md'))
    expect(pathKey('a/b.md')).not.toBe(pathKey('a-b.md'))
  })

  test('the key of a key is the key, and case or normalisation never change it', () => {
    fc.assert(
      fc.property(hostileText, (path) => {
        const key = pathKey(path)
        expect(pathKey(key)).toBe(key)
        expect(pathKey(path.normalize('NFD'))).toBe(key)
        expect(pathKey(path.toUpperCase())).toBe(key)
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('portablePath', () => {
  test.each([
    ['Über uns/What is X?.md', 'Über uns/What is X.md'],
    ['a: b.md', 'a- b.md'],
    ['Notes/con.md', 'Notes/con_.md'],
    ['aux.tar.gz', 'aux_.tar.gz'],
    ['cafe\u0301.md', 'café.md'],
    ['a\u200bb\u202e.md', 'ab.md'],
    ['one\ntwo.md', 'one two.md'],
    ['trailing. /x.md', 'trailing/x.md'],
    ['../../etc/passwd', 'etc/passwd'],
    ['/a//b.md', 'a/b.md'],
    ['x/.git/config', 'x/git/config'],
    ['git~1/x.md', 'git-1/x.md'],
    ['.gi~~1', '.gi~~1'],
    ['.git~~1', 'git--1'],
    ['C:\\Users\\me\\x.md', 'C-Users-me-x.md'],
    ['folder/???', 'folder/untitled'],
    ['folder/???.md', 'folder/untitled.md'],
    ['', 'untitled'],
    ['..', 'untitled'],
    ['con?.md', 'con_.md'],
  ])('%j becomes %s', (path, portable) => {
    expect(portablePath(path)).toBe(portable)
  })

  test('a long name is cut between characters and keeps its extension', () => {
    const name = portablePath(`${'知'.repeat(200)}.md`)
    expect(name).toMatch(/^知+\.md$/)
    expect(Buffer.byteLength(name)).toBeGreaterThan(245)
  })

  test('a path that is too deep or too long loses its innermost folders, not its file name', () => {
    expect(portablePath(`${'d/'.repeat(30)}x.md`)).toBe(`${'d/'.repeat(15)}x.md`)
    expect(portablePath(`${`${'a'.repeat(200)}/`.repeat(6)}x.md`)).toBe(`${`${'a'.repeat(200)}/`.repeat(5)}x.md`)
  })

  test('whatever the path, the result is portable; a portable path stays as it is', () => {
    fc.assert(
      fc.property(hostileText, (path) => {
        const portable = portablePath(path)
        expect(pathProblem(portable)).toBeUndefined()
        if (pathProblem(path) === undefined) expect(portable).toBe(path)
      }),
      { numRuns: runs(5000) },
    )
  })
})
