import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { Clone, page } from './git-clone.ts'
import { approved, neuron, soundProduct } from './git-support.ts'

async function oneNeuron() {
  const product = await soundProduct()
  const seqId = await approved(product, 'Holidays', 'Thirty days.')
  const clone = await Clone.of(product, product.tokens.curator)
  const path = await clone.git('ls-files', 'neurons')
  const text = clone.read(path)
  return { product, seqId, clone, path, text, id: parseNeuronFile(text).fields.id ?? '' }
}

test.each([
  ['without its id', (text: string) => text.replace(/^id: .*\n/m, '')],
  ['with another id', (text: string) => text.replace(/^id: .*$/m, 'id: 0199a5c2-0000-7000-8000-000000000001')],
])('a deleted page that comes back %s has its own again', async (_, change) => {
  const { product, seqId, clone, path, text, id } = await oneNeuron()
  await clone.git('rm', '--quiet', path)
  await clone.commit({})
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  await clone.commit({ [path]: change(text) })
  const { code, stderr } = await clone.push('main')
  expect([code, stderr]).toEqual([0, expect.stringContaining(`restored ${seqId}`)])
  expect((await neuron(product, seqId)).body).toMatchObject({ documentId: id })
})

test('the id of a Neuron that is gone, or goes, is for no other page', async () => {
  const { clone, seqId, path, text, id } = await oneNeuron()
  await clone.git('mv', path, 'neurons/moved.md')
  await clone.commit({ 'neurons/moved.md': text.replace(/^seqId: .*\n/m, '') })
  const moved = await clone.push('main')
  const refused = new RegExp(`neurons/\\w+\\.md:1: The id ${id} is that of ${seqId}: give the page that seqId back`)
  expect([moved.code, moved.stderr]).toEqual([1, expect.stringMatching(refused)])

  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  await clone.git('rm', '--quiet', path)
  await clone.commit({})
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  await clone.commit({ 'neurons/fresh.md': page('Fresh', 'New.').replace('---\n', `---\nid: ${id}\n`) })
  const fresh = await clone.push('main')
  expect([fresh.code, fresh.stderr]).toEqual([1, expect.stringMatching(refused)])
  await clone.git('reset', '--quiet', '--hard', 'origin/main')
  await clone.commit({ [path]: text })
  expect((await clone.push('main')).stderr).toContain(`restored ${seqId}`)
})

test('a page that takes the place of a deleted one is there, with its own seqId', async () => {
  const { product, seqId, clone, path } = await oneNeuron()
  const other = await approved(product, 'Parking', 'Behind the house.')
  await clone.git('pull', '--quiet')
  const [from = ''] = (await clone.git('ls-files', 'neurons')).split('\n').filter((name) => name !== path)
  await clone.git('rm', '--quiet', path)
  await clone.git('mv', from, path)
  await clone.commit({})
  const { code, stderr } = await clone.push('main')
  expect([code, stderr]).toEqual([0, expect.stringContaining(`removed ${seqId}`)])
  expect((await neuron(product, seqId)).status).toBe(404)
  expect((await neuron(product, other)).body).toMatchObject({ title: 'Parking', path, content: 'Behind the house.' })
})

test('a page that links to one by the title that the same push changes is told nothing', async () => {
  const { clone, path, text } = await oneNeuron()
  await clone.commit({
    [path]: text.replace('title: Holidays', 'title: Leave'),
    'neurons/rules.md': page('Rules', 'See [[Holidays]] and [[Leave]], and not [[Nothing]].'),
  })
  const { code, stderr } = await clone.push('main')
  expect(code).toBe(0)
  expect(stderr.match(/No Neuron answers to \[\[\w+\]\]/g)).toEqual(['No Neuron answers to [[Nothing]]'])
})
