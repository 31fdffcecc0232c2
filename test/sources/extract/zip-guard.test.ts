import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readZip } from '../../../src/sources/extract/office/office-package.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ganglion-zip-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(bytes: Uint8Array, isWanted?: (name: string) => boolean): Promise<Map<string, Buffer>> {
  const file = join(folder, 'archive')
  await writeFile(file, bytes)
  return readZip(file, isWanted)
}

const small = zipSync({ 'a.xml': Buffer.from('<a/>'), 'b/c.xml': Buffer.from('<c/>') })

test('gives back what is wanted', async () => {
  const entries = await read(small, (name) => name.startsWith('b/'))
  expect([...entries].map(([name, bytes]) => [name, bytes.toString()])).toEqual([['b/c.xml', '<c/>']])
})

test('an archive that unpacks to much more than it is is refused', async () => {
  await expect(read(zipSync({ a: Buffer.alloc(12 * 2 ** 20) }))).rejects.toMatchObject({ problem: 'too-large' })
})

test('the sizes that its directory says are not believed', async () => {
  const bomb = Buffer.from(zipSync({ a: Buffer.alloc(12 * 2 ** 20) }))
  const directory = bomb.lastIndexOf(Buffer.from('504b0102', 'hex'))
  bomb.writeUInt32LE(10, directory + 24)
  await expect(read(bomb)).rejects.toMatchObject({ problem: expect.stringMatching(/too-large|corrupt/) })
})

test('so is one of very many files', async () => {
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`${index}`, new Uint8Array()]))
  await expect(read(zipSync(many, { level: 0 }))).rejects.toMatchObject({ problem: 'too-large' })
})

test.each<[string, Uint8Array, string]>([
  ['half of one', small.subarray(0, small.length / 2), 'corrupt'],
  ['a page', Buffer.from('<html></html>'), 'wrong-type'],
  ['what is encrypted', Buffer.from('d0cf11e0a1b11ae1000000', 'hex'), 'encrypted'],
  ['names that lead outside', zipSync({ '../a': Buffer.from('x') }), 'corrupt'],
])('%s is refused', async (_, bytes, problem) => {
  await expect(read(bytes)).rejects.toMatchObject({ problem })
})
