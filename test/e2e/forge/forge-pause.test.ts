import { expect, test } from 'vitest'
import { ForgePaused } from '../../../src/forge/bridge/linked.ts'
import { followBranch } from '../../../src/forge/bridge/manage-links.ts'
import { operator } from '../../../src/kb/create-kb.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidates, submitted } from '../git/git-support.ts'
import { bridged, bridgedTo } from './forge-support.ts'

const titles = ['Bread', 'Butter', 'Milk', 'Tea']

/** A knowledge base with pull requests that wait. */
async function waiting() {
  const linked = await bridgedTo(await startGitlab())
  for (const title of titles) await submitted(linked.product, title, `${title} is food.`)
  await linked.sync()
  /** Fails as it must, again and again, and changes nothing on either side. */
  const paused = async (why: RegExp) => {
    const refs = nativeGit(linked.forge.git.dir, ['for-each-ref'])
    const before = nativeGit(linked.product.gitDir, ['for-each-ref'])
    for (let n = 0; n < 3; n++) {
      const error = await linked.syncNoted().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ForgePaused)
      expect(String(error)).toMatch(why)
    }
    expect(nativeGit(linked.forge.git.dir, ['for-each-ref'])).toBe(refs)
    expect(nativeGit(linked.product.gitDir, ['for-each-ref'])).toBe(before)
    expect(await candidates(linked.product, 'pending')).toHaveLength(titles.length)
    const { note, failingSince } = (await linked.product.ctx.forgeLinks.find(linked.link.id)) ?? {}
    const { notes } = (await linked.product.request('GET', '/readyz')).body
    expect(notes).toEqual(['links to forges that are paused or fail: 1; see ganglion forge status'])
    expect([note, failingSince]).toEqual([expect.stringMatching(why), expect.any(String)])
  }
  return { ...linked, paused }
}

function deleteRefs(dir: string, pattern: string): void {
  for (const ref of nativeGit(dir, ['for-each-ref', '--format=%(refname)', pattern]).split('\n'))
    if (ref !== '') nativeGit(dir, ['update-ref', '-d', ref])
}

test('a repository that was deleted and made anew dismisses nothing, and a new link opens all again', async () => {
  const { forge, paused, product, link } = await waiting()
  deleteRefs(forge.git.dir, 'refs')
  forge.people.all.length = 0
  await paused(/repository is empty.*unlink the knowledge base and link it again/)
  await product.ctx.forgeLinks.remove(link.id)
  const again = await bridgedTo(forge, { product })
  expect(await again.sync()).toBeUndefined()
  expect((await again.open()).map(({ title }) => title)).toEqual(titles.map((title) => `Add "${title}"`))
})

test('pull requests that are gone at once dismiss nothing, nor do those of another repository', async () => {
  const { forge, paused, sync } = await waiting()
  const kept = forge.people.all.splice(0)
  await paused(/4 of 4 pull requests are gone at once/)
  forge.people.all.push(...kept.map((pull) => ({ ...pull, branch: 'other' })))
  await paused(/is not the one that was opened/)
  forge.people.all.splice(0, 4, ...kept)
  expect(await sync()).toBeUndefined()
  deleteRefs(forge.git.dir, 'refs/heads/ganglion/')
  forge.people.notePush()
  await paused(/4 of 4 pull requests are gone at once/)
})

test('a main that was rewritten, or has another history, is not taken', async () => {
  const { forge, paused, sync } = await waiting()
  const main = forge.git.head('refs/heads/main') ?? ''
  const root = nativeGit(forge.git.dir, ['commit-tree', `${main}^{tree}`, '-m', 'Other'])
  forge.git.setRef('refs/heads/main', root)
  await paused(/no history in common/)
  forge.git.setRef('refs/heads/main', main)
  forge.git.commit('main', { 'neurons/a.md': '---\ntitle: A\n---\n\nA.\n' })
  expect(await sync()).toBeUndefined()
  forge.git.setRef('refs/heads/main', main)
  forge.git.commit('main', { 'neurons/b.md': '---\ntitle: B\n---\n\nB.\n' })
  await paused(/main there was rewritten/)
})

test('a default branch that was renamed is told by its name, and followed once somebody says so', async () => {
  const { forge, paused, sync, product, open, link } = await waiting()
  nativeGit(forge.git.dir, ['branch', '-m', 'main', 'trunk'])
  nativeGit(forge.git.dir, ['symbolic-ref', 'HEAD', 'refs/heads/trunk'])
  await paused(/no branch main, and its default branch is trunk.*ganglion forge sync --branch trunk/)
  for (const { number } of forge.people.all) forge.people.change(number, { base: 'trunk' })
  const acting = { ...operator, tenantId: link.tenantId }
  await followBranch(product.ctx, acting, 'handbook', 'trunk')
  forge.git.commit('trunk', { 'neurons/a.md': '---\ntitle: A\n---\n\nA.\n' })
  await submitted(product, 'Wine', 'Wine is red.')
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'approved')).toMatchObject([{ title: 'A' }])
  expect(await open()).toHaveLength(titles.length + 1)
  expect(forge.people.all.at(-1)).toMatchObject({ base: 'trunk', title: 'Add "Wine"' })
  expect(forge.git.head('refs/heads/trunk')).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  expect(forge.git.head('refs/heads/main')).toBeUndefined()
})

test('an App that was uninstalled is told, with what to do, and nothing is decided from it', async () => {
  const { product, github, sync, syncNoted, link } = await bridged()
  const id = await submitted(product, 'Tea', 'Tea is hot.')
  await sync()
  for (let n = 0; n < 3; n++) {
    github.fail(/pulls/, { status: 401 })
    github.fail(/installation$/, { status: 404 })
    if (n === 0) await expect(syncNoted()).rejects.toMatchObject({ code: 'refused' })
    await expect(syncNoted()).rejects.toMatchObject({ code: 'refused' })
    github.mend()
    const { note } = (await product.ctx.forgeLinks.find(link.id)) ?? {}
    expect(note).toMatch(/App is not installed on acme\/handbook: install it there/)
    expect(await candidates(product, 'pending')).toMatchObject([{ candidateId: id }])
  }
  await syncNoted()
  expect(await product.ctx.forgeLinks.find(link.id)).toMatchObject({ note: null, failingSince: null })
})

test('people may have more pull requests open than candidates may', async () => {
  const { product, github, sync } = await bridged({ maxOpen: 1 })
  await sync()
  for (const title of titles) {
    github.git.commit(title, { [`neurons/${title}.md`]: `---\ntitle: ${title}\n---\n\nBy Ada.\n` })
    await github.openPull('ada', title, title)
  }
  expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'pending')).toHaveLength(titles.length)
})
