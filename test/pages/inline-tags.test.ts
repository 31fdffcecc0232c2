import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { listNeurons } from '../../src/pages/list-neurons.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { checkDirectory } from '../../src/push/clone-check/check-directory.ts'
import { search } from '../../src/search/kb/search-kb.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { fileOf, type Importing, importing, neuronOf, pushAsCurator, put } from '../kb/support/import-support.ts'
import { tempDir } from '../support/temp.ts'

const vault = {
  'Open.md': '---\ntags: [Plan, front]\n---\n\nZebra, #plan and #topic/sub.\n',
  'Hidden.md': 'Zebra, #Internal.\n',
  'Nested.md': 'Zebra.\n\n#internal/hr\n',
  'Code.md': 'Zebra, `#internal`.\n',
}

/** The titles of the Neurons that a reader finds by a word and in the list, and those that it can read. */
async function seen({ ctx, reader }: Importing, paths: readonly string[] = []) {
  const { documents } = await search(ctx, reader, 'notes', { q: 'zebra', kind: 'all', limit: 10 })
  const { neurons } = await listNeurons(ctx, reader, 'notes', { limit: 10 })
  const found = documents.map(({ title }) => title ?? '').sort()
  expect(neurons.map(({ title }) => title).sort()).toEqual(found)
  const read = await Promise.all(
    paths.map((seqId) =>
      readNeuron(ctx, reader, { kb: 'notes', seqId }).then(
        ({ title }) => [title],
        () => [],
      ),
    ),
  )
  if (paths.length > 0) expect(read.flat().sort()).toEqual(found)
  return found
}

function setInlineTags(given: Importing, value: string): Promise<void> {
  pushAsCurator(given, (clone) => {
    put(
      clone,
      'kb.yaml',
      `${fileOf(given, 'kb.yaml')
        .replace(/^inlineTags:.*$/m, '')
        .trimEnd()}\ninlineTags: ${value}\n`,
    )
  })
  return given.kb.sync()
}

test('in an Obsidian vault #tags in the text are tags, and #internal hides as front matter does', async () => {
  const given = await importing({ ...vault, '.obsidian/app.json': '{}' })
  const before = fileOf(given, 'kb.yaml')
  await given.run()
  expect(fileOf(given, 'kb.yaml')).toBe(`${before}\ninlineTags: true`)
  const names = ['Open', 'Hidden', 'Nested', 'Code']
  const neurons = await Promise.all(names.map((name) => neuronOf(given, `neurons/${name}.md`)))
  expect(neurons.map(({ tags }) => tags)).toEqual([['Plan', 'front', 'topic/sub'], ['Internal'], ['internal/hr'], []])
  const ids = neurons.map(({ seqId }) => seqId)
  expect(await seen(given, ids)).toEqual(['Code', 'Open'])
  const [, hidden] = neurons
  const past = readNeuron(given.ctx, given.reader, {
    kb: 'notes',
    seqId: hidden?.seqId ?? '',
    at: hidden?.commit ?? '',
  })
  await expect(past).rejects.toMatchObject({ code: 'not_found' })
  const tagged = await listNeurons(given.ctx, given.curator, 'notes', { tag: 'TOPIC/sub', limit: 10 })
  expect(tagged.neurons.map(({ title }) => title)).toEqual(['Open'])
})

test('the setting holds from its commit on, for all Neurons, and the same after a rebuild', async () => {
  const given = await importing(vault)
  const { notices } = await given.run()
  expect(notices.map(({ path, line }) => [path, line])).toEqual([
    ['Hidden.md', 1],
    ['Nested.md', 3],
  ])
  expect(await seen(given)).toEqual(['Code', 'Hidden', 'Nested', 'Open'])
  expect((await neuronOf(given, 'neurons/Open.md')).tags).toEqual(['Plan', 'front'])

  await setInlineTags(given, 'true')
  expect(await seen(given)).toEqual(['Code', 'Open'])
  expect((await neuronOf(given, 'neurons/Open.md')).tags).toEqual(['Plan', 'front', 'topic/sub'])
  await setInlineTags(given, 'false')
  expect(await seen(given)).toEqual(['Code', 'Hidden', 'Nested', 'Open'])
  // What cannot be read may have been true.
  await setInlineTags(given, 'perhaps')
  expect(await seen(given)).toEqual(['Code', 'Open'])

  const dataDir = join(given.gitDir, '../..')
  await given.ctx.close()
  rmSync(join(dataDir, 'index'), { recursive: true })
  const ctx = await openContext({ dataDir })
  try {
    expect(await seen({ ...given, ctx })).toEqual(['Code', 'Open'])
  } finally {
    await ctx.close()
  }
})

test('an import turns the setting on where kb.yaml does not say otherwise, or where that is asked for', async () => {
  const given = await importing({ 'Hidden.md': vault['Hidden.md'], '.obsidian/app.json': '{}' })
  await setInlineTags(given, 'false')
  expect((await given.run()).notices.map(({ path }) => path)).toEqual(['Hidden.md'])
  expect((await given.run({ inlineTags: true })).notices.map(({ path }) => path)).toEqual(['kb.yaml'])
  expect((await given.run({ inlineTags: true })).notices).toEqual([])
  expect(await seen(given)).toEqual([])
})

test('check warns of #internal in a text where it hides nothing', async () => {
  const given = await importing(vault)
  await given.run()
  const findings = async () => {
    const clone = tempDir()
    nativeGit(clone, ['clone', '--quiet', given.gitDir, '.'])
    const { findings: all } = await checkDirectory(clone, {})
    return all.filter(({ rule }) => rule === 'inline-internal').map(({ path, line }) => [path, line])
  }
  const lineOf = (path: string) => {
    const lines = fileOf(given, path).split('\n')
    return [path, lines.findIndex((line) => /#internal/i.test(line)) + 1]
  }
  expect(await findings()).toEqual(['neurons/Hidden.md', 'neurons/Nested.md'].map(lineOf))
  await setInlineTags(given, 'true')
  expect(await findings()).toEqual([])
})
