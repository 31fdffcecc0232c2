import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ObjectReader } from '../../src/git/objects/object-reader.ts'
import { tempDir } from '../support/temp.ts'
import { nativeGit } from './support/native-git.ts'

test('an object that is too large is not read, and those asked for around it are', async () => {
  const gitDir = join(tempDir(), 'a.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', gitDir])
  const write = (content: string) => nativeGit(gitDir, ['hash-object', '-w', '--stdin'], content)
  const [small, large, exact] = [write('small'), write('x'.repeat(300_001)), write('y'.repeat(300_000))]
  const reader = new ObjectReader(gitDir, {}, 300_000)
  const sizeOf = async (oid: string) => (await reader.read(oid))?.data.length
  const asked = [small, large, exact, large, '1'.repeat(40), small].map(sizeOf)
  const tooLarge = { status: 'rejected', reason: expect.objectContaining({ code: 'object-too-large' }) }
  const read = (value: number | undefined) => ({ status: 'fulfilled', value })
  expect(await Promise.allSettled(asked)).toEqual([
    read(5),
    tooLarge,
    read(300_000),
    tooLarge,
    read(undefined),
    read(5),
  ])
  await expect(sizeOf(large)).rejects.toMatchObject(tooLarge.reason)
  expect(await sizeOf(exact)).toBe(300_000)
  reader.close()
})
