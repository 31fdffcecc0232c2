import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { openContext } from '../../src/app/open-context.ts'
import { checkerPackage, checkerPath } from '../../src/kb/checker-package.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { checkDirectory } from '../../src/push/clone-check/check-directory.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { testServer } from '../http/support/test-server.ts'
import { onOldNode, runNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { put } from './support/import-support.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const github = '.github/workflows/ganglion.yml'
const forgejo = '.forgejo/workflows/ganglion.yml'
const gitlab = '.gitlab-ci.yml'
const read = (path: string) => readFileSync(join(root, 'kb-template', path), 'utf8')

const action = 'ci/ganglion-check/action.yml'
const component = 'templates/ganglion-check.yml'

const Checker = z.object({ server: z.literal('https://ganglion.example'), sha256: z.literal('0'.repeat(64)) })
const Workflow = z.object({
  on: z.strictObject({
    pull_request: z.strictObject({ branches: z.tuple([z.literal('main')]) }),
    merge_group: z.null().optional(),
  }),
  jobs: z.object({
    check: z.object({
      steps: z
        .tuple([
          z.strictObject({
            uses: z.string().regex(/(^|\/)actions\/checkout@[0-9a-f]{40}$/),
            with: z.strictObject({ 'fetch-depth': z.literal(0), 'persist-credentials': z.literal(false) }),
          }),
        ])
        .rest(
          z.strictObject({
            uses: z.string().regex(/^actions\/setup-node@[0-9a-f]{40}$|^\.\/ci\/ganglion-check$/),
            with: z.union([
              z.strictObject({ 'node-version': z.literal(24) }),
              Checker.extend({ shown: z.literal('log').optional() }).strict(),
            ]),
          }),
        ),
    }),
  }),
})
const Action = z.object({
  runs: z.strictObject({
    using: z.literal('composite'),
    steps: z.tuple([z.object({ shell: z.literal('bash'), env: z.record(z.string(), z.string()), run: z.string() })]),
  }),
})
const Pipeline = z.strictObject({
  include: z.tuple([z.strictObject({ local: z.literal(`/${component}`), inputs: Checker.strict() })]),
})
const Component = z.object({
  ganglion: z.object({
    rules: z.tuple([z.strictObject({ if: z.literal('$CI_PIPELINE_SOURCE == "merge_request_event"') })]),
    script: z.tuple([z.string()]),
    artifacts: z.object({
      when: z.literal('always'),
      reports: z.record(z.string(), z.string()),
    }),
  }),
})

const workflowOf = (path: string) => Workflow.parse(parse(read(path)))
const componentJob = () => Component.parse(parseAllDocuments(read(component))[1]?.toJS()).ganglion
const scriptOf = (path: string) =>
  path === gitlab ? componentJob().script[0] : Action.parse(parse(read(action))).runs.steps[0].run

test('the workflows run on pull requests and merge queues only, and pin what they use', () => {
  expect(workflowOf(github).on).toHaveProperty('merge_group')
  expect(workflowOf(forgejo).jobs.check.steps.at(-1)).toHaveProperty('with.shown', 'log')
  expect(parse(read(github)).permissions).toEqual({ contents: 'read' })
  Pipeline.parse(parse(read(gitlab)))
})

test.each([
  // Forgejo and Gitea run GitHub's workflows, and publish no schema of their own.
  [github, 'github-workflow.json', { jobs: { check: { steps: 'none' } } }],
  [forgejo, 'github-workflow.json', { jobs: { check: { steps: 'none' } } }],
  [gitlab, 'gitlab-ci.json', { ganglion: { script: ['true'], artifacts: { when: 'now and then' } } }],
])('%s is valid by the published schema', (path, name, broken) => {
  const file = new URL(`../forge/descriptions/${name}`, import.meta.url)
  // Formats only name what a text is.
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(readFileSync(file, 'utf8')))
  expect(isValid(parse(read(path))), JSON.stringify(isValid.errors)).toBe(true)
  expect(isValid({ ...parse(read(path)), ...broken })).toBe(false)
})

test.each([github, forgejo, gitlab, action, component])(
  '%s has no secret, and no text of the change in a script',
  (path) => {
    expect(read(path)).not.toMatch(/secrets\.|github\.|GITHUB_TOKEN|CI_JOB_TOKEN|registry|\$\{\{ (?!inputs\.)/)
    expect(scriptOf(path === component ? gitlab : github)).not.toMatch(/\$\{\{|\$\[\[/)
  },
)

/** The checker of an installed Ganglion, or of this checkout. */
const installed = process.env.GANGLION_CHECKER
const tgz = async () => (installed === undefined ? (await checkerPackage()).tgz : readFileSync(installed))

/** The script of a workflow in a clone with a branch of a pull request. */
async function run(path: string, files: Record<string, string>, named?: string) {
  const ganglion = await openContext({ dataDir: join(tempDir(), 'data') })
  onTestFinished(() => ganglion.close())
  const { gitDir, prefix } = await createKnowledgeBase(ganglion, { tenant: 'acme', slug: 'notes' })
  const clone = join(tempDir(), 'a clone')
  nativeGit(gitDir, ['clone', '--quiet', `file://${gitDir}`, clone])
  nativeGit(clone, ['checkout', '--quiet', '-b', 'proposal'])
  for (const [name, text] of Object.entries(files)) put(clone, name, text.replaceAll('PREFIX', prefix))
  nativeGit(clone, ['add', '--all'])
  nativeGit(clone, ['commit', '--quiet', '--message', 'Propose'])
  const checker = await tgz()
  const server = createServer((request, response) => response.end(request.url === checkerPath ? checker : '')).listen(0)
  onTestFinished(() => void server.close())
  const { port } = z.object({ port: z.number() }).parse(server.address())
  const sha256 = named ?? createHash('sha256').update(checker).digest('hex')
  const bash = spawn('bash', ['--norc', '-e', '-c', scriptOf(path)], {
    cwd: clone,
    env: {
      ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, TMPDIR: tempDir() },
      ...{ SERVER: `http://127.0.0.1:${port}`, SHA256: sha256, SHOWN: path === forgejo ? 'log' : 'github' },
      ...{ GITHUB_BASE_REF: 'main', GITHUB_WORKSPACE: clone },
      ...{ CI_PROJECT_DIR: clone, CI_MERGE_REQUEST_DIFF_BASE_SHA: nativeGit(clone, ['rev-parse', 'origin/main']) },
    },
  })
  const [stdout, stderr, [status]] = await Promise.all([text(bash.stdout), text(bash.stderr), once(bash, 'close')])
  return { clone, status, stdout, stderr }
}

const sound = { 'neurons/a.md': '---\ntitle: A new page\n---\n\n[[Nowhere]]\n' }
const twice = '---\nseqId: PREFIX_00000001\ntitle: ::error::x\n---\n\n::error::forged\n'
const broken = { 'neurons/a.md': twice, 'neurons/b.md': twice }

test('on GitHub findings are annotations', async () => {
  const good = await run(github, sound)
  expect(good).toMatchObject({ status: 0, stderr: '' })
  expect(good.stdout).toContain('::warning file=neurons/a.md,line=5,title=broken-link::')
  const bad = await run(github, broken)
  expect(bad.status).toBe(1)
  expect(bad.stdout).toContain('::error file=neurons/b.md,line=1,title=duplicate-seq-id::')
})

test('on Forgejo findings are in the log, where the change can give the runner no command', async () => {
  const { status, stdout } = await run(forgejo, broken)
  expect(status).toBe(1)
  const [, word, inside] = /^::stop-commands::([0-9a-f]{32})\n([\s\S]*)\n::\1::\n$/.exec(stdout) ?? []
  expect(word).toBeDefined()
  expect(inside).toContain('error[duplicate-seq-id]')
  expect((await run(forgejo, sound)).status).toBe(0)
})

test('on GitLab findings are a report, whatever the change puts in its place', async () => {
  const { clone, status } = await run(gitlab, { ...broken, 'ganglion-report/findings.json': '[]' })
  expect(status).toBe(1)
  const { artifacts } = componentJob()
  const report = JSON.parse(readFileSync(join(clone, artifacts.reports.codequality ?? ''), 'utf8'))
  expect(report).toContainEqual(
    expect.objectContaining({
      check_name: 'duplicate-seq-id',
      location: { path: 'neurons/b.md', lines: { begin: 1 } },
    }),
  )
  expect((await run(gitlab, sound)).status).toBe(0)
})

test('a checker with another hash than the file names is not run', async () => {
  for (const path of [github, gitlab]) {
    const { status, stdout, stderr } = await run(path, sound, 'f'.repeat(64))
    expect([status, stdout]).toEqual([1, expect.not.stringContaining('::warning')])
    expect(stderr).toContain(
      `The server's checker is another: ${createHash('sha256')
        .update(await tgz())
        .digest('hex')}`,
    )
  }
})

test('the checker is small, needs no other package, and finds what the command finds', async () => {
  const { clone } = await run(github, broken)
  const folder = tempDir()
  writeFileSync(join(folder, 'check.tgz'), await tgz())
  spawnSync('tar', ['-xzf', 'check.tgz'], { cwd: folder })
  const files = readdirSync(join(folder, 'package')).map((name) => join(folder, 'package', name))
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(2_000_000)
  expect(files.map((file) => basename(file))).toEqual(expect.arrayContaining(['LICENSE', 'NOTICES.txt', 'README.md']))
  // For a thread, for gray-matter and for the whole parser.
  put(clone, 'neurons/long.md', `---\ntags: [{a: b}, *c]\n---\n${'A word, [[Nowhere]].\n'.repeat(1000)}`)
  put(
    clone,
    'neurons/html.md',
    '# Q\n\n<div>\n<a href="x.md">y</a>\n</div>\n\n1. > ```\n   > [[no]]\n\n[^1]: [z][q]\n\n[q]: r.md\n',
  )
  const bin = join(folder, 'package', 'ganglion-check.js')
  const checker = (...args: string[]) => runNode([bin, ...args])
  for (const args of [[clone, '--base', 'main', '--json'], [clone, '--format', 'codeclimate'], [folder], ['--no']]) {
    const { code, stdout, stderr } = await runNode([join(root, 'src/main.js'), 'check', ...args])
    expect(await checker(...args)).toMatchObject({ code, stdout, stderr })
  }
  const old = await runNode([...onOldNode, bin])
  expect([old.code, old.stderr]).toEqual([2, 'error: ganglion-check needs Node 22.20 or later; this is v20.1.0.\n'])
})

test('a server that knows its address names itself and its checker in the files', async () => {
  const ganglion = await openContext({ dataDir: join(tempDir(), 'data'), publicUrl: 'https://kb.example.org/' })
  onTestFinished(() => ganglion.close())
  const { gitDir } = await createKnowledgeBase(ganglion, { tenant: 'acme', slug: 'notes' })
  const { rawPayload, headers } = await (await testServer()).app.inject('/ci/ganglion-check.tgz')
  expect(headers['content-type']).toBe('application/gzip')
  const sha256 = createHash('sha256').update(rawPayload).digest('hex')
  for (const path of [github, forgejo, gitlab]) {
    const file = nativeGit(gitDir, ['show', `main:${path}`])
    expect(file).toMatch(new RegExp(`server: 'https://kb\\.example\\.org'\n +sha256: '${sha256}'`))
  }
})

test('a new knowledge base has the files of every forge, and is sound', async () => {
  const { clone } = await run(github, sound)
  for (const path of [github, forgejo, gitlab, action, component, 'README.md']) {
    expect(nativeGit(clone, ['show', `origin/main:${path}`])).toBe(read(path).trimEnd())
  }
  nativeGit(clone, ['checkout', '--quiet', 'main'])
  expect((await checkDirectory(clone, {})).findings).toEqual([])
})
