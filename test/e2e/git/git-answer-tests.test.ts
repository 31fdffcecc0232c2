import { expect, test } from 'vitest'
import { bridged } from '../forge/forge-support.ts'
import { Clone } from './git-clone.ts'
import { approved, correctionOf, soundProduct, submitted } from './git-support.ts'

const question = 'Who is paged for a VIP ticket?'
const policy = 'When a VIP customer raises a ticket, page the lead.'

test('answer tests ride in pushes, and the terminal shows what a push breaks', async () => {
  const product = await soundProduct()
  const seqId = await approved(product, 'VIP policy', policy)
  const clone = await Clone.of(product, product.tokens.curator)
  const page = (await clone.git('ls-files', 'neurons')).split('\n').find((path) => path.endsWith('.md')) ?? ''
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

  await clone.commit({ [page]: clone.read(page).replace('the lead', 'nobody') })
  // Who does not wait is answered without; the same push again has them.
  const propose = async (): Promise<string> => {
    const { stderr } = await clone.push('HEAD:refs/for/main')
    return stderr.includes('still being run') ? propose() : stderr
  }
  const proposed = await propose()
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
