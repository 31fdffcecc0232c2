import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { ganglion } from '../../cli/support.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import type { Product } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approved, candidateDetail, candidates, neuron, soundProduct, submitted } from './git-support.ts'

const body = 'One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.'
const head = (id: string) => `refs/candidates/${id}/head`

/** A Neuron, a curator's clone, and a pending candidate that moves the Neuron's page, as a push proposed it. */
async function withMove({ to, edit = (text) => text }: { to?: string; edit?: (text: string) => string } = {}) {
  const product = await soundProduct()
  const seqId = await approved(product, 'Policy', body)
  const clone = await Clone.of(product, product.tokens.curator)
  const from = await clone.git('ls-files', 'neurons')
  const path = to ?? from.replace('policy', 'Policy')
  mkdirSync(dirname(clone.path(path)), { recursive: true })
  await clone.git('mv', from, path)
  await clone.commit({ [path]: edit(clone.read(path)) }, 'Move')
  expect((await clone.push('HEAD:refs/for/main')).code).toBe(0)
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  const [pending] = await candidates(product, 'pending')
  return { product, seqId, clone, from, path, id: String(pending?.candidateId) }
}

const pages = ({ gitDir }: Product) =>
  nativeGit(gitDir, ['ls-tree', '-r', '--name-only', 'main', 'neurons']).split('\n').filter(Boolean)

const elsewhere = 'neurons/elsewhere/policy.md'
const edited = { to: elsewhere, edit: (text: string) => text.replace('Two.', 'Two, better.') }

async function takePathOnMain(clone: Clone, path: string): Promise<void> {
  await clone.commit({ [path]: page('Squatter', 'I was here first.') }, 'Take the path')
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
}

test.each([
  ['to another folder', { to: elsewhere }, body],
  ['with an edit', edited, body.replace('Two.', 'Two, better.')],
  ['in case alone', {}, body],
])('a head that moves a page, %s, is merged as a move: nothing is left where it stood', async (_, move, content) => {
  const { product, seqId, clone, from, path, id } = await withMove(move)
  await clone.commit({ 'README.md': '# Main has moved\n' })
  await clone.git('fetch', '--quiet', 'origin', head(id))
  const changes = await clone.git('diff', '--no-renames', '--name-status', 'FETCH_HEAD^', 'FETCH_HEAD')
  expect(changes.split('\n').sort()).toEqual([`A\t${path}`, `D\t${from}`])
  await clone.git('merge', '--quiet', '--no-edit', 'FETCH_HEAD')

  const { code, stderr } = await clone.push('main')
  expect([code, stderr]).toEqual([0, expect.stringContaining(`updated ${seqId} "Policy"`)])

  expect(pages(product)).toEqual([path])
  expect((await neuron(product, seqId)).body).toMatchObject({ path, version: 2, content })
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved', seqId })
  expect((await candidates(product, 'approved')).length).toBe(2)
})

test('`ganglion review --approve --head` of a head that moves a page approves the move', async () => {
  const { product, seqId, clone, path, id } = await withMove(edited)
  await clone.git('fetch', '--quiet', 'origin', head(id))
  const judged = await clone.git('rev-parse', 'FETCH_HEAD')

  const keys = { GANGLION_URL: product.url, GANGLION_KEY: product.tokens.curator }
  expect(await ganglion(['review', head(id), '--approve', '--head', judged], keys)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Approved ${id}: ${seqId}`),
  })

  expect(pages(product)).toEqual([path])
  const content = body.replace('Two.', 'Two, better.')
  expect((await neuron(product, seqId)).body).toMatchObject({ path, version: 2, content })
})

test('where main has taken the path meanwhile the head that moved is stale, and the present one stays where it was', async () => {
  const { product, seqId, clone, from, path, id } = await withMove(edited)
  await clone.git('fetch', '--quiet', 'origin', head(id))
  const judged = await clone.git('rev-parse', 'FETCH_HEAD')
  await takePathOnMain(clone, path)

  const keys = { GANGLION_URL: product.url, GANGLION_KEY: product.tokens.curator }
  expect(await ganglion(['review', head(id), '--approve', '--head', judged], keys)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The candidate no longer proposes what ${judged} does`),
  })
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'pending' })

  await clone.git('fetch', '--quiet', 'origin', head(id))
  expect(await clone.git('diff', '--name-status', 'main', 'FETCH_HEAD')).toBe(`M\t${from}`)
  await clone.git('merge', '--quiet', '--no-edit', 'FETCH_HEAD')
  expect((await clone.push('main')).code).toBe(0)

  expect(pages(product)).toEqual([from, path].sort())
  expect((await neuron(product, seqId)).body).toMatchObject({
    path: from,
    content: body.replace('Two.', 'Two, better.'),
  })
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved', seqId })
})

test('a bundle of a move and another candidate is merged as both', async () => {
  const { product, seqId, clone, path, id } = await withMove(edited)
  const added = await submitted(product, 'Brand new', 'Hello.')
  await clone.git('fetch', '--quiet', 'origin', `${head(`${id}+${added}`)}:bundle`)
  await clone.git('merge', '--quiet', '--no-ff', '--no-edit', 'bundle')

  expect((await clone.push('main')).code).toBe(0)

  expect(await candidates(product, 'pending')).toEqual([])
  expect(pages(product)).toEqual(expect.arrayContaining([path, expect.stringMatching(/brand-new-[0-9a-f]{6}\.md$/)]))
  expect(pages(product)).toHaveLength(2)
  expect((await neuron(product, seqId)).body).toMatchObject({ path, content: body.replace('Two.', 'Two, better.') })
})

test('a move that conflicts with main in the text is solved with git, and still moves the page', async () => {
  const { product, seqId, clone, from, path, id } = await withMove(edited)
  await clone.commit({ [from]: clone.read(from).replace('Two.', 'Two, otherwise.') })
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  await clone.git('fetch', '--quiet', 'origin', head(id))
  expect((await clone.run('merge', 'FETCH_HEAD')).stdout).toContain('CONFLICT')

  const hunk = /<<<<<<<[\s\S]*?>>>>>>> .*\n/
  await clone.commit({
    [path]: clone.read(path).replace(hunk, `candidate: ${id}\n`).replace(hunk, 'Two, both.\n'),
  })
  expect((await clone.push('main')).code).toBe(0)

  expect(pages(product)).toEqual([path])
  expect((await neuron(product, seqId)).body).toMatchObject({ path, content: body.replace('Two.', 'Two, both.') })
  expect(await candidateDetail(product, id)).toMatchObject({ status: 'approved', seqId })
})
