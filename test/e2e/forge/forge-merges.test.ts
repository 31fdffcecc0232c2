import { expect, test } from 'vitest'
import { startGitea } from '../../forge/support/described-gitea.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidates } from '../git/git-support.ts'
import { bridged, bridgedTo, type FakeForge } from './forge-support.ts'

const page = (title: string, text = 'Text.') => ({
  [`neurons/${title.toLowerCase()}.md`]: `---\ntitle: ${title}\n---\n\n${text}\n`,
})
const link = expect.stringMatching(/<\w+:acme\/(docs\/)?handbook>$/)

/** Who approved what main holds, by the subjects of its commits, the last one first. */
function approvals(gitDir: string, count: number): string[] {
  const format = '--format=%s: %(trailers:key=Approved-By,valueonly,separator=%x2C)'
  return nativeGit(gitDir, ['log', '--first-parent', `-${count}`, format, 'main']).split('\n')
}

/** Bob's request with two pages, which the server has heard. */
async function requested<Fake extends FakeForge>(forge: Fake) {
  const world = await bridgedTo(forge)
  await world.sync()
  forge.git.commit('two', page('Bread'), 'First part', 'Bob')
  forge.git.commit('two', page('Butter'), 'Second part', 'Bob')
  const number = await forge.openPull('bob', 'two', 'Two pages')
  expect(await world.sync()).toBeUndefined()
  return { ...world, number, gitDir: world.product.gitDir }
}

function protect(forge: FakeForge, gitDir: string): void {
  const settings = nativeGit(gitDir, ['show', 'main:kb.yaml'])
  forge.git.commit('main', { 'kb.yaml': settings.replace('protectMain: false', 'protectMain: true') })
}

const forges = { gitlab: startGitlab, gitea: () => startGitea('gitea') }

test.for(Object.keys(forges) as (keyof typeof forges)[])(
  'a fast-forward on %s approves the commits of its request, and a push below them is of the link',
  async (kind) => {
    const { forge, sync, number, gitDir } = await requested(await forges[kind]())
    forge.git.commit('main', page('Pushed'), 'Push', 'Mallory')
    forge.git.rebase('two', 'main')
    await forge.merge('bob', number, 'fast-forward')
    expect(await sync()).toBeUndefined()
    expect(approvals(gitDir, 2)).toEqual([`Change 2 Neurons: bob <${kind}:bob>`, link])
  },
)

test('a fast-forward lets wait what was pushed to a protected main below it', async () => {
  const { product, forge, sync, number, gitDir } = await requested(await startGitlab())
  protect(forge, gitDir)
  expect(await sync()).toBeUndefined()
  forge.git.commit('main', page('Pushed'), 'Push', 'Mallory')
  forge.git.rebase('two', 'main')
  await forge.merge('bob', number, 'fast-forward')
  for (let n = 0; n < 2; n++) expect(await sync()).toContain('main takes no direct pushes')
  expect(await candidates(product, 'approved')).toEqual([])
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toContain('Pushed')
})

test('a push that a request has merged into its branch is of the link, however the request is merged', async () => {
  for (const method of ['fast-forward', 'merge', 'squash'] as const) {
    const { forge, sync, number, gitDir } = await requested(await startGitlab())
    const pushed = forge.git.commit('main', page('Pushed'), 'Push', 'Mallory')
    forge.git.mergeOf('two', [forge.git.head('refs/heads/two') ?? '', pushed])
    await forge.merge('bob', number, method)
    expect(await sync()).toBeUndefined()
    expect([method, ...approvals(gitDir, 2)]).toEqual([method, 'Change 2 Neurons: bob <gitlab:bob>', link])
  }
})

test('a push with the author and message of a commit in a request is not of who merges that', async () => {
  const { forge, sync, number, gitDir } = await requested(await startGitlab())
  forge.git.commit('main', page('Evil'), 'First part', 'Bob')
  await forge.merge('bob', number, 'rebase')
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 2)).toEqual(['Change 2 Neurons: bob <gitlab:bob>', link])
})

test('a push that takes the place of a page in a request is not of who merges that', async () => {
  const { forge, sync, number, gitDir } = await requested(await startGitlab())
  // The rebase has nothing left of the first part but its text below the other.
  forge.git.commit('main', page('Bread', 'Text that nobody has reviewed.'), 'First part', 'Bob')
  const [, butter = ''] = forge.people.commitsOf(number)
  const tip = nativeGit(forge.git.dir, ['rev-parse', butter])
  const merged = forge.git.commit('main', page('Butter'), 'Second part', 'Bob')
  forge.people.change(number, { state: 'merged', mergedBy: 'bob', mergeCommit: merged, head: tip })
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 2)).toEqual(['Add "Butter": bob <gitlab:bob>', link])
})

test('a merge commit that changes more than its request is of the link', async () => {
  const { forge, sync, number, gitDir } = await requested(await startGitea('gitea'))
  forge.git.commit('aside', page('Evil'))
  const both = forge.git.mergeOf('aside', [
    forge.git.head('refs/heads/aside') ?? '',
    forge.git.head('refs/heads/two') ?? '',
  ])
  const tree = nativeGit(forge.git.dir, ['rev-parse', `${both}^{tree}`])
  const main = forge.git.head('refs/heads/main') ?? ''
  const evil = nativeGit(forge.git.dir, [
    ...['-c', 'user.name=Bob', '-c', 'user.email=bob@example.org'],
    ...['commit-tree', tree, '-p', main, '-p', forge.git.head('refs/heads/two') ?? '', '-m', 'Merge'],
  ])
  forge.git.setRef('refs/heads/main', evil)
  forge.people.change(number, { state: 'merged', mergedBy: 'bob', mergeCommit: evil })
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 1)).toEqual([link])
})

test.for(['squash', 'rebase', 'merge', 'fast-forward'] as const)(
  'a request that was opened and merged by %s between two comparisons is of who merged it, with all its commits',
  async (method) => {
    const { product, forge, sync } = await bridgedTo(await startGitlab())
    await sync()
    forge.git.commit('two', page('Bread'), 'First part', 'Bob')
    forge.git.commit('two', page('Butter'), 'Second part', 'Bob')
    const number = await forge.openPull('bob', 'two', 'Two pages')
    if (method !== 'fast-forward') forge.git.commit('main', page('Pushed'), 'Push', 'Mallory')
    await forge.merge('ada', number, method)
    nativeGit(forge.git.dir, ['update-ref', '-d', 'refs/heads/two'])
    expect(await sync()).toBeUndefined()
    expect(approvals(product.gitDir, 1)).toEqual(['Change 2 Neurons: ada <gitlab:ada>'])
  },
)

test('a squash over a push in the same page is of who merged it', async () => {
  const { product, github, sync } = await bridged()
  await sync()
  const lines = (first: string, last: string) => page('Bread', [first, ...'abcdefgh', last].join('\n\n'))
  github.git.commit('main', lines('First.', 'Last.'))
  await sync()
  const written = nativeGit(product.gitDir, ['show', 'main:neurons/bread.md'])
  const edit = (branch: string, from: string, to: string) =>
    github.git.commit(branch, { 'neurons/bread.md': `${written.replace(from, to)}\n` })
  edit('mine', 'Last.', 'Last, by Bob.')
  const number = await github.openPull('bob', 'mine', 'Mine')
  await sync()
  edit('main', 'First.', 'First, pushed.')
  await github.merge('ada', number, 'squash')
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 2)).toEqual(['Update "Bread": ada <github:ada>', link])
})
