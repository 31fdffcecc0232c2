import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Advertisements } from '../../../src/git/serve/ls-refs.ts'
import { tempDir } from '../../support/temp.ts'

const v2 = 'version=2'

async function* pieces(...texts: (string | Error)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  }
}

async function read(output: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const piece of output) text += piece
  return text
}

function repository(): string {
  const gitDir = tempDir()
  writeFileSync(join(gitDir, 'config'), '[core]\n')
  return gitDir
}

test('what was said whole is said again, to the same version of the protocol, until the configuration changes', async () => {
  const [gitDir, other] = [repository(), repository()]
  const advertisements = new Advertisements()
  expect(advertisements.find(gitDir, v2)).toBeUndefined()
  expect(await read(advertisements.keep(gitDir, v2, pieces('one', ' two')))).toBe('one two')
  expect(advertisements.find(gitDir, v2)?.toString()).toBe('one two')
  expect(advertisements.find(other, v2)).toBeUndefined()
  expect(advertisements.find(gitDir, 'version=2:x')).toBeUndefined()
  writeFileSync(join(gitDir, 'config'), '[transfer]\n')
  expect(advertisements.find(gitDir, v2)).toBeUndefined()
})

test('what was cut off, or is too long, is not kept', async () => {
  const gitDir = repository()
  const advertisements = new Advertisements()
  await expect(read(advertisements.keep(gitDir, v2, pieces('one', new Error('cut'))))).rejects.toThrow('cut')
  expect(advertisements.find(gitDir, v2)).toBeUndefined()
  await read(advertisements.keep(gitDir, v2, pieces('x'.repeat(5000))))
  expect(advertisements.find(gitDir, v2)).toBeUndefined()
})
