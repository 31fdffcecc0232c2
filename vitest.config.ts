import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import shared from './vitest.shared.ts'

type Area = { name: string; include: string[]; setupFiles?: string[] }

/** Hides git from the product: all but clones and pushes is served without it. */
const setupFiles = ['test/support/without-git.ts']
const closeShared = 'test/http/support/close-shared.ts'
const filesOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)
const apart = filesOf('faults', 'client', 'browser', 'cluster/postgres', 'cluster/parts')
/**
 * Files that share workers, each in the first area that has it. A worker keeps what its files have loaded and left, so an area is
 * kept to a part of the tests.
 */
const areas: Area[] = [
  {
    name: 'git',
    include: [...filesOf('http/git'), 'test/e2e/{git/*,forge/forge-bundles,forge/forge-faults}.test.ts'],
    setupFiles: [closeShared],
  },
  { name: 'http', include: filesOf('http'), setupFiles: [...setupFiles, closeShared] },
  {
    name: 'e2e',
    include: [...filesOf('e2e'), 'test/{operate/{backup,verify,rebuild},queue/heads/candidate-refs}.test.ts'],
    setupFiles,
  },
  {
    name: 'features',
    include: filesOf('queue', 'review', 'push', 'pages', 'people', 'events', 'operate', 'kb', 'sources/ingest'),
  },
  { name: 'console', include: filesOf('console') },
  { name: 'search', include: filesOf('search', 'markdown', 'chat', 'rules', 'compare', 'models', 'bench') },
  { name: 'rest', include: filesOf('**') },
]

export default mergeConfig(
  shared,
  defineConfig({
    test: {
      globalSetup: 'test/support/left-out.ts',
      // Half of the time is waiting, for a git, a socket or a disk.
      maxWorkers: availableParallelism() + 1,
      projects: areas.map(projectOf),
    },
  }),
)

function projectOf({ name, include, setupFiles = [] }: Area, at: number): TestProjectInlineConfiguration {
  const exclude = [...apart, ...areas.slice(0, at).flatMap(({ include }) => include)]
  return { extends: true, test: { name, include, exclude, setupFiles } }
}
