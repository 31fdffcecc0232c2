import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import shared from './vitest.shared.ts'

/**
 * Folders whose files share workers. A worker keeps what its files have loaded and left, so an area is kept to a part of the tests.
 */
const areas = {
  services: ['services'],
  http: ['http'],
  e2e: ['e2e'],
  console: ['console'],
  search: ['search', 'markdown', 'chat', 'knowledge', 'compare', 'models', 'bench'],
}
const filesOf = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)
const apart = filesOf(['faults', 'client', 'browser', 'cluster/postgres', 'cluster/parts'])

export default mergeConfig(
  shared,
  defineConfig({
    test: {
      globalSetup: 'test/support/left-out.ts',
      // Half of the time is waiting, for a git, a socket or a disk.
      maxWorkers: availableParallelism() + 1,
      projects: [
        ...Object.entries(areas).map(([name, folders]) => area(name, filesOf(folders), [])),
        area('rest', filesOf(['**']), [...filesOf(Object.values(areas).flat()), ...apart]),
      ],
    },
  }),
)

function area(name: string, include: string[], exclude: string[]): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include, exclude } }
}
