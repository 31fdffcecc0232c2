import { expect, test } from 'vitest'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { candidateDetail, submitted } from '../git/git-support.ts'
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
