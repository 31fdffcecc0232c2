import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { restore } from '../../../src/operate/backup/restore.ts'
import { eventually } from '../../support/eventually.ts'
import { newState } from '../../support/new-database.ts'
import { tempDir } from '../../support/temp.ts'
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
import { outsideWriter } from './outside-writer.ts'

const seq = (number: number) => `handbook_${String(number).padStart(8, '0')}`

/** A product, what it is restored to, and the clones of curators who have seen what the backup has not. */
async function withBackup(): Promise<{ product: Product; dir: string; clone: Clone; waiting: string }> {
  const product = await soundProduct()
  await approved(product, 'First', 'One.\n\nTwo.\n\nThree.')
  const waiting = await submitted(product, 'Waiting', 'It waited when the backup was made.')
  const dir = join(tempDir(), 'backup')
  await backup(product.ctx, dir, { version: '1.2.3' })
  return { product, dir, waiting, clone: await Clone.of(product, product.tokens.curator) }
}

/** A server of the same kind on the backup; keys of the first are keys of it too. */
async function restoredFrom({ product, dir }: { product: Product; dir: string }): Promise<Product> {
  const dataDir = join(tempDir(), 'restored')
  const shared = await newState()
  await restore(dir, { dataDir, ...shared })
  const onError = (error: unknown) => {
    throw error
  }
  return { ...(await soundProduct({ restored: dataDir, shared, onError })), tokens: product.tokens }
}

const fieldsAt = (clone: Clone, path: string) => parseNeuronFile(clone.read(path)).fields

test('a clone that is ahead of a restored server brings its knowledge back under the ids that it had', async () => {
  const bed = await withBackup()
  const { product, clone, waiting } = bed
  await approve(product, await submitted(product, 'First', 'One.\n\nTwo, better.\n\nThree.', correctionOf(seq(1))))
  await approved(product, 'Second', 'By the API.')
  expect((await approve(product, waiting)).body).toMatchObject({ seqId: seq(3) })
  await clone.git('pull', '--quiet')
  await clone.commit({ 'neurons/fourth.md': page('Fourth', 'By a push.') })
  expect((await clone.push('main')).code).toBe(0)
  await approved(product, 'Fifth', 'It is deleted again.')
  await clone.git('pull', '--quiet')
  clone.remove(await clone.git('ls-files', 'neurons/*fifth*'))
  await clone.commit({}, 'Delete')
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  const numbers = [1, 2, 3, 4]
  const readAll = async (from: Product) => {
    const answers = await Promise.all(numbers.map((number) => neuron(from, seq(number))))
    return answers.map(({ status, body: { title, content, documentId } }) => ({ status, title, content, documentId }))
  }
  const before = await readAll(product)
  const paths = (await clone.git('ls-files', 'neurons')).split('\n')
  const fields = paths.map((path) => fieldsAt(clone, path))

  const again = await restoredFrom(bed)
  await clone.moveTo(again, product.tokens.curator)
  const { code, stderr } = await clone.push('main')

  expect([code, stderr]).toEqual([0, expect.stringContaining(`restored ${seq(2)} "Second"`)])
  expect(await readAll(again)).toEqual(before)
  await clone.git('pull', '--quiet')
  expect(paths.map((path) => fieldsAt(clone, path))).toEqual(fields)
  for (const { candidate = '', seqId } of fields) {
    expect(await candidateDetail(again, candidate)).toMatchObject({ status: 'approved', seqId })
  }
  expect(await candidates(again, 'pending')).toEqual([])
  expect(await approved(again, 'New', 'After the restore.')).toBe(seq(10_002))
})

test('two clones that are ahead each bring what they have, also after main has moved on', async () => {
  const bed = await withBackup()
  const { product, clone } = bed
  const { curator } = product.tokens
  await approved(product, 'Second', 'Both have it.')
  await clone.git('pull', '--quiet')
  const other = await Clone.of(product, curator)
  await clone.commit({ 'neurons/mine.md': page('Mine', 'Only here.') })
  await approved(product, 'Third', 'Only the other clone has it.')
  await other.git('pull', '--quiet')

  const again = await restoredFrom(bed)
  for (const one of [clone, other]) await one.moveTo(again, curator)
  expect((await clone.push('main')).stderr).toMatch(/restored handbook_00000002 [\s\S]*added handbook_00010002 "Mine"/)
  expect((await other.push('main')).stderr).toContain('fetch first')
  await other.git('pull', '--quiet', '--no-rebase', '--no-edit')
  const { code, stderr } = await other.push('main')

  expect([code, stderr]).toEqual([0, expect.stringContaining(`restored ${seq(3)} "Third"`)])
  expect((await neuron(again, seq(2))).body).toMatchObject({ title: 'Second', version: 1 })
  expect((await neuron(again, seq(3))).body).toMatchObject({ title: 'Third', version: 1 })
})

test('a page of a lost version that was edited since points back to the candidate that had made it', async () => {
  const bed = await withBackup()
  const { product, clone } = bed
  await approved(product, 'Second', 'As it was approved.')
  await clone.git('pull', '--quiet')
  const path = await clone.git('ls-files', 'neurons/*second*')
  const { candidate = '' } = fieldsAt(clone, path)
  await clone.commit({ [path]: clone.read(path).replace('approved.', 'edited.') })

  const again = await restoredFrom(bed)
  await clone.moveTo(again, product.tokens.curator)
  expect((await clone.push('main')).code).toBe(0)

  expect((await neuron(again, seq(2))).body).toMatchObject({ content: 'As it was edited.' })
  expect(await candidateDetail(again, candidate)).toMatchObject({ content: 'As it was approved.', status: 'approved' })
})

test('a clone that is ahead brings its record back by path as well, with every version that it holds', async () => {
  const bed = await withBackup()
  const { product, clone, waiting } = bed
  await approve(product, await submitted(product, 'First', 'One, better.', correctionOf(seq(1))))
  await approve(product, await submitted(product, 'First', 'One, best.', correctionOf(seq(1))))
  await approved(product, 'Second', 'By the API.')
  await approve(product, waiting)
  await approved(product, 'Fourth', 'It is deleted again.')
  await clone.git('pull', '--quiet')
  clone.remove(await clone.git('ls-files', 'neurons/*fourth*'))
  await clone.commit({}, 'Delete')
  expect((await clone.push('main')).code).toBe(0)
  await clone.git('pull', '--quiet')
  const decided = async (from: Product) => {
    const listed = (await candidates(from, 'approved')).map(({ candidateId, title, seqId }) => [
      candidateId,
      title,
      seqId,
    ])
    return listed.sort()
  }
  const before = await decided(product)

  const again = await restoredFrom(bed)
  const outside = await outsideWriter(again.ctx, again.kbId)
  await clone.git('remote', 'add', 'path', outside.gitDir)
  await outside.publish(async () => expect((await clone.run('push', 'path', 'main')).code).toBe(0))

  await eventually(async () => expect(await decided(again)).toEqual(before))
  expect(await candidates(again, 'pending')).toEqual([])
  expect((await neuron(again, seq(1))).body).toMatchObject({ content: 'One, best.', version: 3 })
})

test('a forged history takes no id that another Neuron holds, none above the floor, and none of another KB', async () => {
  const bed = await withBackup()
  const { product, clone } = bed
  await approved(product, 'Second', 'Lost.')
  const again = await restoredFrom(bed)
  const held = await approved(again, 'Held', 'After the restore.')
  await clone.moveTo(again, product.tokens.curator)
  await clone.git('pull', '--quiet')
  const before = await clone.git('rev-parse', 'HEAD')
  const forge = async (
    number: number,
    more: Record<string, string> = {},
    author = 'curator <key@ganglion.invalid>',
  ) => {
    await clone.git('reset', '--quiet', '--hard', before)
    clone.write('neurons/forged.md', page('Forged', 'Text.', { seqId: seq(number), ...more }))
    await clone.git('add', '--all')
    const trailers = `Candidate: 0199a5c1-0000-7000-8000-000000000002\nNeuron: ${seq(number)}`
    await clone.git('commit', '--quiet', '-m', `Add "Forged"\n\n${trailers}`, `--author=${author}`)
    return clone.push('main')
  }

  expect((await forge(Number(held.slice(-8)))).stderr).toContain(`The seqId ${held} belongs to`)
  expect((await forge(1)).stderr).toContain(`The seqId ${seq(1)} belongs to`)
  expect((await forge(20_000)).stderr).toContain(`The seqId ${seq(20_000)} was never given`)
  expect((await forge(2, {}, 'Ada <ada@example.com>')).stderr).toContain(`The seqId ${seq(2)} was never given`)
  const { id } = fieldsAt(clone, await clone.git('ls-files', 'neurons/*held*'))
  expect((await forge(2, { id: String(id) })).stderr).toContain('belongs to')
  expect(await clone.git('ls-remote', 'origin', 'refs/heads/main')).toContain(before)

  const foreign = '0199a5c1-0000-7000-8000-000000000002'
  expect((await forge(2, { candidate: foreign })).code).toBe(0)
  await clone.git('pull', '--quiet')
  expect(fieldsAt(clone, 'neurons/forged.md').candidate).not.toBe(foreign)
  expect(await approved(again, 'New', 'Next.')).toBe(seq(10_003))
})

test('without a restore nobody brings a seqId that was never given', async () => {
  const product = await soundProduct()
  await approved(product, 'First', 'One.')
  const clone = await Clone.of(product, product.tokens.curator)
  clone.write('neurons/forged.md', page('Forged', 'Text.', { seqId: seq(2) }))
  await clone.git('add', '--all')
  await clone.git('commit', '--quiet', '-m', 'Add', '--author=curator <key@ganglion.invalid>')
  expect((await clone.push('main')).stderr).toContain(`The seqId ${seq(2)} was never given`)
})
