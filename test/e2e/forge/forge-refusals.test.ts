import { expect, test } from 'vitest'
import { ForgeBridge } from '../../../src/forge/bridge/forge-bridge.ts'
import { linkForge, listForgeLinks, publicWarning } from '../../../src/forge/bridge/manage-links.ts'
import { createKnowledgeBase, operator } from '../../../src/kb/create-kb.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { approve, candidateDetail, candidates, submitted } from '../git/git-support.ts'
import { bridged, bridgedTo } from './forge-support.ts'

test('a pull request that a forge refuses keeps no other waiting, and is tried again', async () => {
  const { product, github, sync, open } = await bridged()
  await submitted(product, 'Lunch', 'Lunch is at one.')
  await submitted(product, 'Tea', 'Tea is at four.')
  github.fail(/POST .*\/pulls$/, { status: 422, body: { message: 'Validation Failed' } })
  expect(await sync()).toMatch(/POST .*\/pulls was answered with 422: Validation Failed/)
  expect(await open()).toHaveLength(1)
  expect(await sync()).toBeUndefined()
  expect((await open()).map(({ title }) => title)).toEqual(['Add "Lunch"', 'Add "Tea"'])
})

test('one that was deleted counts as closed once two comparisons have not found it, and another can take its place', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  forge.people.all.pop()
  await sync()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })
  await sync()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'dismissed' })
  await product.request('POST', `/api/v1/queue/candidates/${id}/reopen`, { as: product.tokens.curator })
  for (let n = 0; n < 2; n++) await sync()
  expect(forge.people.all).toMatchObject([{ title: 'Add "Tea"', state: 'open' }])
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })
})

test('one that was merged into another branch decides nothing, and its candidate gets another', async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  const id = await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  const [pull] = forge.people.all
  forge.people.change(1, { base: 'stable', state: 'merged', mergedBy: 'ada', mergeCommit: pull?.head ?? '' })
  expect(await sync()).toBeUndefined()
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })
  await sync()
  expect(forge.people.all).toMatchObject([
    { base: 'stable', state: 'merged' },
    { base: 'main', state: 'open', title: 'Add "Tea"' },
  ])
})

test("somebody's own pull request of our branch into another is left alone", async () => {
  const { product, forge, sync, numberOf } = await bridgedTo(await startGitlab())
  await submitted(product, 'Tea', 'Tea is at four.')
  await sync()
  const branch = forge.people.find(await numberOf('Add "Tea"')).branch
  await forge.openPull('ada', branch, 'For the stable edition', 'stable')
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  expect(forge.people.all.map(({ title, base, state }) => [title, base, state])).toEqual([
    ['Add "Tea"', 'main', 'open'],
    ['For the stable edition', 'stable', 'open'],
  ])
})

test("a person's pull request that was given another base is theirs there, and is settled once it comes back", async () => {
  const { product, forge, sync } = await bridgedTo(await startGitlab())
  await sync()
  const open = async (title: string) => {
    forge.git.commit(title, { [`neurons/${title}.md`]: `---\ntitle: ${title}\n---\n\nBy Ada.\n` })
    return forge.openPull('ada', title, title)
  }
  const [tea, milk] = [await open('Tea'), await open('Milk')]
  await sync()
  for (const number of [tea, milk]) forge.people.change(number, { base: 'stable' })
  const { candidateId } = (await candidates(product, 'pending')).find(({ title }) => title === 'Tea') ?? {}
  await approve(product, String(candidateId))
  await forge.close('ada', milk)
  for (let n = 0; n < 3; n++) expect(await sync()).toBeUndefined()
  expect(forge.people.find(tea).state).toBe('open')
  expect(await candidates(product, 'pending')).toMatchObject([{ title: 'Milk' }])
  expect(forge.people.all.at(-1)).toMatchObject({ title: 'Add "Milk"', state: 'open' })
  forge.people.change(tea, { base: 'main' })
  for (let n = 0; n < 2; n++) expect(await sync()).toBeUndefined()
  expect(forge.people.find(tea).state).not.toBe('open')
  expect(forge.people.all).toHaveLength(3)
})

test('a repository that cannot be one with the knowledge base is not linked, and one that all can read is told', async () => {
  const forge = await startGitlab()
  const { product, sync } = await bridgedTo(forge)
  const { ctx } = product
  await sync()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })
  const tenantId = (await ctx.knowledgeBases.list())[0]?.tenantId ?? ''
  const bridge = new ForgeBridge(ctx, { env: { SECRET: forge.token.token }, onError: () => {} })
  const linkTo = ({ url, apiUrl }: Pick<typeof forge, 'url' | 'apiUrl'>, more = {}) => {
    const asked = { kb: 'other', url, apiUrl, kind: 'gitlab' as const, credential: { token: 'env:SECRET' }, ...more }
    return linkForge(ctx, { ...operator, tenantId }, bridge, asked)
  }
  const wrong = (text: string) => ({ fieldErrors: { url: [expect.stringContaining(text)] } })
  for (const disabledAt of [null, ctx.now(), null]) {
    // It is linked still once it is served again.
    await ctx.knowledgeBases.setDisabled({ id: product.kbId }, disabledAt)
    await expect(linkTo({ ...forge, url: forge.url.replace('handbook', 'Handbook') })).rejects.toMatchObject(
      wrong('linked to another knowledge base'),
    )
  }
  const foreign = await startGitlab()
  foreign.git.commit('trunk', { 'a.md': 'A' })
  await expect(linkTo(foreign)).rejects.toMatchObject(wrong('none is main'))
  foreign.git.commit('main', { 'a.md': 'A' })
  await expect(linkTo(foreign)).rejects.toMatchObject(wrong('another history'))
  const empty = await startGitlab()
  await expect(linkTo(empty, { webhookSecret: 'env:NONE' })).rejects.toThrow('no secret at env:NONE')
  empty.fail(/info\/refs.*receive-pack/, { status: 403 })
  await expect(linkTo(empty)).rejects.toMatchObject({ code: 'refused' })
  expect(await ctx.forgeLinks.list()).toHaveLength(1)
  empty.show('internal')
  expect(await linkTo(empty)).toMatchObject({ isPublic: true })
  expect(await listForgeLinks(ctx)).toMatchObject([{ warning: null }, { warning: publicWarning }])
  expect(empty.git.branches()).toEqual([])
})
