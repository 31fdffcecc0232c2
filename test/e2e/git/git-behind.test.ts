import { expect, test } from 'vitest'
import type { Product } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approved, candidateDetail, candidates, neuron, soundProduct } from './git-support.ts'

const forMain = 'HEAD:refs/for/main'

async function behind(): Promise<{ product: Product; seqId: string; path: string; ours: Clone; theirs: Clone }> {
  const product = await soundProduct()
  const seqId = await approved(product, 'Holidays', 'Thirty days.')
  const ours = await Clone.of(product, product.tokens.curator)
  const theirs = await Clone.of(product, product.tokens.curator)
  return { product, seqId, path: await ours.git('ls-files', 'neurons'), ours, theirs }
}

async function approve(product: Product): Promise<{ status: number; seqId: string }> {
  const [pending] = await candidates(product, 'pending')
  const path = `/api/v1/queue/candidates/${pending?.candidateId}/approve`
  const { status, body } = await product.request('POST', path, { as: product.tokens.curator })
  return { status, seqId: String(body.seqId) }
}

test('an edit of a page that main has moved since is proposed, and approved where the page is now', async () => {
  const { product, seqId, path, ours, theirs } = await behind()
  await theirs.git('mv', path, 'neurons/elsewhere.md')
  await theirs.commit({})
  expect((await theirs.push('main')).code).toBe(0)
  await ours.commit({ [path]: ours.read(path).replace('Thirty', 'Forty') })

  const { code, stderr } = await ours.push(forMain)
  expect([code, stderr]).toEqual([0, expect.stringContaining('new "Holidays"')])
  expect(await approve(product)).toEqual({ status: 200, seqId })
  const { body } = await neuron(product, seqId)
  expect(body).toMatchObject({ content: 'Forty days.', path: 'neurons/elsewhere.md' })
})

test('a new page whose path somebody took meanwhile is proposed, and gets another path', async () => {
  const { product, ours, theirs } = await behind()
  await theirs.commit({ 'neurons/clash.md': page('Theirs', 'Theirs was first.') })
  expect((await theirs.push('main')).code).toBe(0)
  await ours.commit({ 'neurons/clash.md': page('Ours', 'Ours came later.') })

  expect((await ours.push(forMain)).code).toBe(0)
  const pending = await candidates(product, 'pending')
  expect(pending).toMatchObject([{ title: 'Ours', target: null }])
  expect(await approve(product)).toEqual({ status: 200, seqId: 'handbook_00000003' })
  expect((await neuron(product, 'handbook_00000002')).body).toMatchObject({ title: 'Theirs', version: 1 })
})

test('a proposal that was approved and is pushed again is told so, and not made again', async () => {
  const { product, ours } = await behind()
  await ours.commit({ 'neurons/new.md': page('New', 'Something new.') })
  expect((await ours.push(forMain)).code).toBe(0)
  expect((await approve(product)).status).toBe(200)

  const { code, stderr } = await ours.push(forMain)
  expect([code, stderr]).toEqual([0, expect.stringMatching(/approved already: "New"[\s\S]*git pull --rebase/)])
  expect(await candidates(product, 'pending')).toEqual([])
})

test('a proposal that moves its page only in the second push moves it', async () => {
  const { product, seqId, path, ours } = await behind()
  await ours.commit({ [path]: ours.read(path).replace('Thirty', 'Forty') })
  expect((await ours.push(forMain)).stderr).toContain('new "Holidays"')
  await ours.git('mv', path, 'neurons/leave.md')
  await ours.commit({})
  expect((await ours.push(forMain)).stderr).toContain('updated "Holidays"')
  expect(await approve(product)).toEqual({ status: 200, seqId })
  expect((await neuron(product, seqId)).body).toMatchObject({ content: 'Forty days.', path: 'neurons/leave.md' })
})

test('a head that was deleted as it was before the candidate changed dismisses nothing', async () => {
  const { product, path, ours } = await behind()
  await ours.commit({ [path]: ours.read(path).replace('Thirty', 'Forty') })
  expect((await ours.push(forMain)).code).toBe(0)
  const [{ candidateId } = { candidateId: '' }] = await candidates(product, 'pending')
  const head = `refs/candidates/${candidateId}/head`
  await ours.git('fetch', '--quiet', 'origin', head)
  const judged = await ours.git('rev-parse', 'FETCH_HEAD')
  await ours.commit({ [path]: ours.read(path).replace('Forty', 'Fifty') })
  expect((await ours.push(forMain)).code).toBe(0)

  const { code, stderr } = await ours.push(`--force-with-lease=${head}:${judged}`, `:${head}`)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/has changed since|stale info/)])
  expect(await candidates(product, 'pending')).toHaveLength(1)
  await ours.git('fetch', '--quiet', 'origin', head)
  const present = await ours.git('rev-parse', 'FETCH_HEAD')
  expect((await ours.push(`--force-with-lease=${head}:${present}`, `:${head}`)).code).toBe(0)
  expect(await candidates(product, 'pending')).toEqual([])
})

test('a proposed branch that is pushed to main approves what it proposed', async () => {
  const { product, path, ours } = await behind()
  await ours.commit({
    [path]: ours.read(path).replace('Thirty', 'Forty'),
    'neurons/new.md': page('New', 'Something new.'),
  })
  expect((await ours.push(forMain)).code).toBe(0)
  const proposed = (await candidates(product, 'pending')).map(({ candidateId }) => candidateId)
  expect(proposed).toHaveLength(2)
  expect((await ours.push('HEAD:main')).code).toBe(0)
  expect(await candidates(product, 'pending')).toEqual([])
  const approvedNow = (await candidates(product, 'approved')).map(({ candidateId }) => candidateId)
  expect(approvedNow).toEqual(expect.arrayContaining(proposed))
  expect(approvedNow).toHaveLength(3)
})

test('a page that is taken out of a proposed branch withdraws its candidate, and one of another branch waits on', async () => {
  const { product, path, ours } = await behind()
  const base = await ours.git('rev-parse', 'HEAD')
  await ours.commit({
    'neurons/a.md': page('A', 'One.'),
    'neurons/b.md': page('B', 'Two.'),
    [path]: ours.read(path).replace('Thirty', 'Forty'),
  })
  expect((await ours.push(forMain)).code).toBe(0)
  ours.remove('neurons/a.md')
  await ours.git('checkout', '--quiet', base, '--', path)
  await ours.commit({})

  const { stderr } = await ours.push(forMain)
  for (const told of ['unchanged "B"', 'withdrawn "A"', 'withdrawn "Holidays"']) expect(stderr).toContain(told)
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toEqual(['B'])
  const dismissed = await candidates(product, 'dismissed')
  expect(dismissed.map(({ title }) => title)).toEqual(['A', 'Holidays'])
  const detail = await candidateDetail(product, String(dismissed[0]?.candidateId))
  expect(detail.decisions).toMatchObject([
    { action: 'dismiss', by: 'curator', reason: 'Withdrawn by curator: a later push took it out.' },
  ])

  await ours.git('reset', '--quiet', '--hard', base)
  await ours.commit({ 'neurons/c.md': page('C', 'Three.') })
  const elsewhere = await ours.push(forMain)
  const [waiting] = await candidates(product, 'pending')
  expect(elsewhere.stderr).toMatch(/new "C"[\s\S]*still waiting from earlier ones/)
  expect(elsewhere.stderr).toContain(`"B": git push origin :refs/candidates/${waiting?.candidateId}/head`)
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toEqual(['B', 'C'])
})

test('with a topic a push is all of what is proposed under it', async () => {
  const { product, ours } = await behind()
  const topic = ['-o', 'topic=night', forMain]
  await ours.commit({ 'neurons/a.md': page('A', 'One.'), 'neurons/b.md': page('B', 'Two.') })
  expect((await ours.push(...topic)).code).toBe(0)
  ours.remove('neurons/a.md')
  await ours.git('add', '--all')
  await ours.git('commit', '--quiet', '--amend', '-m', 'Only one')

  expect((await ours.push(...topic)).stderr).toMatch(/unchanged "B"[\s\S]*withdrawn "A"/)
  expect((await candidates(product, 'pending')).map(({ title }) => title)).toEqual(['B'])
})

test('who proposes again what a curator has dismissed is told so', async () => {
  const { product, ours } = await behind()
  await ours.commit({ 'neurons/new.md': page('New', 'Something new.') })
  expect((await ours.push(forMain)).code).toBe(0)
  const [{ candidateId } = { candidateId: '' }] = await candidates(product, 'pending')
  const dismissal = { as: product.tokens.curator, body: { reason: 'Too short.' } }
  await product.request('POST', `/api/v1/queue/candidates/${candidateId}/dismiss`, dismissal)
  await ours.commit({ 'neurons/new.md': page('New', 'Something new, and longer.') })

  expect((await ours.push(forMain)).stderr).toMatch(
    /new "New"[\s\S]*an earlier proposal of it was dismissed by curator \("Too short."\)/,
  )
})
