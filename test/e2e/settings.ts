import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { nativeGit } from '../git/support/native-git.ts'
import { tempDir } from '../support/temp.ts'

/** Changes kb.yaml on main as a curator does, with git. */
export function setSettings(gitDir: string, from: string | RegExp, to: string): void {
  const clone = join(tempDir(), 'clone')
  nativeGit(gitDir, ['clone', '--quiet', gitDir, clone])
  const text = nativeGit(clone, ['show', 'HEAD:kb.yaml'])
  expect(text).toMatch(from)
  writeFileSync(join(clone, 'kb.yaml'), `${text.replace(from, to)}\n`)
  nativeGit(clone, ['commit', '--quiet', '-am', 'Change the policy'])
  nativeGit(clone, ['push', '--quiet', 'origin', 'HEAD:main'])
}
