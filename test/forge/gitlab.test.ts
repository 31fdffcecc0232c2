import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { GitlabNote, GitlabProject, GitlabUser, MergeRequest } from '../../src/forge/gitlab.ts'
import { isSigned, openForge } from '../../src/forge/open-forge.ts'
import { describeForge } from './conformance.ts'
import { descriptionOf } from './support/described-forge.ts'
import { startGitlab } from './support/described-gitlab.ts'
import { harnessOf } from './support/described-harness.ts'

describeForge('GitLab', async () => harnessOf(await startGitlab()))

const merges = '/projects/{id}/merge_requests'
const fresh = { base: 'main', body: '', labels: [], isDraft: false }

test('a draft stays one when its title changes, and the mark is not part of its title', async () => {
  const server = await startGitlab()
  const { forge, branch } = harnessOf(server)
  await branch('one')
  const { number, title } = await forge.open({ ...fresh, branch: 'one', title: 'A plan', isDraft: true })
  expect(title).toBe('A plan')
  await forge.update(number, { title: 'A better plan' })
  expect(server.people.find(number).title).toBe('Draft: A better plan')
  expect(await forge.pull(number)).toMatchObject({ title: 'A better plan', isDraft: true })
  await branch('two')
  expect(await forge.open({ ...fresh, branch: 'two', title: '[Draft] of us' })).toMatchObject({ title: 'of us' })
})

test('what GitLab itself notes is no remark, and a remark has its address', async () => {
  const server = await startGitlab()
  const { forge, branch } = harnessOf(server)
  await branch('one')
  const { number } = await forge.open({ ...fresh, branch: 'one', title: 'One' })
  server.people.say('ada', number, 'added 1 commit', 'system')
  const { id } = server.people.say('ada', number, 'Why?')
  const [remark, ...others] = await forge.remarksOf(number)
  expect(others).toEqual([])
  expect(remark).toMatchObject({ id: `note:${id}`, url: `${server.url}/-/merge_requests/1#note_${id}` })
})

test('lists longer than a page are read whole', async () => {
  const server = await startGitlab()
  const { forge, branch } = harnessOf(server)
  const { git, people } = server
  git.setRef('refs/heads/b', await branch('one'))
  const { number } = people.open('ada', { branch: 'b', title: 'B', body: '', labels: [] })
  for (let n = 0; n < 250; n++) people.say('ada', number, `Comment ${n}`)
  expect((await forge.remarksOf(number)).map(({ text }) => text)).toEqual(people.remarks.map(({ text }) => text))
})

test('one without a commit is not listed as open', async () => {
  const server = await startGitlab()
  const { forge } = harnessOf(server)
  const [example] = descriptionOf('gitlab').examplesOf('get', merges, 200)
  const [pull] = example as Record<string, unknown>[]
  server.fail(/merge_requests/, {
    status: 200,
    body: [
      { ...pull, iid: 1, sha: null },
      { ...pull, iid: 2 },
    ],
  })
  expect((await forge.openPulls()).map(({ number }) => number)).toEqual([2])
})

test('a merge that only moved main left the head there', async () => {
  const server = await startGitlab()
  const { forge, branch } = harnessOf(server)
  const head = await branch('one')
  const { number } = await forge.open({ ...fresh, branch: 'one', title: 'One' })
  server.git.setRef('refs/heads/main', head)
  server.people.notePush()
  expect(await forge.pull(number)).toMatchObject({ state: 'merged', mergedBy: { id: 'acme' }, mergeCommit: head })
})

test('a server may have a path of its own, and takes no App', async () => {
  const server = await startGitlab()
  const { forge } = harnessOf(server)
  await forge.openPulls()
  expect(server.requests[0]).toContain('/api/v4/projects/acme%2Fdocs%2Fhandbook/merge_requests?')
  const { origin } = new URL(server.url)
  const kind = 'gitlab'
  const below = openForge({ kind, url: `${origin}/git/a/b`, apiUrl: `${origin}/git/api/v4`, credential: server.token })
  await expect(below.openPulls()).rejects.toMatchObject({ code: 'gone' })
  expect(server.requests.at(-1)).toContain('/git/api/v4/projects/a%2Fb/merge_requests?')
  expect(await below.access()).toMatchObject({ url: `${origin}/git/a/b.git`, username: 'oauth2' })
  const app = { appId: '1', privateKey: 'hush' }
  expect(() => openForge({ kind, url: server.url, credential: app })).toThrow('GitLab has no Apps')
})

test('a status is on the branch of its merge request', async () => {
  const server = await startGitlab()
  const { forge, branch } = harnessOf(server)
  const head = await branch('one')
  const { number } = await forge.open({ ...fresh, branch: 'one', title: 'One' })
  const report = { number, head, branch: 'one', outcome: 'waiting', title: 'Waits', summary: '' } as const
  await forge.report({ ...report, findings: [], url: undefined })
  expect(server.people.statuses).toMatchObject([{ sha: head, ref: 'one' }])
})

test('what GitLab says of a field is told', async () => {
  const server = await startGitlab()
  const { forge } = harnessOf(server)
  server.fail(/merge_requests/, { status: 400, body: { message: { title: ['is too long', 'is odd'] } } })
  await expect(forge.close(1)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/: is too long; is odd$/),
  })
})

const body = Buffer.from('{"object_kind":"note"}')

test('a delivery counts with the secret token of GitLab alone', () => {
  expect(isSigned('gitlab', 'hush', { headers: { 'x-gitlab-token': 'hush' }, body })).toBe(true)
  expect(isSigned('gitlab', 'hush', { headers: { 'x-gitlab-token': 'hus' }, body })).toBe(false)
  expect(isSigned('gitlab', 'hush', { headers: { 'x-gitlab-token': ['hush', 'hush'] }, body })).toBe(false)
  expect(isSigned('gitlab', 'hush', { headers: {}, body })).toBe(false)
})

test('a delivery counts with a signature by the signing token alone', () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef')
  const secret = `whsec_${key.toString('base64')}`
  const sign = (id: string) => createHmac('sha256', key).update(`${id}.1700000000.`).update(body).digest('base64')
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': '1700000000', 'webhook-signature': `v1,${sign('a')}` }
  expect(isSigned('gitlab', secret, { headers, body })).toBe(true)
  const renewed = { ...headers, 'webhook-signature': `v1,${sign('b')} v1,${sign('a')}` }
  expect(isSigned('gitlab', secret, { headers: renewed, body })).toBe(true)
  expect(isSigned('gitlab', secret, { headers: { ...headers, 'webhook-id': 'b' }, body })).toBe(false)
  expect(isSigned('gitlab', secret, { headers, body: Buffer.from('{}') })).toBe(false)
  expect(isSigned('gitlab', secret, { headers: { 'x-gitlab-token': secret }, body })).toBe(false)
  const unsigned = createHmac('sha256', '').update('a.1700000000.').update(body).digest('base64')
  const empty = { ...headers, 'webhook-signature': `v1,${unsigned}` }
  expect(isSigned('gitlab', 'whsec_', { headers: empty, body })).toBe(false)
})

test.for([
  ['get', '/user', 200, GitlabUser],
  ['get', '/projects/{id}', 200, GitlabProject],
  ['get', merges, 200, MergeRequest.array()],
  ['post', merges, 201, MergeRequest],
  ['get', `${merges}/{merge_request_iid}`, 200, MergeRequest],
  ['put', `${merges}/{merge_request_iid}`, 200, MergeRequest],
  ['get', `${merges}/{merge_request_iid}/notes`, 200, GitlabNote.array()],
  ['post', `${merges}/{merge_request_iid}/notes`, 201, GitlabNote],
] as const)('reads all that GitLab may answer to %s %s', ([method, path, status, schema]) => {
  for (const answer of descriptionOf('gitlab').examplesOf(method, path, status)) {
    expect(schema.safeParse(answer).error).toBeUndefined()
  }
})
