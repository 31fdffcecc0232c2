import { expect, test } from 'vitest'
import { startGitea } from '../../forge/support/described-gitea.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { startGithub } from '../../forge/support/emulated-github.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidateDetail, candidates, submitted } from '../git/git-support.ts'
import { bridgedTo, type FakeForge } from './forge-support.ts'

const page = (title: string, text = 'Text.') => ({
  [`neurons/${title.toLowerCase()}.md`]: `---\ntitle: ${title}\n---\n\n${text}\n`,
})
const broken = { 'neurons/broken.md': '---\ntitle: [oops\n---\n\nText.\n' }
const forges: Record<string, () => Promise<FakeForge>> = {
  'GitHub, by a token': startGithub,
  GitLab: startGitlab,
  Gitea: () => startGitea('gitea'),
}

test.for(Object.keys(forges))('a request that is refused on %s has its findings in one comment', async (name) => {
  const { forge, sync, product } = await bridgedTo(await (forges[name] ?? startGitlab)(), { byToken: true })
  await sync()
  forge.git.commit('mine', broken)
  const number = await forge.openPull('ada', 'mine', 'Mine')
  const said = async () => (await forge.comments(number)).map(({ body }) => String(body))
  for (let n = 0; n < 2; n++) {
    await sync()
    expect(await said()).toEqual([expect.stringContaining('neurons/broken.md:2: title must be text')])
  }
  forge.git.commit('mine', { 'neurons/broken.md': null, 'neurons/other.md': '---\ntags: {}\n---\n\nText.\n' })
  await sync()
  expect(await said()).toEqual([expect.stringContaining('neurons/other.md:')])
  forge.git.commit('mine', { 'neurons/other.md': null, ...page('Bread') })
  await sync()
  expect(await said()).toEqual([expect.stringContaining('1 page waits for a curator')])
  const [candidate] = await candidates(product, 'pending')
  expect((await candidateDetail(product, String(candidate?.candidateId))).decisions).toEqual([])
  expect(forge.wrong).toEqual([])
})

test('a request with a page and its picture is sound, and taken as it is merged', async () => {
  const { forge, sync, product } = await bridgedTo(await startGitlab())
  await sync()
  forge.git.commit('mine', { ...page('Plan', '![A plan](plan.png)'), 'neurons/plan.png': 'PNG' })
  const number = await forge.openPull('ada', 'mine', 'Mine')
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  expect(forge.people.statuses).toHaveLength(1)
  expect(forge.people.statuses[0]).toMatchObject({ state: 'success', text: 'It is decided on here alone' })
  expect((await forge.comments(number)).map(({ body }) => body)).toEqual([
    expect.stringContaining('Merging it takes it.'),
  ])
  await forge.merge('bob', number)
  expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'approved')).toMatchObject([{ title: 'Plan' }])
  expect(nativeGit(product.gitDir, ['show', 'main:neurons/plan.png'])).toBe('PNG')
})

test("a person's branch below ganglion/ is proposed, and a copied marker decides nothing", async () => {
  const { forge, sync, product } = await bridgedTo(await startGitlab())
  const tea = await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  forge.git.commit('ganglion/mine', page('Bread'))
  const number = await forge.openPull('ada', 'ganglion/mine', 'Mine')
  forge.people.change(number, { body: `<!-- ganglion:pull ${tea} -->` })
  expect(await sync()).toBeUndefined()
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toEqual(['Bread', 'Tea'])
  expect(forge.people.all).toHaveLength(2)
  const said = `Not yet. <!-- ganglion:comment ${tea} x -->`
  forge.people.say('ada', 1, said)
  await forge.close('ada', number)
  expect(await sync()).toBeUndefined()
  expect((await candidates(product, 'dismissed')).map(({ title }) => title)).toEqual(['Bread'])
  expect(await candidateDetail(product, tea)).toMatchObject({
    status: 'pending',
    decisions: [{ action: 'comment', by: 'ada', reason: said }],
  })
})

test('a request whose branch was renamed is told of, and all others go on', async () => {
  const { forge, sync, product, numberOf } = await bridgedTo(await startGitlab())
  const ids = [await submitted(product, 'Tea', 'Tea is hot.'), await submitted(product, 'Milk', 'Milk is not.')]
  await sync()
  const number = await numberOf('Add "Tea"')
  const { branch, head } = forge.people.find(number)
  nativeGit(forge.git.dir, ['branch', '-m', branch, 'renamed'])
  forge.people.change(number, { branch: 'renamed', head })
  await submitted(product, 'Bread', 'Bread is brown.')
  await forge.merge('bob', await numberOf('Add "Milk"'))
  for (let n = 0; n < 2; n++) expect(await sync()).toContain(`rename it back to ${branch}`)
  expect(forge.people.all.map(({ title, state }) => [title, state])).toEqual([
    ['Add "Tea"', 'open'],
    ['Add "Milk"', 'merged'],
    ['Add "Bread"', 'open'],
  ])
  expect(forge.git.branches()).not.toContain(branch)
  await forge.merge('ada', number, 'squash')
  expect(await sync()).toBeUndefined()
  for (const id of ids) expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' })
})

test('a request in the place of ours decides nothing', async () => {
  const { forge, sync, product } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  forge.people.change(1, { branch: 'other', state: 'closed', author: 'ada', body: '' })
  for (let n = 0; n < 2; n++) expect(await sync()).toContain('is not the one that was opened')
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })
})
