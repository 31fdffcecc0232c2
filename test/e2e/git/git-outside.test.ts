import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDir } from '../../support/temp.ts'
import { type Product, startProduct } from '../support.ts'
import { Clone, page } from './git-clone.ts'
import { approved, candidates, neuron } from './git-support.ts'
import { outsideWriter } from './outside-writer.ts'

async function followed() {
  const errors: unknown[] = []
  const product = await startProduct({ onError: (error) => errors.push(error) })
  await approved(product, 'First', 'One.')
  const clone = await Clone.of(product, product.tokens.curator)
  const outside = await outsideWriter(product.ctx, product.kbId)
  await clone.git('remote', 'add', 'path', outside.gitDir)
  const pushByPath = () => outside.publish(async () => expect((await clone.run('push', 'path', 'main')).code).toBe(0))
  return { product, errors, clone, pushByPath }
}

async function hits(product: Product, words: string): Promise<string[]> {
  const path = `/api/v1/knowledge-bases/handbook/search?q=${encodeURIComponent(words)}`
  const { body } = await product.request('GET', path, { as: product.tokens.app })
  return (body.documents as { title: string }[]).map(({ title }) => title)
}

test('what is pushed by path gets what the server gives, and is found', async () => {
  const { product, errors, clone, pushByPath } = await followed()
  await clone.commit({ 'neurons/outside.md': page('From outside', 'The quick wombat.') })
  await pushByPath()

  const seqId = 'handbook_00000002'
  await eventually(async () => expect(await hits(product, 'wombat')).toContain('From outside'))
  const [made] = (await candidates(product, 'approved')).filter(({ connector }) => connector === 'git')
  expect(made).toMatchObject({ seqId, title: 'From outside' })
  expect((await neuron(product, seqId)).body).toMatchObject({ title: 'From outside', content: 'The quick wombat.' })
  await clone.git('pull', '--quiet')
  expect(parseNeuronFile(clone.read('neurons/outside.md')).fields).toMatchObject({
    seqId,
    candidate: made?.candidateId,
  })
  expect(errors).toEqual([])
})

test('what breaks a rule is reported by verify and in an event, and is no Neuron', async () => {
  const { product, clone, pushByPath } = await followed()
  const [first = ''] = (await clone.git('ls-files', 'neurons')).split('\n')
  await clone.commit({ 'neurons/copy.md': clone.read(first), 'neurons/broken.md': '---\ntitle: [\n---\n\nWombat.\n' })
  await pushByPath()

  const { tenantId } = (await product.ctx.knowledgeBases.list())[0] ?? { tenantId: '' }
  const told = await eventually(async () => {
    const events = await product.ctx.events.after(tenantId, 0, 100)
    const found = events.find(({ data }) => data.problems !== undefined)
    if (found === undefined) throw new Error('It was not told.')
    return found
  })
  expect(told).toMatchObject({ kind: 'kb.pushed', isCuratorOnly: true })
  expect(told.data.problems?.join('\n')).toMatch(
    /neurons\/broken\.md:\d+: [\s\S]*neurons\/copy\.md:1: The seqId .* already/,
  )
  const { kbs } = await verify(product.ctx)
  const problems = kbs.flatMap((kb) => kb.problems.map(({ message }) => message)).join('\n')
  expect(problems).toMatch(/neurons\/broken\.md:\d+ /)
  expect(problems).toMatch(/neurons\/copy\.md:1 duplicate-seq-id/)
  expect(await hits(product, 'wombat')).toEqual([])
  expect((await neuron(product, 'handbook_00000001')).body).toMatchObject({ title: 'First', version: 1 })
})

test('a push over HTTP is found by search within a second', async () => {
  const { product, clone } = await followed()
  expect(await hits(product, 'One')).toEqual(['First'])
  await clone.commit({ 'neurons/new.md': page('Brand new', 'A numbat.') })
  expect((await clone.push('main')).code).toBe(0)
  await eventually(async () => expect(await hits(product, 'numbat')).toContain('Brand new'))
})

test.each(['x\n', `${'1'.repeat(40)}\n`])('a stray ref that holds %j stops no clone, push or backup', async (held) => {
  const { product, clone } = await followed()
  const stray = 'refs/heads/stray'
  writeFileSync(join(product.gitDir, stray), held)

  for (const version of [0, 1, 2]) {
    const copy = await Clone.of(product, product.tokens.curator, '-c', `protocol.version=${version}`)
    expect(await copy.git('for-each-ref')).not.toContain('stray')
  }
  await clone.commit({ 'neurons/pushed.md': page('Pushed', 'The quick wombat.') })
  expect((await clone.run('push', 'origin', 'main')).stderr).toContain('main -> main')
  await backup(product.ctx, join(tempDir(), 'backup'), { version: '1' })
  const { kbs } = await verify(product.ctx)
  // In a cluster the repository is a copy, which git itself looks at.
  expect(kbs[0]?.problems.map(({ message }) => message)).toContainEqual(expect.stringContaining(stray))
  expect(readFileSync(join(product.gitDir, stray), 'utf8')).toBe(held)
})
