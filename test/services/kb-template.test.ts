import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { checkDirectory } from '../../src/services/check/check-directory.ts'
import { Ganglion } from '../../src/services/ganglion.ts'
import { createKnowledgeBase } from '../../src/services/setup/create-kb.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { tempDir } from '../support/temp.ts'
import { put } from './support/import-support.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const main = join(root, 'src', 'main.js')
const github = '.github/workflows/ganglion.yml'
const forgejo = '.forgejo/workflows/ganglion.yml'
const gitlab = '.gitlab-ci.yml'
const read = (path: string) => readFileSync(join(root, 'kb-template', path), 'utf8')

const Workflow = z.object({
  on: z.strictObject({ pull_request: z.strictObject({ branches: z.tuple([z.literal('main')]) }) }),
  env: z.strictObject({ GANGLION_PACKAGE: z.string() }),
  jobs: z.object({
    check: z.object({
      steps: z.tuple([
        z.strictObject({
          uses: z.string(),
          with: z.strictObject({ 'fetch-depth': z.literal(0), 'persist-credentials': z.literal(false) }),
        }),
        z.strictObject({ name: z.string(), run: z.string() }),
      ]),
    }),
  }),
})
const Pipeline = z.object({
  variables: z.strictObject({ GANGLION_PACKAGE: z.string() }),
  ganglion: z.object({
    rules: z.tuple([z.strictObject({ if: z.literal('$CI_PIPELINE_SOURCE == "merge_request_event"') })]),
    script: z.tuple([z.string()]),
    artifacts: z.object({
      when: z.literal('always'),
      paths: z.tuple([z.string()]),
      reports: z.record(z.string(), z.string()),
    }),
  }),
})

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

const workflowOf = (path: string) => Workflow.parse(parse(read(path)))
const pipeline = () => Pipeline.parse(parse(read(gitlab)))
const scriptOf = (path: string) =>
  path === gitlab ? pipeline().ganglion.script[0] : workflowOf(path).jobs.check.steps[1].run

test('the workflows run on pull requests only, of this version, and pin what they use', () => {
  for (const path of [github, forgejo]) {
    const { env, jobs } = workflowOf(path)
    expect(env.GANGLION_PACKAGE).toBe(`ganglion@${version}`)
    expect(jobs.check.steps[0].uses).toMatch(/(^|\/)actions\/checkout@[0-9a-f]{40}$/)
  }
  expect(parse(read(github)).permissions).toEqual({ contents: 'read' })
  expect(pipeline().variables.GANGLION_PACKAGE).toBe(`ganglion@${version}`)
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

test.each([github, forgejo, gitlab])(
  '%s names its version once, no secret, and puts no text of the change into a script',
  (path) => {
    expect(read(path).split(version)).toHaveLength(2)
    expect(read(path)).not.toMatch(/secrets\.|github\.token|GITHUB_TOKEN|CI_JOB_TOKEN|\$\{\{/)
    expect(scriptOf(path)).toContain('npx --yes --package "$GANGLION_PACKAGE" ganglion check')
  },
)

/** A tarball of this Ganglion, which the real npx is to run; without one, a stand-in of npx runs the sources. */
const packed = process.env.GANGLION_PACKAGE
const asked = packed ?? `ganglion@${version}`

/** The script of a workflow in a clone with a branch of a pull request. */
async function run(path: string, files: Record<string, string>) {
  const ganglion = await Ganglion.open({ dataDir: join(tempDir(), 'data') })
  onTestFinished(() => ganglion.close())
  const { gitDir, prefix } = await createKnowledgeBase(ganglion, { tenant: 'acme', slug: 'notes' })
  const clone = join(tempDir(), 'a clone')
  nativeGit(gitDir, ['clone', '--quiet', `file://${gitDir}`, clone])
  nativeGit(clone, ['checkout', '--quiet', '-b', 'proposal'])
  for (const [name, text] of Object.entries(files)) put(clone, name, text.replaceAll('PREFIX', prefix))
  nativeGit(clone, ['add', '--all'])
  nativeGit(clone, ['commit', '--quiet', '--message', 'Propose'])
  const bin = tempDir()
  const npx = `#!/bin/sh\n[ "$1 $2 $3 $4" = "--yes --package ${asked} ganglion" ] && [ ! -e kb.yaml ] || exit 9\nshift 4\nexec '${process.execPath}' '${main}' "$@"\n`
  if (packed === undefined) writeFileSync(join(bin, 'npx'), npx, { mode: 0o755 })
  const summary = join(tempDir(), 'step-summary.md')
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-e', '-c', scriptOf(path)], {
    cwd: clone,
    encoding: 'utf8',
    env: {
      // The real npx needs what leads to the registry.
      ...(packed === undefined ? {} : process.env),
      ...{ PATH: `${bin}:${process.env.PATH}`, TMPDIR: tempDir(), GANGLION_PACKAGE: asked },
      ...{ GITHUB_BASE_REF: 'main', GITHUB_WORKSPACE: clone, GITHUB_STEP_SUMMARY: summary },
      ...{ CI_PROJECT_DIR: clone, CI_MERGE_REQUEST_DIFF_BASE_SHA: nativeGit(clone, ['rev-parse', 'origin/main']) },
    },
  })
  // What npm has to say of a machine's own settings is none of ours.
  const complaint = stderr.replace(/^npm warn .*\n/gm, '')
  return { clone, status, stdout, stderr: complaint, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '' }
}

const sound = { 'neurons/a.md': '---\ntitle: A new page\n---\n\n[[Nowhere]]\n' }
const twice = '---\nseqId: PREFIX_00000001\ntitle: ::error::x\n---\n\n::error::forged\n'
const broken = { 'neurons/a.md': twice, 'neurons/b.md': twice }

test('on GitHub findings are annotations, and the summary is the step’s', async () => {
  const good = await run(github, sound)
  expect(good).toMatchObject({ status: 0, stderr: '' })
  expect(good.stdout).toContain('::warning file=neurons/a.md,line=5,title=broken-link::')
  expect(good.summary).toContain('### Added: `A new page`')
  const bad = await run(github, broken)
  expect(bad.status).toBe(1)
  expect(bad.stdout).toContain('::error file=neurons/b.md,line=1,title=duplicate-seq-id::')
  expect(bad.summary).toContain('2 Neurons: 2 added.')
})

test('on Forgejo both are in the log, where the change can give the runner no command', async () => {
  const { status, stdout } = await run(forgejo, broken)
  expect(status).toBe(1)
  const [, word, inside] = /^::stop-commands::([0-9a-f]{32})\n([\s\S]*)\n::\1::\n$/.exec(stdout) ?? []
  expect(word).toBeDefined()
  expect(inside).toContain('error[duplicate-seq-id]')
  expect(inside).toContain('2 Neurons: 2 added.')
  expect((await run(forgejo, sound)).status).toBe(0)
})

test('on GitLab both are artifacts, whatever the change puts in their place', async () => {
  const { clone, status } = await run(gitlab, { ...broken, 'ganglion-report/summary.md': 'All is well.' })
  expect(status).toBe(1)
  const { artifacts } = pipeline().ganglion
  expect(readFileSync(join(clone, artifacts.paths[0]), 'utf8')).toContain('2 Neurons: 2 added.')
  const report = JSON.parse(readFileSync(join(clone, artifacts.reports.codequality ?? ''), 'utf8'))
  expect(report).toContainEqual(
    expect.objectContaining({
      check_name: 'duplicate-seq-id',
      location: { path: 'neurons/b.md', lines: { begin: 1 } },
    }),
  )
  expect((await run(gitlab, sound)).status).toBe(0)
})

test('a new knowledge base has the files of every forge, and is sound', async () => {
  const { clone } = await run(github, sound)
  for (const path of [github, forgejo, gitlab, 'README.md']) {
    expect(nativeGit(clone, ['show', `origin/main:${path}`])).toBe(read(path).trimEnd())
  }
  nativeGit(clone, ['checkout', '--quiet', 'main'])
  expect((await checkDirectory(clone, {})).findings).toEqual([])
})
