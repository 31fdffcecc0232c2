import { expect, test } from 'vitest'
import { nativeGit } from '../../git/support/native-git.ts'
import { Clone, page } from '../git/git-clone.ts'
import { candidateDetail, candidates, soundProduct } from '../git/git-support.ts'
import type { Product } from '../support.ts'
import { bridged } from './forge-support.ts'

const methods = ['merge', 'squash', 'rebase'] as const
const file = 'tests/answers.yaml'
const tested = '- question: When is lunch?\n  contains: [At noon]\n'
const lunch = page('Lunch', 'At noon there is lunch.')

const resultsOf = async ({ request, tokens }: Product) =>
  (await request('GET', '/api/v1/knowledge-bases/handbook/tests', { as: tokens.curator })).body

/** Both mains are one, and the test that came with the page stands on it once. */
async function expectMerged(product: Product, there: string): Promise<void> {
  expect(nativeGit(there, ['rev-parse', 'main'])).toBe(nativeGit(product.gitDir, ['rev-parse', 'main']))
  expect(nativeGit(product.gitDir, ['show', `main:${file}`])).toBe(tested.trimEnd())
  expect(await resultsOf(product)).toMatchObject({ passed: 1, failed: 0, problems: [] })
}

test.for(methods)("a person's pull request with a page and its test is taken by %s", async (method) => {
  const { product, github, sync } = await bridged()
  await sync()
  github.git.commit('ada', { 'neurons/lunch.md': lunch, [file]: tested })
  const number = await github.openPull('ada', 'ada', 'Lunch')
  expect(await sync()).toBeUndefined()
  const [waiting] = await candidates(product, 'pending')
  const id = String(waiting?.candidateId)
  expect(await candidateDetail(product, id)).toMatchObject({ tests: [{ path: file, before: null, after: tested }] })
  expect(await resultsOf(product)).toMatchObject({ passed: 0, failed: 0 })

  await github.merge('bob', number, method)
  expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'approved')).toMatchObject([{ candidateId: id, title: 'Lunch' }])
  await expectMerged(product, github.git.dir)
})

test.for(methods)('pages with tests that were proposed here are merged there by %s', async (method) => {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  await clone.commit({ 'neurons/lunch.md': lunch, 'neurons/tea.md': page('Tea', 'Tea is hot.'), [file]: tested })
  await clone.push('HEAD:refs/for/main')
  const { github, sync, open } = await bridged({ product })
  await sync()
  const [pull, ...others] = await open()
  expect(others).toEqual([])
  await github.merge('bob', Number(pull?.number), method)
  expect(await sync()).toBeUndefined()
  expect(await candidates(product, 'approved')).toHaveLength(2)
  await expectMerged(product, github.git.dir)
})

test('a pull request says which test cannot be run, and that is not taken', async () => {
  const { product, github, sync } = await bridged()
  await sync()
  const ours = nativeGit(product.gitDir, ['rev-parse', 'main'])
  github.git.commit('ada', { 'neurons/lunch.md': lunch, [file]: '- question: When is lunch?\n  must: hold\n' })
  const number = await github.openPull('ada', 'ada', 'Lunch')
  await sync()
  expect((await github.checkRuns()).at(-1)).toMatchObject({ conclusion: 'failure' })
  expect(JSON.stringify(await github.checkRuns())).toContain('must is no field of an answer test.')
  expect(await candidates(product, 'pending')).toEqual([])
  await github.merge('bob', number)
  expect(await sync()).toContain(`${file}:2: must is no field of an answer test.`)
  expect(nativeGit(product.gitDir, ['rev-parse', 'main'])).toBe(ours)

  github.git.commit('main', { [file]: tested })
  expect(await sync()).toBeUndefined()
  await expectMerged(product, github.git.dir)
})
