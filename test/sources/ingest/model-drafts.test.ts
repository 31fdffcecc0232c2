import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Draft } from '../../../src/sources/compile/model/model-draft.ts'
import { draftsIn } from '../../../src/sources/ingest/source-texts.ts'
import { folderJson } from '../../../src/state/blobs/kept-json.ts'

const draft: Draft = {
  title: 'Refunds',
  gist: ['Support refunds up to 200 euros.'],
  tags: [],
  edges: [{ type: 'cites', target: 'Salaries' }],
  pages: [{ title: 'Limits', parts: [0], statements: [{ text: 'Two.', isItem: true }], tags: [], edges: [] }],
  gap: 'too-long',
}

test('a draft is found again by another process, and one that is damaged or missing is not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'drafts-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await draftsIn(folderJson(directory, directory)).keep('0a', draft)
  const drafts = draftsIn(folderJson(directory, directory))
  expect(await drafts.find('0a')).toEqual(draft)
  expect(await drafts.find('0b')).toBeUndefined()

  const [file = ''] = await readdir(directory)
  for (const damaged of ['{"gist":', '{"gist":[]}', '']) {
    await writeFile(join(directory, file), damaged)
    expect(await drafts.find('0a')).toBeUndefined()
  }
})
