import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { Comment, GiteaLabel, GiteaPull, GiteaRepository, GiteaReview, GiteaUser } from '../../src/forge/gitea.ts'
import { isSigned, openForge } from '../../src/forge/open-forge.ts'
import { describeForge } from './conformance.ts'
import { descriptionOf } from './support/described-forge.ts'
import { startGitea } from './support/described-gitea.ts'
import { harnessOf } from './support/described-harness.ts'

const kinds = ['gitea', 'forgejo'] as const
for (const kind of kinds) describeForge(kind, async () => harnessOf(await startGitea(kind)))

const fresh = { base: 'main', body: '', labels: [], isDraft: false }

test('a draft stays one when its title changes, and the mark is not part of its title', async () => {
  const server = await startGitea('gitea')
  const { forge, branch } = harnessOf(server)
  await branch('one')
  const { number, title } = await forge.open({ ...fresh, branch: 'one', title: 'A plan', isDraft: true })
  expect(title).toBe('A plan')
  await forge.update(number, { title: 'A better plan' })
  expect(server.people.find(number).title).toBe('WIP: A better plan')
  expect(await forge.pull(number)).toMatchObject({ title: 'A better plan', isDraft: true })
  await forge.update(number, { body: 'Why' })
  expect(await forge.pull(number)).toMatchObject({ body: 'Why', isDraft: true })
  await branch('two')
  expect(await forge.open({ ...fresh, branch: 'two', title: 'wip: [WIP] of us' })).toMatchObject({
    title: 'of us',
    isDraft: false,
  })
})

test('where an operator has set another mark of drafts, a plain pull request has a label', async () => {
  const { forge, branch, labels } = harnessOf(await startGitea('gitea', 'Entwurf: '))
  await branch('one')
  const { number, title, isDraft } = await forge.open({ ...fresh, branch: 'one', title: 'A plan', isDraft: true })
  expect([title, isDraft, await labels(number)]).toEqual(['A plan', false, ['draft']])
})

test('labels are made once, and found again', async () => {
  const server = await startGitea('gitea')
  const { forge, branch } = harnessOf(server)
  await branch('one')
  await branch('two')
  for (const name of ['one', 'two'])
    await forge.open({ ...fresh, branch: name, title: name, labels: ['ganglion', 'ganglion'] })
  expect(server.requests.filter((request) => request.startsWith('POST') && request.endsWith('/labels'))).toHaveLength(1)
})

test('lists longer than a page are read whole, with links to another address and without any', async () => {
  const server = await startGitea('gitea')
  const { forge, branch } = harnessOf(server)
  const { people } = server
  await branch('one')
  const one = people.open('ada', { branch: 'one', title: 'One', body: '', labels: [] })
  for (let number = 2; number <= 60; number++) people.all.push({ ...one, number })
  for (let n = 0; n < 60; n++) {
    people.say('ada', 1, `Comment ${n}`)
    people.say('ada', 1, `Review ${n}`, 'review')
  }
  const pulls = await forge.openPulls()
  expect(pulls.map(({ number }) => number)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1))
  expect(await forge.remarksSince(undefined, pulls.slice(0, 1))).toHaveLength(120)
  expect(server.wrong).toEqual([])
})

test('the newest pull request of a branch is found, whatever became of the others', async () => {
  const server = await startGitea('gitea')
  const { forge, branch } = harnessOf(server)
  await branch('ganglion/one')
  for (let n = 0; n < 3; n++)
    await forge.close((await forge.open({ ...fresh, branch: 'ganglion/one', title: `${n}` })).number)
  expect(await forge.pullOfBranch('ganglion/one', 'main')).toMatchObject({
    number: 3,
    title: '2',
    branch: 'ganglion/one',
  })
  const { number } = await forge.open({ ...fresh, branch: 'ganglion/one', title: 'New' })
  expect(await forge.pullOfBranch('ganglion/one', 'main')).toMatchObject({ number, state: 'open' })
  expect(server.wrong).toEqual([])
})

test('findings are comments on lines, are replaced, and are no remarks; those of people are', async () => {
  const server = await startGitea('forgejo')
  const { forge, branch } = harnessOf(server)
  const { people } = server
  const head = await branch('one')
  const { number } = await forge.open({ ...fresh, branch: 'one', title: 'One' })
  const said = people.say('ada', number, '<!-- ganglion:report --> Quoted', 'review')
  const finding = { path: 'one.md', line: 2, severity: 'error', message: 'Ask `@ada`.' } as const
  const report = {
    number,
    head,
    branch: 'one',
    outcome: 'failed',
    title: 'It fails',
    summary: '',
    url: undefined,
  } as const
  await forge.report({ ...report, findings: [finding, finding] })
  await forge.report({ ...report, findings: [finding] })
  const [, ours] = people.remarks
  expect(people.remarks).toHaveLength(2)
  expect(people.remarks[0]).toBe(said)
  expect(ours?.lines.map(({ path, text }) => [path, text])).toEqual([['one.md', '**error:** `` Ask `＠ada`. ``']])

  const review = people.say('ada', number, '', 'review')
  review.lines.push({ id: people.newId(), path: 'one.md', text: 'On this line.' })
  expect((await forge.remarksOf(number)).map(({ text }) => text)).toEqual(['On this line.'])
})

test('findings on lines that the forge takes no comments on are a list', async () => {
  const server = await startGitea('gitea')
  const { forge, branch } = harnessOf(server)
  const head = await branch('one')
  const { number } = await forge.open({ ...fresh, branch: 'one', title: 'One' })
  server.fail(/POST .*reviews/, { status: 422 })
  const findings = [{ path: 'two.md', line: 7, severity: 'warning', message: 'It ends.' } as const]
  await forge.report({
    number,
    head,
    branch: 'one',
    outcome: 'waiting',
    title: 'Waits',
    summary: '',
    findings,
    url: undefined,
  })
  expect(server.people.remarks.map(({ text }) => text)).toEqual([
    '<!-- ganglion:report -->\n- ` two.md:7 ` **warning:** ` It ends. `',
  ])
})

test('a server may have a path of its own, and takes no App', async () => {
  const credential = { token: 'hush' }
  const forge = openForge({ kind: 'gitea', url: 'https://example.org/git/acme/handbook/', credential })
  expect(await forge.access()).toEqual({
    url: 'https://example.org/git/acme/handbook.git',
    username: 'oauth2',
    password: 'hush',
  })
  const app = { appId: '1', privateKey: 'hush' }
  expect(() => openForge({ kind: 'forgejo', url: 'https://example.org/acme/handbook', credential: app })).toThrow(
    'Forgejo has no Apps',
  )
})

test.for(kinds)('a delivery counts with the signature of %s alone', (kind) => {
  const body = Buffer.from('{"action":"opened"}')
  const signature = createHmac('sha256', 'hush').update(body).digest('hex')
  const name = `x-${kind}-signature`
  expect(isSigned(kind, 'hush', { headers: { [name]: signature }, body })).toBe(true)
  expect(isSigned(kind, 'other', { headers: { [name]: signature }, body })).toBe(false)
  expect(isSigned(kind, 'hush', { headers: { [name]: signature }, body: Buffer.from('{}') })).toBe(false)
  expect(isSigned(kind, 'hush', { headers: { [name]: `sha256=${signature}` }, body })).toBe(false)
  expect(isSigned(kind, 'hush', { headers: {}, body })).toBe(false)
})

const repository = '/repos/{owner}/{repo}'
const answers = [
  ['get', '/user', 200, GiteaUser],
  ['get', repository, 200, GiteaRepository],
  ['get', `${repository}/pulls`, 200, GiteaPull.array()],
  ['post', `${repository}/pulls`, 201, GiteaPull],
  ['get', `${repository}/pulls/{index}`, 200, GiteaPull],
  ['get', `${repository}/pulls/{base}/{head}`, 200, GiteaPull],
  ['patch', `${repository}/pulls/{index}`, 201, GiteaPull],
  ['get', `${repository}/pulls/{index}/reviews`, 200, GiteaReview.array()],
  ['get', `${repository}/pulls/{index}/reviews/{id}/comments`, 200, Comment.array()],
  ['get', `${repository}/issues/comments`, 200, Comment.array()],
  ['get', `${repository}/issues/{index}/comments`, 200, Comment.array()],
  ['post', `${repository}/issues/{index}/comments`, 201, Comment],
  ['get', `${repository}/labels`, 200, GiteaLabel.array()],
  ['post', `${repository}/labels`, 201, GiteaLabel],
] as const satisfies (readonly [string, string, number, z.ZodType])[]

// The description requires nothing of an answer, so that the least one is empty: only the whole one tells something.
describe.for(kinds)('%s', (kind) => {
  test.for(answers)('answers %s %s with what is read', ([method, path, status, schema]) => {
    const [whole] = descriptionOf(kind).examplesOf(method, path, status)
    expect(schema.safeParse(whole).error).toBeUndefined()
  })
})
