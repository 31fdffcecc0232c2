import { expect, test } from 'vitest'
import { startGitea } from '../../forge/support/described-gitea.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { approve, candidateDetail, candidates, submitted } from '../git/git-support.ts'
import { bridged, bridgedTo, type FakeForge } from './forge-support.ts'

const page = (title: string) => ({ [`neurons/${title.toLowerCase()}.md`]: `---\ntitle: ${title}\n---\n\nText.\n` })
const legal = { metadata: { path: 'neurons/legal/terms.md' } }
const owners = (people: string) => `owners:\n  - paths: [legal]\n    people: [${people}]\n`

/** Changes settings on main there, in place of the empty ones. */
function configure(forge: FakeForge, gitDir: string, settings: string): void {
  const known = nativeGit(gitDir, ['show', 'main:kb.yaml']).replace(/^(owners|approvals|authorMayApprove): .*\n/gm, '')
  forge.git.commit('main', { 'kb.yaml': `${known}\n${settings}` })
}

const same = (forge: FakeForge, gitDir: string) =>
  expect(forge.git.head('refs/heads/main')).toBe(nativeGit(gitDir, ['rev-parse', 'main']))

test('a request that needs an owner says so, and merging it leaves out its page while others are taken', async () => {
  const { product, forge, sync, numberOf } = await bridgedTo(await startGitlab())
  await sync()
  configure(forge, product.gitDir, owners('legal@example.com'))
  expect(await sync()).toBeUndefined()
  const terms = await submitted(product, 'Terms', 'The terms.', legal)
  const free = await submitted(product, 'Free', 'Free to all.')
  expect(await sync()).toBeUndefined()
  const number = await numberOf('Add "Terms"')
  const { body, head } = forge.people.find(number)
  expect(body).toContain('It needs the approval of legal@example.com.')
  expect(body).not.toContain('in any way')
  expect(forge.people.find(await numberOf('Add "Free"')).body).toContain('in any way')
  expect(forge.people.statuses.findLast(({ sha }) => sha === head)).toMatchObject({
    state: 'pending',
    text: expect.stringContaining('legal@example.com'),
  })

  await forge.merge('ada', number)
  await forge.merge('bob', await numberOf('Add "Free"'), 'squash')
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  same(forge, product.gitDir)
  expect(await candidateDetail(product, free)).toMatchObject({ status: 'approved' })
  expect(await candidateDetail(product, terms)).toMatchObject({ status: 'pending' })
  expect(nativeGit(forge.git.dir, ['ls-tree', '-r', '--name-only', 'main'])).not.toContain('legal/terms')
  const said = (await forge.comments(number)).map((comment) => comment.body)
  expect(said).toEqual([expect.stringContaining('It needs the approval of legal@example.com.')])
  expect((await forge.pulls()).filter(({ state }) => state === 'open').map(({ title }) => title)).toEqual([
    'Add "Terms"',
  ])
  expect(forge.wrong).toEqual([])
})

test('an owner who is named by an account there is asked for a review, and a merge by that account is taken', async () => {
  const { product, forge, sync, numberOf } = await bridgedTo(await startGitea('gitea'))
  await sync()
  configure(forge, product.gitDir, owners('legal@example.com, Gitea:Ada'))
  await sync()
  const terms = await submitted(product, 'Terms', 'The terms.', legal)
  expect(await sync()).toBeUndefined()
  const pull = forge.people.find(await numberOf('Add "Terms"'))
  expect(pull.reviewers).toEqual(['ada'])
  expect(pull.body).toContain('A merge by `ada` gives it.')
  await forge.merge('ada', pull.number)
  expect(await sync()).toBeUndefined()
  expect(await candidateDetail(product, terms)).toMatchObject({ status: 'approved' })
  same(forge, product.gitDir)
})

test('a request that needs two approvals is set aside with one, however often it is merged, and taken with the second', async () => {
  const { product, github, sync, open } = await bridged()
  await sync()
  configure(github, product.gitDir, 'approvals: {yellow: 2}\n')
  await sync()
  const id = await submitted(product, 'Tea', 'Tea is hot.', { metadata: { actionZone: 'yellow' } })
  const numbers: number[] = []
  for (let n = 0; n < 3; n++) {
    for (let m = 0; m < 2; m++) expect(await sync()).toBeUndefined()
    const [pull, ...others] = await open()
    expect([others, pull?.title]).toEqual([[], 'Add "Tea"'])
    expect((await github.checkRuns()).at(-1)).toMatchObject({ conclusion: 'action_required' })
    numbers.push(Number(pull?.number))
    await github.merge('bob', Number(pull?.number), n === 1 ? 'squash' : 'merge')
  }
  expect(new Set(numbers).size).toBe(3)
  await sync()
  await approve(product, id)
  await sync()
  const [pull] = await open()
  expect(pull?.body).toContain('in any way')
  expect((await github.checkRuns()).at(-1)).toMatchObject({ conclusion: 'neutral' })
  await github.merge('bob', Number(pull?.number))
  expect(await sync()).toBeUndefined()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' })
  same(github, product.gitDir)
})

test('what a person proposes and pushes waits for its owner, and no later push approves it', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  await sync()
  configure(forge, product.gitDir, `${owners('legal@example.com')}authorMayApprove: false\n`)
  expect(await sync()).toBeUndefined()
  forge.git.commit('mine', { ...page('Bread'), 'neurons/legal/rules.md': '---\ntitle: Rules\n---\n\nText.\n' })
  const number = await forge.openPull('ada', 'mine', 'Mine')
  expect(await sync()).toBeUndefined()
  expect(forge.people.statuses.at(-1)).toMatchObject({ state: 'pending' })
  await forge.merge('ada', number, 'squash')
  forge.git.commit('main', page('Pushed'))
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  same(forge, product.gitDir)
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toEqual(['Bread', 'Pushed', 'Rules'])
  expect(await candidates(product, 'approved')).toEqual([])
  expect(await candidates(product, 'dismissed')).toEqual([])
})

test('a file that cannot wait in the queue is not left out of main', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  await sync()
  configure(forge, product.gitDir, 'owners:\n  - paths: [kb.yaml]\n    people: [legal@example.com]\n')
  await sync()
  const settings = nativeGit(product.gitDir, ['show', 'main:kb.yaml'])
  forge.git.commit('main', { 'kb.yaml': `${settings}\n# Changed.\n` })
  for (let n = 0; n < 2; n++) expect(await sync()).toContain('It needs the approval of legal@example.com.')
  expect(nativeGit(forge.git.dir, ['show', 'main:kb.yaml'])).toContain('# Changed.')
})

test('the removal of an owned page that is merged without its owner is taken back, and waits', async () => {
  const { product, forge, sync, open } = await bridgedTo(await startGitlab())
  await sync()
  const path = 'neurons/legal/rules.md'
  forge.git.commit('main', { [path]: '---\ntitle: Rules\n---\n\nText.\n' })
  await sync()
  configure(forge, product.gitDir, owners('legal@example.com'))
  await sync()
  forge.git.commit('mine', { [path]: null, ...page('Bread') })
  await forge.merge('ada', await forge.openPull('ada', 'mine', 'Mine'), 'squash')
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  same(forge, product.gitDir)
  expect(nativeGit(forge.git.dir, ['show', `main:${path}`])).toContain('Text.')
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toEqual(['Bread', 'Rules'])
  expect((await open()).flatMap(({ title }) => title)).toHaveLength(1)
})
