import { expect, test } from 'vitest'
import { bridged } from '../forge/forge-support.ts'
import type { Product } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import {
  approve,
  approved,
  candidateDetail,
  candidates,
  correctionOf,
  neuron,
  soundProduct,
  submitted,
} from './git-support.ts'

const question = 'Who is paged for a VIP ticket?'
const policy = 'When a VIP customer raises a ticket, page the lead.'
const testOf = (text: string) => `- question: ${question}\n  contains: [${text}]\n`

/** A product with the policy as a page, and a curator's clone, where the page is at `path`. */
async function withPolicy(): Promise<{ product: Product; seqId: string; clone: Clone; path: string }> {
  const product = await soundProduct()
  const seqId = await approved(product, 'VIP policy', policy)
  const clone = await Clone.of(product, product.tokens.curator)
  const path = (await clone.git('ls-files', 'neurons')).split('\n').find((name) => name.endsWith('.md')) ?? ''
  return { product, seqId, clone, path }
}

/** Returns the terminal's output for a proposal. A push that does not wait is answered without effects; the same push again has them. */
async function propose(clone: Clone): Promise<string> {
  const { stderr } = await clone.push('HEAD:refs/for/main')
  return stderr.includes('still being run') ? propose(clone) : stderr
}

test('answer tests ride in pushes, and the terminal shows what a push breaks', async () => {
  const { seqId, clone, path } = await withPolicy()
  await clone.commit({ 'tests/answers.yaml': `- question: ${question}\n  must: hold\n` })
  const refused = await clone.push('main')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('tests/answers.yaml:2: must is no field of an answer test.')
  await clone.commit({
    'tests/answers.yaml': `- question: ${question}\n  contains: [the lead]\n  retrieves: [${seqId}]\n`,
  })
  const taken = await clone.push('main')
  expect([taken.code, taken.stderr.match(/answer tests fail.*/g)]).toEqual([0, null])
  await clone.git('pull', '--quiet')

  await clone.commit({ [path]: clone.read(path).replace('the lead', 'nobody') })
  const proposed = await propose(clone)
  expect(proposed).toContain('Its approval breaks 1 of 1 answer tests:')
  expect(proposed).toContain(`tests/answers.yaml:1: "${question}" The answer does not contain "the lead"`)
  const pushed = await clone.push('main')
  expect(pushed.stderr).toContain('1 of 1 answer tests fail on main now:')
})

test('a pull request and its check say what the candidate breaks', async () => {
  const { product, github, sync, open } = await bridged()
  const seqId = await approved(product, 'VIP policy', policy)
  const added = await product.request('POST', '/api/v1/knowledge-bases/handbook/tests', {
    as: product.tokens.curator,
    body: { question, contains: ['the lead'] },
  })
  expect(added.status).toBe(200)
  await submitted(product, 'VIP policy', policy.replace('the lead', 'nobody'), correctionOf(seqId))
  expect(await sync()).toBeUndefined()
  const [pull] = await open()
  expect(String(pull?.body)).toContain('**Answer tests**\n- `Its approval breaks 1 of 1 answer tests:`')
  const [run] = await github.checkRuns()
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(JSON.stringify(run)).toContain('it breaks 1 of 1 answer tests')
})

test('answer tests come with the pages of a proposal', async () => {
  const { product, seqId, clone, path } = await withPolicy()
  await clone.commit({ 'tests/answers.yaml': testOf('the warden') })
  const alone = await clone.push('HEAD:refs/for/main')
  expect(alone.stderr).toContain('Only Neurons can be proposed, and answer tests with them')

  await clone.commit({
    [path]: clone.read(path).replace('the lead', 'the warden'),
    'neurons/lunch.md': page('Lunch', 'At noon.'),
    'tests/answers.yaml': testOf('the warden') + testOf('the gardener'),
  })
  const proposed = await propose(clone)
  expect(proposed).toContain('tests/answers.yaml comes with the first that is approved')
  expect(proposed).toContain('Their approval breaks 1 of 2 answer tests and mends 1:')
  expect(proposed).toContain('tests/answers.yaml:3')

  await clone.commit({ 'tests/answers.yaml': testOf('the warden') })
  expect(await propose(clone)).toMatch(/updated "VIP policy"[\s\S]*breaks none of 1 answer tests and mends 1\./)
  const waiting = await candidates(product, 'pending')
  const id = String(waiting.find(({ title }) => title === 'VIP policy')?.candidateId)
  const detail = await candidateDetail(product, id)
  expect(detail).toMatchObject({
    tests: [{ path: 'tests/answers.yaml', before: null, after: testOf('the warden') }],
    effects: { state: 'tested', tests: 1, broken: [], mended: [{ question }] },
  })
  await clone.git('fetch', '--quiet', 'origin', `refs/candidates/${id}/head`)
  expect((await clone.git('diff', '--name-only', 'origin/main..FETCH_HEAD')).split('\n').sort()).toEqual([
    path,
    'tests/answers.yaml',
  ])

  // Somebody else adds a test behind those of main meanwhile, and pushes the file for the first time.
  const added = await product.request('POST', '/api/v1/knowledge-bases/handbook/tests', {
    as: product.tokens.curator,
    body: { question: 'Which submarine crosses Antarctica?', refuses: true },
  })
  expect(added.status).toBe(200)
  await approve(product, id)
  await clone.git('fetch', '--quiet', 'origin')
  const [one, two] = [testOf('the warden'), '- question: Which submarine crosses Antarctica?\n  refuses: true\n']
  expect(await clone.git('show', 'origin/main:tests/answers.yaml')).toBe((two + one).trimEnd())
  expect(await neuron(product, seqId)).toMatchObject({ body: { content: expect.stringContaining('the warden') } })
  const [left] = await candidates(product, 'pending')
  expect(await candidateDetail(product, String(left?.candidateId))).not.toHaveProperty('tests')
})

test('answer tests leave room in the record for decisions, and are not copied into too many', async () => {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  const long = `- question: ${question}\n  contains: [${'x'.repeat(400)}]\n`.repeat(120)
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`tests/${at}.yaml`, long]))
  await clone.commit({ 'neurons/lunch.md': page('Lunch', 'At noon.'), ...files(3) })
  expect((await clone.push('HEAD:refs/for/main')).stderr).toContain('too long to be proposed with a page')
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  const pages = Array.from({ length: 160 }, (_, at) => [`neurons/${at}.md`, page(`Page ${at}`, 'At noon.')])
  await clone.commit({ ...Object.fromEntries(pages), ...files(2) })
  expect((await clone.push('HEAD:refs/for/main')).stderr).toContain('too long for so many pages')
  expect(await candidates(product, 'pending')).toEqual([])
})

test('answer tests that conflict with those of main are proposed again', async () => {
  const { product, clone } = await withPolicy()
  await clone.commit({ 'tests/answers.yaml': testOf('the lead') })
  await clone.push('main')
  await clone.git('pull', '--quiet')
  await clone.commit({ 'neurons/lunch.md': page('Lunch', 'At noon.'), 'tests/answers.yaml': testOf('page') })
  await clone.push('HEAD:refs/for/main')
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  await clone.commit({ 'tests/answers.yaml': testOf('VIP') })
  await clone.push('main')

  const id = String((await candidates(product, 'pending'))[0]?.candidateId)
  const refused = await approve(product, id)
  expect(refused).toMatchObject({
    status: 409,
    body: { error: 'merge_conflict', message: 'tests/answers.yaml has changed since: propose the tests again.' },
  })
  expect(await candidateDetail(product, id)).toMatchObject({
    effects: { state: 'failed' },
    tests: [{ before: testOf('VIP'), after: testOf('page') }],
  })
  await clone.git('pull', '--quiet', '--rebase')
  await clone.commit({
    'neurons/lunch.md': page('Lunch', 'At noon.'),
    'tests/answers.yaml': testOf('VIP') + testOf('page'),
  })
  expect((await clone.push('HEAD:refs/for/main')).stderr).toContain('updated "Lunch"')
  expect(await approve(product, id)).toMatchObject({ status: 200 })
  await clone.git('fetch', '--quiet', 'origin')
  expect(await clone.git('show', 'origin/main:tests/answers.yaml')).toBe((testOf('VIP') + testOf('page')).trimEnd())
})
