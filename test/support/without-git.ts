import { vi } from 'vitest'
import { GitError } from '../../src/git/git-error.ts'

/** Hides git from the product, as on a machine that has none. The tests themselves go on using it. */
vi.mock('../../src/git/native/git-process.ts', async (original) => {
  const missing = async () => {
    throw new GitError('no-git', 'git could not be started')
  }
  return { ...(await original<object>()), tryGit: missing, runGit: missing, nativeGit: async () => undefined }
})
