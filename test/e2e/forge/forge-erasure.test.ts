import { expect, test } from 'vitest'
import { ForgeBridge } from '../../../src/forge/bridge/forge-bridge.ts'
import { linkForge, unlinkForge } from '../../../src/forge/bridge/manage-links.ts'
import { openForge } from '../../../src/forge/open-forge.ts'
import { operator } from '../../../src/kb/create-kb.ts'
import { queuePage } from '../../../src/kb/projection/candidate-queue.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidate, correction } from '../../kb/support/test-bed.ts'
import { holders, newHouse } from '../../operate/erase/support/erasure-house.ts'
import { page } from '../git/git-clone.ts'

type House = Awaited<ReturnType<typeof newHouse>>
type Forge = Awaited<ReturnType<typeof startGitlab>>

const needles = ['Xanadu', 'Quist']

async function linked(house: House, forge: Forge) {
  const ctx = house.ctx()
  const bridge = new ForgeBridge(ctx, {
    env: { SECRET: forge.token.token },
    onError: () => {},
    open: (opened) => openForge({ ...opened, writePauseMs: 0, timeoutMs: 2_000 }),
  })
  const { url, apiUrl } = forge
  const asked = { kb: 'handbook', url, apiUrl, kind: 'gitlab' as const, credential: { token: 'env:SECRET' } }
  const { link } = await linkForge(ctx, { ...operator, tenantId: house.tenantId }, bridge, asked)
  return async () => bridge.sync((await ctx.forgeLinks.find(link.id)) ?? link)
}

test('what a forge still holds of what was erased is not taken when it is linked again, nor by a pull request', async () => {
  const house = await newHouse()
  const forge = await startGitlab()
  const { seqId: kept } = Object(await house.approve(await house.propose(candidate({ title: 'Kept' }))))
  const sync = await linked(house, forge)
  await sync()
  const secret = { title: 'Zebulon Quist', content: 'Quist lives in Xanadu.' }
  const { seqId: erased } = Object(await house.approve(await house.propose(candidate(secret))))
  const waiting = await house.propose(correction(kept, 'Kept, and more.', { title: 'Kept' }))
  expect(await sync()).toBeUndefined()
  forge.git.commit('ada', { 'neurons/tea.md': page('Tea', 'By Ada.') })
  await forge.openPull('ada', 'ada', 'Tea')
  const there = forge.git.head('refs/heads/main')

  await house.prepare({ neurons: [erased] })
  await house.finish()
  expect(await house.ctx().forgeLinks.list()).toEqual([])
  const pending = async () => {
    const kb = await house.ctx().kb(house.tenantId, 'handbook')
    return queuePage(kb.projection.read, { status: 'pending' }, undefined, 10).map(({ id }) => id)
  }
  const ours = nativeGit(house.gitDir, ['rev-parse', 'main'])
  const again = await linked(house, forge)
  const refused = /main on the forge cannot be taken: The commit [0-9a-f]{7} holds what was erased from history/
  for (let n = 0; n < 2; n++) expect(await again()).toMatch(refused)
  expect(forge.git.head('refs/heads/main')).toBe(there)
  // The branch of what waits stands on the new history.
  const [{ branch } = { branch: '' }] = forge.people.all
  expect(nativeGit(forge.git.dir, ['log', '-p', branch])).not.toMatch(/Xanadu|Quist/)

  // Somebody puts the new history in place of the old one, and forgets the branches.
  nativeGit(forge.git.dir, ['fetch', '--quiet', house.gitDir, '+main:main'])
  for (let n = 0; n < 2; n++) expect(await again()).toBeUndefined()
  expect(forge.people.statuses).toContainEqual(expect.objectContaining({ ref: 'ada', state: 'failed' }))
  await forge.merge('bob', 2)
  expect(await again()).toMatch(refused)
  expect(nativeGit(house.gitDir, ['rev-parse', 'main'])).toBe(ours)
  expect(await pending()).toEqual([waiting])

  const empty = await startGitlab()
  await unlinkForge(house.ctx(), { ...operator, tenantId: house.tenantId }, 'handbook')
  const anew = await linked(house, empty)
  for (let n = 0; n < 2; n++) expect(await anew()).toBeUndefined()
  expect(empty.git.head('refs/heads/main')).toBe(ours)
  expect(empty.people.all.map(({ title, state }) => [title, state])).toEqual([['Update "Kept"', 'open']])
  expect(nativeGit(empty.git.dir, ['log', '--all', '-p'])).not.toMatch(/Xanadu|Quist/)
  await house.sound()
  await house.reopen()
  expect(holders(house.dataDir, house.gitDir, needles)).toEqual([])
})
