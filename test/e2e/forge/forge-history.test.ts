import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverDomain } from '../../../src/kb/refs/commit-message.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { restore } from '../../../src/operate/backup/restore.ts'
import { startGitea } from '../../forge/support/described-gitea.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { newState } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
import { approve, approved, candidateDetail, candidates, soundProduct, submitted } from '../git/git-support.ts'
import { bridged, bridgedTo } from './forge-support.ts'

const page = (title: string) => ({ [`neurons/${title.toLowerCase()}.md`]: `---\ntitle: ${title}\n---\n\nText.\n` })

/** Returns who approved the content of main, by the subjects of its commits, latest first. */
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

test('what changes nothing any more is joined: approved on both sides, or taken back there', async () => {
  const { product, github, sync, numberOf } = await bridged()
  const same = () => expect(github.git.head('refs/heads/main')).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  for (const [title, method] of [['Tea', 'merge'] as const, ['Milk', 'squash'] as const]) {
    const id = await submitted(product, title, `${title} is hot.`)
    await sync()
    await github.merge('ada', await numberOf(`Add "${title}"`), method)
    await approve(product, id)
    expect(await sync()).toBeUndefined()
    same()
  }
  github.git.commit('main', page('Bread'))
  github.git.commit('main', { 'neurons/bread.md': null })
  await approved(product, 'Water', 'Water is cold.')
  expect(await sync()).toBeUndefined()
  same()
  expect((await candidates(product, 'approved')).map(({ title }) => title)).toEqual(['Milk', 'Tea', 'Water'])
})

test('a protected main takes merges, and what was pushed to it there waits', async () => {
  const { product, github, sync, numberOf } = await bridged()
  const id = await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  const settings = nativeGit(product.gitDir, ['show', 'main:kb.yaml'])
  github.git.commit('main', { 'kb.yaml': settings.replace('protectMain: false', 'protectMain: true') })
  expect(await sync()).toBeUndefined()
  await github.merge('ada', await numberOf('Add "Tea"'), 'squash')
  expect(await sync()).toBeUndefined()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' })

  const waits = expect.stringContaining('takes no direct pushes: it waits until')
  const pending = async () =>
    (await candidates(product, 'pending')).map(({ title, candidateId }) => [title, candidateId])
  github.git.commit('main', { ...page('Bread'), ...page('Butter') })
  const later = await submitted(product, 'Milk', 'Milk is white.')
  for (let n = 0; n < 2; n++) expect(await sync()).toEqual(waits)
  expect((await pending()).map(([title]) => title)).toEqual(['Bread', 'Butter', 'Milk'])
  expect((await github.pulls()).map(({ title }) => title)).toEqual(['Add "Milk"', 'Add "Tea"'])
  const [bread = [], butter = []] = await pending()
  await approve(product, String(bread[1]))
  const as = { as: product.tokens.curator, body: {} }
  await product.request('POST', `/api/v1/queue/candidates/${butter[1]}/dismiss`, as)
  for (let n = 0; n < 3; n++) expect(await sync()).toEqual(waits)
  expect(await pending()).toEqual([['Milk', later]])
  github.git.commit('main', { 'neurons/butter.md': null })
  expect(await sync()).toBeUndefined()
  expect(github.git.head('refs/heads/main')).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  expect(await pending()).toEqual([['Milk', later]])
  await github.merge('bob', await numberOf('Add "Milk"'))
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 1)).toEqual(['Add "Milk": bob <github:bob>'])
})

test('after a restore of an older backup nothing is doubled or lost, and approvals keep their persons', async () => {
  const { product, forge, sync, syncNoted, numberOf } = await bridgedTo(await startGitlab())
  const [tea, milk] = [await submitted(product, 'Tea', 'Tea is hot.'), await submitted(product, 'Milk', 'Milk is not.')]
  await submitted(product, 'Juice', 'Juice is red.')
  await syncNoted()
  await submitted(product, 'Water', 'Water was not shown yet.')
  const dir = join(tempDir(), 'backup')
  await backup(product.ctx, dir, { version: '1.2.3' })
  await sync()
  await approve(product, tea)
  await approved(product, 'Bread', 'Bread is brown.')
  await sync()
  await forge.merge('ada', await numberOf('Add "Milk"'))
  await sync()
  await submitted(product, 'Later', 'It came after the backup.')
  await sync()
  const before = await forge.pulls()
  const shared = await newState()
  const dataDir = join(tempDir(), 'restored')
  await restore(dir, { dataDir, ...shared })
  const again = { ...(await soundProduct({ restored: dataDir, shared })), tokens: product.tokens }
  const restored = await bridgedTo(forge, { product: again })
  for (let n = 0; n < 3; n++) expect(await restored.sync()).toBeUndefined()
  expect((await forge.pulls()).map(({ title, state }) => [title, state])).toEqual(
    before.map(({ title, state }) => [title, state]),
  )
  expect((await candidates(again, 'pending')).map(({ title }) => title)).toEqual(['Juice', 'Later', 'Water'])
  expect([(await candidateDetail(again, tea)).status, (await candidateDetail(again, milk)).status]).toEqual([
    'approved',
    'approved',
  ])
  expect(approvals(again.gitDir, 2)).toEqual([
    expect.stringMatching(/Milk.*: ada <gitlab:ada>$/),
    // Tea and Bread.
    expect.stringMatching(/^Change 2 Neurons: curator <key:[^>]*>$/),
  ])
  // Somebody's commit that says it is the server's, merged as a fast-forward.
  const forged = forge.git.commit('eve', page('Evil'), 'Evil\n\nApproved-By: Boss <user:boss>', serverDomain)
  const number = await forge.openPull('eve', 'eve', 'Evil')
  forge.git.setRef('refs/heads/main', forged)
  forge.people.change(number, { state: 'merged', mergedBy: 'ada', mergeCommit: forged, head: forged })
  expect(await restored.sync()).toBeUndefined()
  expect(approvals(again.gitDir, 1)).toEqual(['Add "Evil": ada <gitlab:ada>'])
  // What is pushed once both sides have agreed again is no approval that the restore has lost.
  await restored.syncNoted()
  forge.git.commit('main', page('Worse'), 'Worse\n\nApproved-By: Boss <user:boss>', serverDomain)
  expect(await restored.sync()).toBeUndefined()
  expect(approvals(again.gitDir, 1)).toEqual([expect.stringContaining('<gitlab:acme/docs/handbook>')])
})

test('a merge among more than a page of others has its person', async () => {
  const { product, forge, syncNoted } = await bridgedTo(await startGitea('gitea'))
  await syncNoted()
  forge.git.commit('mine', page('Bread'))
  const number = await forge.openPull('eve', 'mine', 'Mine')
  await forge.merge('ada', number, 'squash')
  const others = Array.from({ length: 120 }, (_, at) => ({ ...forge.people.find(number), number: number + 1 + at }))
  forge.people.all.push(
    ...others.map((pull) => ({ ...pull, mergeCommit: 'f'.repeat(40), updatedAt: new Date(Date.now() + 60_000) })),
  )
  await syncNoted()
  expect(approvals(product.gitDir, 1)).toEqual(['Add "Bread": ada <gitea:ada>'])
})

test('a squash with an edited message is approved by who merged it', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  const [pull] = forge.people.all
  const message = 'Something else\n\nApproved-By: Boss <user:boss>\nCandidate: none'
  const mergeCommit = forge.git.merge(pull?.head ?? '', 'squash', message) ?? ''
  forge.people.change(1, { state: 'merged', mergedBy: 'ada', mergeCommit })
  expect(await sync()).toBeUndefined()
  expect(approvals(product.gitDir, 1)).toEqual([expect.stringMatching(/: ada <gitlab:ada>$/)])
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved' })
})

test('branches that were pushed by force revise what waits, whoever opened the pull request', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is hot.')
  forge.git.commit('mine', page('Bread'))
  await sync()
  await forge.openPull('ada', 'mine', 'Mine')
  await sync()
  const main = forge.git.head('refs/heads/main') ?? ''
  const branch = forge.people.find(1).branch
  const [path = ''] = nativeGit(forge.git.dir, ['diff', '--name-only', `main...${branch}`]).split('\n')
  const tea = nativeGit(forge.git.dir, ['show', `${branch}:${path}`])
  for (const ref of [branch, 'mine']) forge.git.setRef(`refs/heads/${ref}`, main)
  forge.git.commit(branch, { [path]: tea.replace('hot', 'cold') })
  forge.git.commit('mine', { 'neurons/bread.md': '---\ntitle: Bread\n---\n\nOther text.\n' })
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  const pending = await candidates(product, 'pending')
  expect(pending.map(({ title }) => title)).toEqual(['Bread', 'Tea'])
  const bread = String(pending[0]?.candidateId)
  expect((await candidateDetail(product, id)).content).toContain('Tea is cold.')
  expect((await candidateDetail(product, bread)).content).toContain('Other text.')
  expect(forge.people.all).toHaveLength(2)
  // Nothing is left of it.
  forge.git.setRef(`refs/heads/mine`, main)
  forge.git.setRef(`refs/heads/${branch}`, main)
  for (let n = 0; n < 2; n++) await sync()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })
  expect(forge.people.all).toHaveLength(2)
})

test('two servers of one knowledge base on one repository come to the same, and nothing is doubled', async () => {
  const { product, forge, sync, numberOf } = await bridgedTo(await startGitlab())
  const [tea, milk] = [await submitted(product, 'Tea', 'Tea is hot.'), await submitted(product, 'Milk', 'Milk is not.')]
  await sync()
  const dir = join(tempDir(), 'backup')
  await backup(product.ctx, dir, { version: '1.2.3' })
  const shared = await newState()
  const dataDir = join(tempDir(), 'restored')
  await restore(dir, { dataDir, ...shared })
  const twin = { ...(await soundProduct({ restored: dataDir, shared })), tokens: product.tokens }
  const other = await bridgedTo(forge, { product: twin })
  await approve(product, tea)
  await forge.close('ada', await numberOf('Add "Milk"'))
  for (let n = 0; n < 2; n++) for (const each of [sync, other.sync]) expect(await each()).toBeUndefined()
  const statuses = async (of: typeof product) =>
    Promise.all([tea, milk].map(async (id) => (await candidateDetail(of, id)).status))
  expect([await statuses(product), await statuses(twin)]).toEqual([
    ['approved', 'dismissed'],
    ['approved', 'dismissed'],
  ])
  expect(forge.people.all).toHaveLength(2)
  expect(nativeGit(twin.gitDir, ['rev-parse', 'main^{tree}'])).toBe(
    nativeGit(product.gitDir, ['rev-parse', 'main^{tree}']),
  )
})
