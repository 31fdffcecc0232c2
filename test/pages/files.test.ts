import { buffer } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { readFile } from '../../src/pages/attachments/read-file.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { type Importing, importing, neuronOf, pushAsCurator, put } from '../kb/support/import-support.ts'

const as = ({ curator }: Importing, role: Caller['role']): Caller => ({ ...curator, id: `key:${role}`, role })

/** The paths among these that a role may read. */
async function readable(given: Importing, role: Caller['role'], paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      try {
        const { read } = await readFile(given.ctx, as(given, role), 'notes', path)
        return (await buffer(await read())).length > 0 ? [path] : []
      } catch {
        return []
      }
    }),
  )
  return found.flat()
}

const vault = {
  'Note.md': 'See ![[flow.png]], ![](../img/photo.jpg) and [[img/spec.pdf|the paper]].\n',
  'Hidden.md': '---\ntags: [internal]\n---\n\n![[secret.png]] ![[flow.png]]\n',
  'a/flow.png': 'flow',
  'img/spec.pdf': 'spec',
  'secret.png': 'secret',
  'orphan.png': 'orphan',
}
const paths = ['a/flow.png', 'img/spec.pdf', 'secret.png', 'orphan.png'].map((path) => `neurons/${path}`)

test('a file is read by those who see a page that links to it, and by curators', async () => {
  const given = await importing(vault)
  await given.run()
  expect(await readable(given, 'curator', [...paths, 'kb.yaml', 'neurons/Note.md'])).toEqual([...paths, 'kb.yaml'])
  for (const role of ['reader', 'app'] as const) {
    expect(await readable(given, role, [...paths, 'kb.yaml', 'README.md'])).toEqual(paths.slice(0, 2))
  }
  const { seqId } = await neuronOf(given, 'neurons/Note.md')
  const note = await readNeuron(given.ctx, as(given, 'reader'), { kb: 'notes', seqId })
  expect(note.files).toEqual([
    {
      ...{ target: 'flow.png', path: 'neurons/a/flow.png' },
      url: '/api/v1/knowledge-bases/notes/files/neurons/a/flow.png',
    },
    {
      ...{ target: 'img/spec.pdf', path: 'neurons/img/spec.pdf' },
      url: '/api/v1/knowledge-bases/notes/files/neurons/img/spec.pdf',
    },
  ])
  expect((await neuronOf(given, 'neurons/Hidden.md')).files?.map(({ path }) => path)).toEqual([
    'neurons/secret.png',
    'neurons/a/flow.png',
  ])
})

test('a hidden page takes no file from a page that readers see, and gives them none by its name', async () => {
  const given = await importing({
    'handbook/intro.md': '![[chart.png]] ![[plan.png]] ![[logo.png]]\n',
    'handbook/images/chart.png': 'public',
    'assets/logo.png': 'logo',
  })
  await given.run()
  pushAsCurator(given, (clone) => {
    put(clone, 'neurons/hr/payroll.md', '---\nseqId: notes_00000077\ntags: [internal]\n---\n\n![[chart.png]]\n')
    for (const path of ['hr/chart.png', 'hr/plan.png']) put(clone, `neurons/${path}`, 'secret')
  })
  await given.kb.sync()
  const { seqId } = await neuronOf(given, 'neurons/handbook/intro.md')
  const shown = async (role: Caller['role']) =>
    (await readNeuron(given.ctx, as(given, role), { kb: 'notes', seqId })).files?.map(({ path }) => path)
  const own = ['neurons/handbook/images/chart.png', 'neurons/assets/logo.png']
  expect([await shown('reader'), await shown('app')]).toEqual([own, own])
  expect(await shown('curator')).toEqual([own[0], 'neurons/hr/plan.png', own[1]])
  const submit = (title: string, content: string) =>
    submitCandidate(given.ctx, as(given, 'app'), {
      ...{ knowledgeBaseId: 'notes', kind: 'external-feed', title, content, confidence: 1 },
      ...{ impactEstimate: null, metadata: '{"path":"neurons/hr/mine.md"}' },
    })
  const { seqId: mine = '' } = await submit('Mine', '![[chart.png]] [[plan.png]] [[hr/plan.png]]')
  const named = [await submit('plan.png', 'x'), await submit('hr/plan.png', 'x')]
  // As if the hidden files were not there.
  const asApp = await readNeuron(given.ctx, as(given, 'app'), { kb: 'notes', seqId: mine })
  expect(asApp.files?.map(({ path }) => path)).toEqual([own[0]])
  expect(asApp.links.map(({ target }) => target)).toEqual(named.map(({ seqId }) => seqId))
  expect([await shown('reader'), await shown('app')]).toEqual([own, own])
  expect(await readable(given, 'reader', [...own, 'neurons/hr/chart.png', 'neurons/hr/plan.png'])).toEqual(own)
})

test('what only the policy has approved opens no file, and takes none from a page that had it', async () => {
  const given = await importing(vault)
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/Note.md')
  const write = (title: string, content: string, metadata: object) =>
    submitCandidate(given.ctx, as(given, 'app'), {
      ...{ knowledgeBaseId: 'notes', kind: 'user-correction', title, confidence: 1, impactEstimate: null },
      ...{ content, metadata: JSON.stringify(metadata) },
    })
  expect(await write('Mine', '![[secret.png]] ![[orphan.png]] [](../kb.yaml)', {})).toMatchObject({
    status: 'approved',
  })
  expect(await write('flow.png', 'x', {})).toMatchObject({ status: 'approved' })
  // A picture in the text stays there, where everybody sees it.
  const picture = `![a](data:image/png;base64,${'A'.repeat(64)})`
  const { seqId: pictured = '' } = await write('Pictured', picture, {})
  expect((await readNeuron(given.ctx, as(given, 'reader'), { kb: 'notes', seqId: pictured })).content).toContain(
    picture,
  )
  expect((await neuronOf(given, 'neurons/Note.md')).links).toEqual([])
  const changed = await write('Note', 'Now ![[flow.png]] and ![[orphan.png]].', { targetNeuron: seqId })
  expect(changed).toMatchObject({ status: 'approved' })
  expect(await readable(given, 'app', [...paths, 'kb.yaml'])).toEqual(['neurons/a/flow.png'])

  pushAsCurator(given, (clone) =>
    put(clone, 'tests/answers.yaml', '- question: Who?\n  audience: curator\n  contains: [a secret]\n'),
  )
  pushAsCurator(given, (clone) => {
    const links = '![[orphan.png]] [](../kb.yaml) [](../tests/answers.yaml)'
    return put(clone, 'neurons/b.md', `---\nseqId: notes_00000077\n---\n\n${links}\n`)
  })
  await given.kb.sync()
  const settings = ['kb.yaml', 'tests/answers.yaml']
  expect(await readable(given, 'curator', settings)).toEqual(settings)
  expect(await readable(given, 'app', [...paths, ...settings])).toEqual(['neurons/a/flow.png', 'neurons/orphan.png'])
})

test('a correction by the policy closes no file that the page opened, by its front matter or its text', async () => {
  const given = await importing({
    'Note.md': '---\nimage: "[[cover.png]]"\n---\n\n![[flow.png]]\n',
    'cover.png': 'cover',
    'flow.png': 'flow',
  })
  await given.run()
  const files = ['neurons/cover.png', 'neurons/flow.png']
  expect(await readable(given, 'reader', files)).toEqual(files)
  const { seqId } = await neuronOf(given, 'neurons/Note.md')
  const changed = await submitCandidate(given.ctx, as(given, 'app'), {
    ...{ knowledgeBaseId: 'notes', kind: 'user-correction', title: 'Note', confidence: 1, impactEstimate: null },
    ...{ content: 'Now ![[flow.png]].', metadata: JSON.stringify({ targetNeuron: seqId }) },
  })
  expect(changed).toMatchObject({ status: 'approved' })
  expect(await readable(given, 'reader', files)).toEqual(files)
})

test('a page of many files beside many hidden pages is read with few questions', async () => {
  const names = Array.from({ length: 800 }, (_, index) => `hidden/${index}`)
  const given = await importing({
    ...Object.fromEntries(names.map((name) => [`${name}.md`, '---\ntags: [internal]\n---\n'])),
    ...Object.fromEntries(names.map((name) => [`${name}/flow.png`, 'flow'])),
    'Open.md': names.map((name) => `![[${name}/flow.png]]\n`).join(''),
  })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/Open.md')
  const { read } = given.kb.projection
  const asked = (['all', 'get'] as const).map((way) => vi.spyOn(read, way))
  const { files } = await readNeuron(given.ctx, as(given, 'reader'), { kb: 'notes', seqId })
  expect(files).toHaveLength(names.length)
  // Looking at every hidden page, or every link, for each file would take hundreds for each.
  const questions = asked.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  expect(questions).toBeGreaterThan(0)
  expect(questions).toBeLessThan(40 * names.length)
})

test('a large file is streamed, whole and in part, and the stream may be left', async () => {
  const bytes = Buffer.alloc(5 * 1024 * 1024, 'abcdefghij')
  const given = await importing({ 'a.md': '[[big.mp4]] [[empty.mp3]]' })
  await given.run()
  pushAsCurator(given, (clone) => {
    put(clone, 'neurons/big.mp4', bytes)
    put(clone, 'neurons/empty.mp3', '')
  })
  await given.kb.sync()
  const { size, type, read, etag } = await readFile(given.ctx, as(given, 'reader'), 'notes', 'neurons/big.mp4')
  expect([size, type, etag]).toEqual([bytes.length, 'video/mp4', expect.stringMatching(/^[0-9a-f]{40}$/)])
  expect((await buffer(await read())).equals(bytes)).toBe(true)
  for (const [first, last] of [
    [0, 0],
    [1_000_000, 3_000_000],
    [size - 1, size - 1],
  ] as const) {
    expect((await buffer(await read({ first, last }))).equals(bytes.subarray(first, last + 1))).toBe(true)
  }
  // More than may be streamed at once to a key: each that is left makes room.
  for (let time = 0; time < 5; time++) (await read()).destroy()
  expect((await buffer(await read({ first: 5, last: 14 }))).toString()).toBe('fghijabcde')
  const empty = await readFile(given.ctx, as(given, 'reader'), 'notes', 'neurons/empty.mp3')
  expect([empty.size, (await buffer(await empty.read())).length]).toEqual([0, 0])
})
