import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit, tryGit } from '../../../src/git/native/git-process.ts'
import { processesIn, until } from '../../http/support/git-server.ts'
import { tempDir } from '../../support/temp.ts'
import { nativeGit } from '../support/native-git.ts'

/** Starts a shell, which starts another program, and ignores what asks it to end. */
const stubborn = ['-c', "alias.hang=!trap '' TERM; sleep 100 & sleep 100", 'hang']

function repository(): string {
  const gitDir = join(tempDir(), 'a.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', gitDir])
  return gitDir
}

test('a git that takes too long is killed with all that it has started', async () => {
  const gitDir = repository()
  const running = tryGit(gitDir, stubborn, { timeLimit: 500 })
  await until(() => processesIn(gitDir).length >= 3)
  expect(await running).toMatchObject({ exitCode: null })
  await until(() => processesIn(gitDir).length === 0)
})

test('a git that does not end when it is told to is killed, too', async () => {
  const gitDir = repository()
  const ending = new AbortController()
  const running = runGit(gitDir, stubborn, { signal: ending.signal })
  await until(() => processesIn(gitDir).length >= 3)
  ending.abort()
  await expect(running).rejects.toMatchObject({ code: 'git-failed' })
  await until(() => processesIn(gitDir).length === 0)
})
