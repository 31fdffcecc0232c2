import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folderRefs } from '../../src/git/ref-store.ts'
import { Repository } from '../../src/git/repository.ts'
import { tempDir } from '../support/temp.ts'
import { main, queue, testRefStore } from './support/ref-store-suite.ts'

testRefStore('a folder', async () => {
  const { gitDir } = await Repository.init(join(tempDir(), 'kb.git'))
  return {
    writer: async () => {
      const repository = new Repository(gitDir)
      onTestFinished(() => repository.close())
      return { repository, store: folderRefs(repository, [queue, main]) }
    },
  }
})
