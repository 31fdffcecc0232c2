import { expect, test } from 'vitest'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidateDetail, candidates, submitted } from '../git/git-support.ts'
import { bridged, bridgedTo } from './forge-support.ts'

const page = (title: string) => ({ [`neurons/${title.toLowerCase()}.md`]: `---\ntitle: ${title}\n---\n\nText.\n` })

/** Who approved what main holds, by the subjects of its commits, the last one first. */
function approvals(gitDir: string, count: number): string[] {
  const format = '--format=%s: %(trailers:key=Approved-By,valueonly,separator=%x2C)'
  return nativeGit(gitDir, ['log', '--first-parent', `-${count}`, format, 'main']).split('\n')
}

test('a pull request that was retargeted and merged there brings nothing of the other branch into main', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  forge.git.commit('stable', page('Unreviewed'))
  const [pull] = forge.people.all
  const merged = forge.git.mergeOf('stable', [
    forge.git.head('refs/heads/stable') ?? '',
    forge.git.head(`refs/heads/${pull?.branch}`) ?? '',
  ])
  forge.people.change(1, { base: 'stable', state: 'merged', mergedBy: 'ada', mergeCommit: merged })
  forge.git.commit('main', page('Lunch'))
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  expect(nativeGit(product.gitDir, ['ls-tree', '-r', '--name-only', 'main'])).not.toContain('unreviewed')
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })
  expect(await candidates(product, 'approved')).toMatchObject([{ title: 'Lunch' }])
})

test('of several merges and pushes in one window each has its own person, in the order of main', async () => {
  const { product, github, sync, numberOf } = await bridged()
  for (const title of ['Tea', 'Milk']) await submitted(product, title, `${title} is hot.`)
  await sync()
  await github.merge('ada', await numberOf('Add "Tea"'))
  github.git.commit('main', page('Pushed'))
  await github.merge('bob', await numberOf('Add "Milk"'), 'squash')
  // It was never seen open, and is rebased with two commits.
  github.git.commit('mine', page('Bread'))
  github.git.commit('mine', page('Butter'))
  await github.merge('eve', await github.openPull('eve', 'mine', 'Mine'))
  // Written on last, though merged first.
  await github.comment('bob', await numberOf('Add "Tea"'), 'Thanks.')
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 4)).toEqual([
    'Change 2 Neurons: eve <github:eve>',
    'Add "Milk": bob <github:bob>',
    expect.stringMatching(/^Add "Pushed": acme\/handbook on \S+ <github:acme\/handbook>$/),
    'Add "Tea": ada <github:ada>',
  ])
})

test('pages of a bundle that were rebased are of the one who merged them, and a push before is not', async () => {
  const { product, github, sync } = await bridged()
  await sync()
  github.git.commit('mine', page('Bread'))
  github.git.commit('mine', page('Butter'))
  const number = await github.openPull('eve', 'mine', 'Mine')
  await sync()
  github.git.commit('main', page('Pushed'), 'Push', 'Bob')
  await github.merge('ada', number, 'rebase')
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 2)).toEqual([
    'Change 2 Neurons: ada <github:ada>',
    expect.stringContaining('<github:acme/handbook>'),
  ])
})

test('what a push broke and a later one mended is taken', async () => {
  const { product, github, sync, numberOf } = await bridged()
  await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  github.git.commit('main', { 'neurons/broken.md': '---\ntitle: [oops\n---\n\nText.\n' })
  await github.merge('ada', await numberOf('Add "Tea"'))
  expect(await sync()).toContain('neurons/broken.md:2')
  github.git.commit('main', { 'neurons/broken.md': '---\ntitle: Mended\n---\n\nText.\n' })
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 1)).toEqual([expect.stringContaining('<github:acme/handbook>')])
})
