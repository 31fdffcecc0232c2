import { expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { Clone, page } from '../git/git-clone.ts'
import { candidates, soundProduct } from '../git/git-support.ts'
import { bridged } from './forge-support.ts'

/** Proposes pages in one push, as a curator does. */
async function proposed(...titles: string[]) {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  for (const title of titles) clone.write(`neurons/${title.toLowerCase()}.md`, page(title, `About ${title}.`))
  await clone.git('add', '.')
  await clone.git('commit', '--quiet', '-m', 'Write')
  await clone.git('push', '--quiet', 'origin', 'HEAD:refs/for/main')
  const bridge = await bridged({ product })
  await bridge.sync()
  return bridge
}

function branchOf(pull: Record<string, unknown> | undefined): string {
  const { ref } = pull?.head === undefined ? { ref: '' } : (pull.head as { ref: string })
  return ref
}

const titlesOf = (found: Record<string, unknown>[]) => found.map(({ title }) => title)

test('what was proposed in one push is one pull request, with a commit for each page', async () => {
  const { product, github, sync, open } = await proposed('Dinner', 'Lunch', 'Tea')
  const pulls = await open()
  expect(titlesOf(pulls)).toEqual(['3 pages of a push of curator'])
  const [pull] = pulls
  const headings = [...String(pull?.body).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings.sort()).toEqual(['Add `Dinner`', 'Add `Lunch`', 'Add `Tea`'])
  const ref = branchOf(pull)
  expect(
    nativeGit(github.git.dir, ['log', '--format=%s', `main..${ref}`])
      .split('\n')
      .sort(),
  ).toEqual(['Add "Dinner"', 'Add "Lunch"', 'Add "Tea"'])
  await github.merge('ada', Number(pull?.number), 'squash')
  expect(await sync()).toBeUndefined()
  expect(titlesOf(await candidates(product, 'approved'))).toEqual(['Dinner', 'Lunch', 'Tea'])
})

test.for([
  { label: undefined, left: 'pending' },
  { label: 'ganglion: dismiss the rest', left: 'dismissed' },
])('a page whose commit is dropped is left $left', async ({ label, left }) => {
  const { product, github, sync, open } = await proposed('Dinner', 'Lunch', 'Tea')
  const [pull] = await open()
  const ref = branchOf(pull)
  const dropped = nativeGit(github.git.dir, ['log', '-1', '--format=%s', ref]).slice('Add "'.length, -1)
  nativeGit(github.git.dir, ['update-ref', `refs/heads/${ref}`, `${ref}~1`])
  await sync()
  const number = Number(pull?.number)
  if (label !== undefined) await github.label('ada', number, label)
  await github.merge('ada', number)
  await sync()
  await sync()
  expect(titlesOf(await candidates(product, left))).toEqual([dropped])
  expect(await candidates(product, 'approved')).toHaveLength(2)
  expect(titlesOf(await open())).toEqual(left === 'pending' ? [`Add "${dropped}"`] : [])
})

test('a page of a bundle that is decided here leaves it', async () => {
  const { product, github, sync, open } = await proposed('Dinner', 'Lunch', 'Tea')
  const [tea] = (await candidates(product, 'pending')).filter(({ title }) => title === 'Tea')
  const path = `/api/v1/queue/candidates/${tea?.candidateId}/dismiss`
  await product.request('POST', path, { as: product.tokens.curator, body: { reason: 'No tea.' } })
  await sync()
  const [pull, ...others] = await open()
  expect(others).toEqual([])
  expect(String(pull?.body)).not.toContain('Add `Tea`')
  const ref = branchOf(pull)
  expect(nativeGit(github.git.dir, ['log', '--format=%s', `main..${ref}`]).split('\n')).toHaveLength(2)
})
