import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { isRefName } from '../../../src/git/refs/refs.ts'
import { fc } from '../../support/properties.ts'
import { nativeGit } from '../support/native-git.ts'

function gitAllows(name: string): boolean {
  try {
    nativeGit(tmpdir(), ['check-ref-format', name])
    return true
  } catch {
    return false
  }
}

test('names are allowed as git allows them', () => {
  const part = fc.constantFrom(
    'refs',
    'a',
    '.',
    '..',
    '/',
    '@',
    '{',
    '@{',
    '.lock',
    '-',
    ' ',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
  )
  const odd = fc.constantFrom('\\', '\u0001', '\u007f', 'é', '\u2028', '\n')
  const name = fc.array(fc.oneof(part, odd), { minLength: 1, maxLength: 6 }).map((parts) => `refs/${parts.join('')}`)
  fc.assert(
    fc.property(name, (name) => {
      expect([name, isRefName(name)]).toEqual([name, gitAllows(name)])
    }),
    { numRuns: 300 },
  )
})

test('names are names below refs', () => {
  for (const name of ['HEAD', 'refs', 'refs/', '/refs/heads/a', 'heads/a', 'refs/heads/\ufffd']) {
    expect([name, isRefName(name)]).toEqual([name, false])
  }
  for (const name of ['refs/heads/main', 'refs/a', 'refs/heads/é/-'])
    expect([name, isRefName(name)]).toEqual([name, true])
})
