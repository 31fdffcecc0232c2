import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SourceTexts } from '../../../src/sources/ingest/source-texts.ts'
import { folderJson } from '../../../src/state/blobs/kept-json.ts'
import { tempDir } from '../../support/temp.ts'

function newTexts() {
  const [directory, incoming] = [join(tempDir(), 'texts'), join(tempDir(), 'incoming')]
  for (const folder of [directory, incoming]) if (!existsSync(folder)) mkdirSync(folder)
  return { directory, texts: new SourceTexts(folderJson(directory, incoming)) }
}

const text = (markdown: string) => ({ title: undefined, markdown, anchors: [], warnings: [] })

test('a text that is read again does not come from the disk, unless it was read from its document anew', async () => {
  const { directory, texts } = newTexts()
  await texts.keep({ id: 'a' }, text('first'))
  expect((await texts.read({ id: 'a' }))?.markdown).toBe('first')
  await texts.keep({ id: 'a' }, text('second'))
  expect((await texts.read({ id: 'a' }))?.markdown).toBe('second')
  rmSync(directory, { recursive: true })
  expect((await texts.read({ id: 'a' }))?.markdown).toBe('second')
  expect(await texts.find({ id: 'a' })).toBeUndefined()
  expect(await texts.read({ id: 'b' })).toBeUndefined()
})

test('memory holds the texts that were read last, up to a size', async () => {
  const { directory, texts } = newTexts()
  const half = 'x'.repeat(4 * 2 ** 20)
  for (const id of ['a', 'b', 'c']) {
    await texts.keep({ id }, text(half))
    await texts.read({ id })
    if (id === 'b') await texts.read({ id: 'a' })
  }
  await texts.keep({ id: 'large' }, text('x'.repeat(9 * 2 ** 20)))
  rmSync(directory, { recursive: true })
  const isHeld = async (id: string) => (await texts.read({ id })) !== undefined
  expect([await isHeld('a'), await isHeld('b'), await isHeld('c')]).toEqual([true, false, true])
})
