import { accessSync, constants, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

type Options = NonNullable<TestProjectInlineConfiguration['test']>
type Suite = Options & { name: string; include: string[] }
/** `long`: files of the area that `npm test` leaves to `npm run test:long`. */
type Area = Suite & { long?: string[] }

const minutes = 60_000
const cores = availableParallelism()
/** Seconds for which many nodes work while their parts fail. */
const clusterSeconds = Number(process.env.CLUSTER_SECONDS ?? 600)
const faultCycles = Number(process.env.FAULT_CYCLES ?? 200)
const filesOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

/** For tests that run the product in their own process. */
const inProcess: Options = {
  // A worker loads the modules once, not for each file. So a file must leave them, and the process, as they were.
  isolate: false,
  // Tests make much garbage that is short-lived: the larger the young generation is, the less of it is copied.
  execArgv: ['--max-semi-space-size=64'],
  env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled'), ...temporaryFiles() },
}
/** Hides git from the product: all but clones and pushes is served without it. */
const withoutGit = 'test/support/without-git.ts'
const closeShared = 'test/http/support/close-shared.ts'
const apart = filesOf('faults', 'client', 'browser', 'cluster/postgres', 'cluster/parts')
/**
 * Areas of the tests that need nothing but git. Files of an area share workers, each file in the first area that has it. A new worker
 * takes more than 2 s of CPU until it has loaded and compiled the product, so the areas are few. A worker also keeps what its files
 * have loaded and left, up to 1.7 GB, so no area has all of the tests. The long files end threads and processes, damage
 * files, repeat another suite against a mutated server or with the second search engine, or walk a whole day.
 */
const areas: Area[] = [
  {
    name: 'test-git',
    include: [...filesOf('http/git'), 'test/e2e/{git/*,forge/forge-{answer-tests,bundles,erasure,faults}}.test.ts'],
    setupFiles: [closeShared],
    long: ['test/http/git/git-transfers.test.ts', 'test/e2e/{git/git-hostile,forge/forge-faults}.test.ts'],
  },
  {
    name: 'test-product',
    include: [
      ...filesOf('http', 'e2e'),
      'test/{operate/{backup,backup-ranks,verify,rebuild},queue/heads/candidate-refs}.test.ts',
    ],
    setupFiles: [withoutGit, closeShared],
    long: [
      'test/operate/backup-ranks.test.ts',
      'test/e2e/{any-front-matter,any-record,meaning,notices,twins-segments,webhooks,uploads/upload}.test.ts',
      'test/e2e/forge/forge-{day,history,pause,webhook}.test.ts',
    ],
  },
  {
    name: 'test-features',
    include: filesOf('{queue,review,push,pages,people,events,operate,kb,console}', 'sources/ingest'),
    long: [
      'test/events/events-of-processes.test.ts',
      'test/operate/adopt/adopt.test.ts',
      'test/sources/ingest/ingest-crash.test.ts',
    ],
  },
  // What takes more than linear time of a hostile text takes more than this timeout.
  {
    name: 'test-text',
    include: filesOf('markdown', 'chat', 'rules', 'compare', 'models'),
    testTimeout: minutes,
    long: [
      'test/markdown/{chunks,pool/parser-pool,render/{render-pool,safe}}.test.ts',
      'test/{chat/extract,compare/diff}-pool.test.ts',
    ],
  },
  {
    name: 'test-rest',
    include: [...filesOf('**'), 'packages/*/test/**/*.test.ts'],
    long: [
      'test/search/{index-crash,index-files,search-pool,segments/segment-engine}.test.ts',
      'test/search/kb/search-{faults,sources,while-importing}.test.ts',
      '{packages/contract-suite/test,test/examples}/*.test.ts',
      'test/cli/{without-git,curators-day,commands/{mirror,kb-adopt,operations,serve-starts}}.test.ts',
      'test/{cluster/ingest,git/pushed-objects,git/native/{git-process,start-program}}.test.ts',
    ],
  },
]

/** Tests for the inner loop: rules and parsers that take values and return values, and one way through each door. */
const quick: Suite = {
  ...inProcess,
  name: 'quick',
  include: [
    'test/{compare,rules,models}/**/*.test.ts',
    'test/chat/{answer-shape,asked,counting,extract-answerer,fallback-answerer,model-answerer,question-*}.test.ts',
    'test/markdown/{*,{file,links,merge}/*}.test.ts',
    'test/search/{highlight,index/offsets,query/query,text/analyser}.test.ts',
    'test/console/{islands,layout}/**/*.test.ts',
    // The doors: the API, MCP, git, the console, the command line. Every answer of the API is checked against its description.
    'test/e2e/reading.test.ts',
    'test/http/response/errors.test.ts',
    'test/http/mcp/mcp-transport.test.ts',
    'test/git/repository.test.ts',
    'test/e2e/git/git-tips.test.ts',
    'test/console/session/sign-in.test.ts',
    'test/cli/commands/kb.test.ts',
  ],
  // What tries thousands of texts, or a thread's limits.
  exclude: [
    'test/chat/{answer-filter,extract-pool}.test.ts',
    'test/compare/diff-pool.test.ts',
    'test/console/islands/upload-run.test.ts',
    'test/markdown/{chunks,yaml,file/neuron-file,{links/links,file/rewrite-links}}.test.ts',
  ],
  maxWorkers: Math.max(2, cores),
}

/**
 * Tests with real parts, which they start themselves: PostgreSQL, load balancers, and in the long run an object store. Those of many
 * nodes, and once more those of the state, and those of the whole product, whose servers are then nodes of a cluster. The tests of
 * routes (test/http) have services in memory, so they know of no kind of server.
 */
const cluster: Suite = {
  ...inProcess,
  name: 'cluster',
  include: filesOf('state', 'cluster', 'e2e'),
  exclude: [
    'test/state/{sqlite,directory/*,blobs,projection,api-token,revised-cache}.test.ts',
    'test/e2e/uploads/torn-upload.test.ts', // of files that only a server with everything in its own folder has
    // Left out of a short run: what takes long, such as the installation of an object store, and tests of what does not know the
    // kind of server, since it only asks services that other tests ask, too.
    ...(clusterSeconds < 120
      ? [
          'test/cluster/parts/swift.test.ts',
          'test/e2e/{chat,llms,mcp,meaning,reading,sessions,twins,webhooks}.test.ts',
          'test/e2e/{forge/*,git/git-{hostile,identity,forge-mirror}}.test.ts',
        ]
      : []),
  ],
  globalSetup: 'test/support/postgres-setup.ts',
  maxWorkers: Math.max(2, cores),
}

/** Tests of the console in a real browser; they need Chromium. Half of the time is waiting for pages to come to rest. */
const browser: Suite = {
  ...inProcess,
  name: 'browser',
  include: filesOf('browser'),
  maxWorkers: 2,
}

/** Tests that kill, cut off and fill up: one at a time, since they need the machine, and with as long as they take. */
const faults: Suite = {
  name: 'faults',
  include: filesOf('faults'),
  fileParallelism: false,
  exclude: faultCycles < 100 ? ['test/faults/forge-calls.test.ts'] : [], // `npm test` has a short form of it
  testTimeout: 45 * minutes,
}

/** Tests of the API's description and of its client, by tools and runtimes of others, which test/client installs for itself. */
const client: Suite = {
  name: 'client',
  include: filesOf('client'),
  fileParallelism: false,
}

export default defineConfig({
  test: {
    // Of what hangs. A busy machine may take long for what usually takes a second.
    testTimeout: 3 * minutes,
    hookTimeout: 3 * minutes,
    expect: { poll: { timeout: 1.5 * minutes } },
    // A test that says what went wrong in a list is read where only its message is.
    chaiConfig: { truncateThreshold: 2_000 },
    pool: 'forks',
    // Node reads the modules itself, as it does for the product: they load faster, and packages are the builds that the product takes.
    experimental: { viteModuleRunner: false },
    projects: [
      ...areas.flatMap(({ name, include, long = [], ...area }, at) => {
        const others = [...apart, ...areas.slice(0, at).flatMap(({ include }) => include)]
        // Half of the time is waiting, for a git, a socket or a disk.
        const suite = { ...inProcess, ...area, maxWorkers: cores + 2 }
        const longName = name.replace('test', 'long')
        return [
          projectOf({ ...suite, name, include, exclude: [...others, ...long] }, 0),
          ...(long.length === 0 ? [] : [projectOf({ ...suite, name: longName, include: long }, 1)]),
        ]
      }),
      ...[quick, cluster, browser, faults, client].map((suite, at) => projectOf(suite, at + 2)),
    ],
  },
})

/** Projects of the same group run at the same time. */
function projectOf(test: Options, groupOrder: number): TestProjectInlineConfiguration {
  return { extends: true, test: { ...test, sequence: { groupOrder } } }
}

/**
 * Keeps temporary files in memory if the system has a folder for that, because the product flushes every write. In a container it
 * often has 64 MB, which is too little.
 */
function temporaryFiles(): Record<string, string> {
  const memory = '/dev/shm'
  const leastBytes = 2 ** 31
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize < leastBytes ? {} : { TMPDIR: memory }
  } catch {
    return {}
  }
}
