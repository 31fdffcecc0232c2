import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../src/markdown/neuron-file.ts'
import { OutsideAdoption } from '../../src/services/push/adopt-outside.ts'
import { approveCandidate } from '../../src/services/queue/approve-candidate.ts'
import { listCandidates } from '../../src/services/queue/list-candidates.ts'
import { submitCandidate } from '../../src/services/queue/submit-candidate.ts'
import { findNeuron } from '../../src/store/neuron-queries.ts'
import { NativeWriter } from './native-writer.ts'
import { candidate, newTestBed } from './support.ts'

const main = 'refs/heads/main'

async function bed() {
  const test = await newTestBed()
  const kb = await test.ganglion.kb(test.curator.tenantId, 'handbook')
  const native = new NativeWriter(test.gitDir)
  const adoption = new OutsideAdoption(kb, test.ganglion)
  const adopt = async () => {
    await kb.sync()
    return adoption.adopt()
  }
  const byGit = async () => {
    const { candidates } = await listCandidates(test.ganglion, test.curator, { limit: 100, connector: 'git' })
    return candidates
  }
  const add = async (title: string, content: string) => {
    const { candidateId } = await submitCandidate(test.ganglion, test.app, candidate({ title, content }))
    await approveCandidate(test.ganglion, test.curator, candidateId, {})
  }
  return { ...test, kb, native, adopt, byGit, add, sql: kb.projection.read }
}

test('a page that was committed around the server gets its seqId, id and candidate in a follow-up commit', async () => {
  const { native, adopt, byGit, sql } = await bed()
  native.commit(main, new Map([['neurons/vip.md', '---\ntitle: VIP\n---\n\nPage the lead.\n']]))
  const pushed = native.git('rev-parse', main)

  expect(await adopt()).toEqual([])

  expect(native.git('rev-parse', `${main}^`)).toBe(pushed)
  const { fields, content } = parseNeuronFile(native.read(main, 'neurons/vip.md'))
  expect(fields).toMatchObject({ seqId: 'handbook_00000001', title: 'VIP' })
  expect(content).toBe('Page the lead.')
  const [row] = await byGit()
  expect(row).toMatchObject({ status: 'approved', seqId: 'handbook_00000001', candidateId: fields.candidate })
  expect(findNeuron(sql, 'handbook_00000001')).toMatchObject({ documentId: fields.id, title: 'VIP' })
  const head = native.git('rev-parse', main)
  expect(await adopt()).toEqual([])
  expect(native.git('rev-parse', main)).toBe(head)
})

test('edits, renames and deletions get a candidate each, and a rename keeps the old title', async () => {
  const { native, adopt, byGit, add, sql } = await bed()
  await add('First', 'One.')
  await add('Second', 'Two.')
  const [first = '', second = ''] = native.paths(main, 'neurons')
  const text = native.read(main, first)
  native.commit(
    main,
    new Map([
      [first, text.replace('title: First', 'title: Renamed')],
      [second, null],
    ]),
  )

  expect(await adopt()).toEqual([])

  const made = await byGit()
  expect(made.map(({ status, removes, seqId }) => [status, removes === true, seqId]).sort()).toEqual([
    ['approved', false, 'handbook_00000001'],
    ['approved', true, 'handbook_00000002'],
  ])
  expect(parseNeuronFile(native.read(main, first)).fields).toMatchObject({ title: 'Renamed', aliases: ['First'] })
  expect(findNeuron(sql, 'handbook_00000002')).toBeUndefined()
})

test('what breaks a rule is told of once and left alone, and the rest is adopted', async () => {
  const { native, adopt, byGit, add } = await bed()
  await add('First', 'One.')
  const [first = ''] = native.paths(main, 'neurons')
  const broken = '---\ntitle: [\n---\n\nText.\n'
  native.commit(
    main,
    new Map([
      ['neurons/broken.md', broken],
      ['neurons/copy.md', native.read(main, first)],
      ['neurons/sound.md', '---\ntitle: Sound\n---\n\nText.\n'],
    ]),
  )

  const problems = await adopt()

  expect(problems.map(({ path, rule }) => `${path} ${rule}`)).toEqual(
    expect.arrayContaining(['neurons/broken.md front-matter-yaml', 'neurons/copy.md duplicate-seq-id']),
  )
  expect(problems.filter(({ path }) => path === 'neurons/sound.md')).toEqual([])
  expect((await byGit()).map(({ title }) => title)).toEqual(['Sound'])
  expect(native.read(main, 'neurons/broken.md')).toBe(broken)
  expect(await adopt()).toEqual([])

  native.commit(main, new Map([['neurons/broken.md', '---\ntitle: Mended\n---\n\nText.\n']]))
  expect(await adopt()).toEqual([])
  expect((await byGit()).map(({ title }) => title).sort()).toEqual(['Mended', 'Sound'])
})

test('hundreds of pages are adopted, a chunk in each commit', async () => {
  const { native, adopt, byGit, kb } = await bed()
  const pages = Array.from({ length: 600 }, (_, index): [string, string] => [
    `neurons/p${index}.md`,
    `---\ntitle: P${index}\n---\n\nText ${index}.\n`,
  ])
  native.commit(main, new Map(pages))

  expect(await adopt()).toEqual([])

  expect(native.git('rev-list', '--count', '--committer=ganglion', main)).toBe('4')
  expect(await byGit()).toHaveLength(100)
  const numbers = new Set(pages.map(([path]) => parseNeuronFile(native.read(main, path)).fields.seqId))
  expect(numbers.size).toBe(600)
  expect(kb.projection.read.get`SELECT count(*) AS count FROM unapproved`).toMatchObject({ count: 0 })
})
