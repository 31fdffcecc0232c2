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

/** Returns who approved the content of main, by the subjects of its commits, latest first. */
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

test('a squash over a page that main has moved since is of who merged it', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  await sync()
  forge.git.commit('main', page('Bread', ['First.', ...'abcdefgh', 'Last.'].join('\n\n')))
  await sync()
  const written = nativeGit(product.gitDir, ['show', 'main:neurons/bread.md'])
  forge.git.commit('mine', { 'neurons/bread.md': `${written.replace('Last.', 'Last, by Bob.')}\n` })
  const number = await forge.openPull('bob', 'mine', 'Mine')
  await sync()
  forge.git.commit('main', { 'neurons/bread.md': null, 'neurons/food/bread.md': `${written}\n` })
  await forge.merge('ada', number, 'squash')
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 2)).toEqual(['Update "Bread": ada <gitlab:ada>', link])
  expect(nativeGit(product.gitDir, ['show', 'main:neurons/food/bread.md'])).toContain('Last, by Bob.')
})

test('a merge, its revert, and the revert of that are of who did each', async () => {
  const { product, forge, sync, number, gitDir } = await requested(await startGitlab())
  await forge.merge('ada', number, 'squash')
  const gone = { 'neurons/bread.md': null, 'neurons/butter.md': null }
  forge.git.commit('revert', gone)
  await forge.merge('bob', await forge.openPull('bob', 'revert', 'Revert'), 'squash')
  forge.git.commit('again', { ...page('Bread'), ...page('Butter') })
  await forge.merge('eve', await forge.openPull('eve', 'again', 'Again'), 'rebase')
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 3).map((line) => line.replace(/.*: /, ''))).toEqual(
    ['eve', 'bob', 'ada'].map((by) => `${by} <gitlab:${by}>`),
  )
  expect(nativeGit(product.gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons'])).toContain('neurons/bread.md')
})

test('requests on one another, and two of the same commit, bring what each has', async () => {
  const { forge, sync, number, gitDir } = await requested(await startGitlab())
  forge.git.setRef('refs/heads/same', forge.git.head('refs/heads/two') ?? '')
  forge.git.setRef('refs/heads/top', forge.git.head('refs/heads/two') ?? '')
  forge.git.commit('top', page('Jam'))
  const top = await forge.openPull('eve', 'top', 'Top')
  const same = await forge.openPull('eve', 'same', 'Same')
  await forge.merge('ada', number, 'squash')
  await forge.merge('eve', top, 'squash')
  forge.people.change(same, {
    state: 'merged',
    mergedBy: 'eve',
    mergeCommit: forge.people.find(number).mergeCommit ?? '',
  })
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 2)).toEqual([
    'Add "Jam": eve <gitlab:eve>',
    expect.stringMatching(/^Change 2 Neurons: (ada <gitlab:ada>|eve <gitlab:eve>)$/),
  ])
})

test("a fork's request that nobody let in is of who merged it, by what it has", async () => {
  for (const method of ['merge', 'squash', 'rebase'] as const) {
    const { product, github, sync } = await bridged()
    await sync()
    github.git.commit('theirs', page('Bread'))
    github.git.commit('theirs', page('Butter'))
    const number = await github.openForkPull('eve', 'theirs', 'Theirs')
    await sync()
    github.git.commit('main', page('Pushed'))
    await github.merge('ada', number, method)
    expect(await sync()).toBeUndefined()
    expect([method, ...approvals(product.gitDir, 2)]).toEqual([method, 'Change 2 Neurons: ada <github:ada>', link])
  }
})

test('a commit of a request that is pushed by hand, and then merged with it, counts once', async () => {
  const { forge, sync, number, gitDir } = await requested(await startGitlab())
  const [bread = '', butter = ''] = forge.people.commitsOf(number)
  // Twice the same text: the second time under another name.
  forge.git.commit('main', page('Other'), 'First part', 'Bob')
  const main = forge.git.head('refs/heads/main') ?? ''
  forge.git.setRef('refs/heads/copy', butter)
  forge.git.rebase('copy', main)
  forge.git.setRef('refs/heads/main', forge.git.head('refs/heads/copy') ?? '')
  forge.people.change(number, {
    state: 'merged',
    mergedBy: 'bob',
    mergeCommit: forge.git.head('refs/heads/copy') ?? '',
  })
  expect(bread).not.toBe(butter)
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 2)).toEqual(['Change 2 Neurons: bob <gitlab:bob>', link])
})

test('a fast-forward on a forge that does not list its commits brings its last commit alone', async () => {
  const { forge, sync, number, gitDir } = await requested(await startGitlab())
  forge.git.commit('main', page('Pushed'), 'Push', 'Mallory')
  forge.git.rebase('two', 'main')
  await forge.merge('bob', number, 'fast-forward')
  forge.fail(/commits/, { status: 404 })
  expect(await sync()).toBeUndefined()
  expect(approvals(gitDir, 2)).toEqual(['Add "Butter": bob <gitlab:bob>', link])
})
