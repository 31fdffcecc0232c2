import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  GithubPull,
  GithubRepository,
  GithubReview,
  GithubReviewComment,
  IssueComment,
} from '../../src/forge/github.ts'
import { AppAnswer, GithubInstallation, InstallationToken, UserAnswer } from '../../src/forge/github-auth.ts'
import { isSigned, openForge } from '../../src/forge/open-forge.ts'
import { describeForge, type ForgeHarness, timeoutMs } from './conformance.ts'
import { type EmulatedGithub, githubDescription, startGithub } from './support/emulated-github.ts'

const fast = { writePauseMs: 0, timeoutMs }

function harness(github: EmulatedGithub, credential: 'app' | 'token'): ForgeHarness {
  const { url, apiUrl, git } = github
  git.commit('main', { 'kb.yaml': 'slug: handbook\n' })
  return {
    forge: openForge({ kind: 'github', url, apiUrl, credential: github[credential], ...fast }),
    branch: async (name) => git.commit(name, { [`${name}.md`]: name }),
    openPull: (branch, title, base) => github.openPull('ada', branch, title, base),
    close: (number) => github.close('ada', number),
    reopen: (number) => github.reopen('ada', number),
    merge: (number) => github.merge('ada', number),
    comment: (number, text) => github.comment('ada', number, text),
    review: (number, text) => github.review('ada', number, text),
    labels: github.labels,
    reviewers: github.reviewers,
    reports: async (head) => {
      const runs = (await github.checkRuns()).filter((run) => run.head_sha === head)
      return runs.map(({ conclusion, output }) => ({
        outcome: ({ success: 'passed', failure: 'failed', neutral: 'waiting' } as const)[
          String(conclusion) as 'success'
        ],
        findings: (output as { annotations_count: number }).annotations_count,
      }))
    },
    show: github.show,
    failNext: (status, headers = {}, body) => github.fail(/pulls|issues/, { status, headers, body }),
    hangNext: (arrived) => github.fail(/pulls/, arrived),
    requests: () => github.requests.length,
    undescribed: () => github.wrong,
  }
}

describeForge('GitHub, as an App', async () => harness(await startGithub(), 'app'))

test('where drafts are refused, a plain pull request has a label', async () => {
  const github = await startGithub()
  const { forge, branch, labels } = harness(github, 'app')
  await branch('ganglion/red')
  const message = 'Draft pull requests are not supported in this repository.'
  github.fail(/POST .*\/pulls$/, { status: 422, body: { message: 'Validation Failed', errors: [{ message }] } })
  const texts = { base: 'main', title: 'Add', body: '', labels: ['ganglion'] }
  const { number } = await forge.open({ ...texts, branch: 'ganglion/red', isDraft: true })
  expect(await forge.pull(number)).toMatchObject({ isDraft: false })
  expect(await labels(number)).toEqual(['ganglion', 'draft'])
})

test('a token reports with a status, and says who it is', async () => {
  const github = await startGithub()
  const { forge, branch, undescribed } = harness(github, 'token')
  const head = await branch('ganglion/one')
  expect(await forge.who()).toMatchObject({ id: 'acme' })
  await forge.report({
    ...{ head, branch: 'ganglion/one' },
    number: 1,
    outcome: 'failed',
    title: 'x'.repeat(200),
    summary: '',
    findings: [],
    url: undefined,
  })
  expect(github.requests.at(-1)).toBe(`POST /repos/acme/handbook/statuses/${head}`)
  expect(undescribed()).toEqual([])
})

test('what has not changed is asked for by its ETag, and an App asks once for a token', async () => {
  const github = await startGithub()
  const { forge, branch } = harness(github, 'app')
  await branch('ganglion/one')
  await forge.openPulls()
  await forge.openPulls()
  expect(await forge.openPulls()).toEqual([])
  expect(github.requests.filter((request) => request.includes('access_tokens'))).toHaveLength(1)
})

test('a token that is refused is asked for anew', async () => {
  const github = await startGithub()
  const { forge } = harness(github, 'app')
  await forge.openPulls()
  github.fail(/pulls/, { status: 401 })
  await expect(forge.openPulls()).rejects.toMatchObject({ code: 'refused' })
  await forge.openPulls()
  expect(github.requests.filter((request) => request.includes('access_tokens'))).toHaveLength(2)
})

test('a private key that is none is told of without showing it', async () => {
  const { url, apiUrl } = await startGithub()
  const forge = openForge({ kind: 'github', url, apiUrl, credential: { appId: '1', privateKey: 'hush-hush' }, ...fast })
  const error = await forge.openPulls().catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'refused' })
  expect(JSON.stringify(error) + error.stack + String(error.cause)).not.toContain('hush-hush')
})

test("a delivery counts with GitHub's signature alone", async () => {
  const github = await startGithub()
  const { branch } = harness(github, 'app')
  await branch('feature')
  await github.openPull('ada', 'feature', 'Mine')
  await expect.poll(() => github.hooks.length).toBeGreaterThan(0)
  const [delivery] = github.hooks
  if (delivery === undefined) throw new Error('There is no delivery.')
  expect(isSigned('github', 'hush', delivery)).toBe(true)
  expect(isSigned('github', 'other', delivery)).toBe(false)
  expect(isSigned('github', 'hush', { ...delivery, body: Buffer.concat([delivery.body, Buffer.from(' ')]) })).toBe(
    false,
  )
  expect(isSigned('github', 'hush', { ...delivery, headers: {} })).toBe(false)
  expect(isSigned('github', 'hush', { ...delivery, headers: { 'x-hub-signature-256': 'sha256=00' } })).toBe(false)
})

const repository = '/repos/{owner}/{repo}'
test.for([
  ['get', repository, 200, GithubRepository],
  ['get', `${repository}/pulls`, 200, z.array(GithubPull)],
  ['post', `${repository}/pulls`, 201, GithubPull],
  ['get', `${repository}/pulls/{pull_number}`, 200, GithubPull],
  ['patch', `${repository}/pulls/{pull_number}`, 200, GithubPull],
  ['get', `${repository}/pulls/{pull_number}/reviews`, 200, z.array(GithubReview)],
  ['get', `${repository}/pulls/{pull_number}/comments`, 200, z.array(GithubReviewComment)],
  ['get', `${repository}/pulls/comments`, 200, z.array(GithubReviewComment)],
  ['get', `${repository}/issues/comments`, 200, z.array(IssueComment)],
  ['get', `${repository}/issues/{issue_number}/comments`, 200, z.array(IssueComment)],
  ['post', `${repository}/issues/{issue_number}/comments`, 201, IssueComment],
  ['get', `${repository}/installation`, 200, GithubInstallation],
  ['post', '/app/installations/{installation_id}/access_tokens', 201, InstallationToken],
  ['get', '/app', 200, AppAnswer],
  ['get', '/user', 200, UserAnswer],
] as const)('reads all that GitHub may answer to %s %s', ([method, path, status, schema]) => {
  for (const answer of githubDescription.examplesOf(method, path, status)) {
    expect(schema.safeParse(answer).error).toBeUndefined()
  }
})
