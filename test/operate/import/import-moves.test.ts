import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import {
  candidatesOf,
  expectSound,
  fileOf,
  filesOf,
  type Importing,
  importing,
  neuronOf,
  pushAsCurator,
  put,
} from '../../kb/support/import-support.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const pages = (given: Importing) => filesOf(given, 'main', 'neurons')

function rename({ vault }: Importing, from: string, to: string): void {
  put(vault, `${to}.x`, '')
  rmSync(join(vault, `${to}.x`))
  renameSync(join(vault, from), join(vault, to))
}

/** Removals on the queue that nobody has dismissed. */
const removals = (given: Importing) =>
  candidatesOf(given).filter(({ removes, decisions }) => removes && decisions.at(-1)?.action !== 'dismiss')

test('a note that was renamed in its folder is the same Neuron, at its new path, and answers to its old name', async () => {
  const given = await importing({ 'Old name.md': 'The text.\n', 'Other.md': 'See [[Old name]].\n' })
  await given.run()
  const before = await neuronOf(given, 'neurons/Old name.md')
  rename(given, 'Old name.md', 'Area/New name.md')
  expect(await given.run()).toMatchObject({
    ...{ created: 0, updated: 1, unchanged: 1, vanished: [], unresolved: [] },
    moved: [{ from: 'Old name.md', to: 'Area/New name.md' }],
  })
  expect(pages(given)).toEqual(['Area/New name.md', 'Other.md'])
  const { seqId, documentId } = before
  expect(await neuronOf(given, 'neurons/Area/New name.md')).toMatchObject({
    ...{ seqId, documentId, title: 'New name', version: 2 },
  })
  expect((await neuronOf(given, 'neurons/Other.md')).links).toEqual([{ type: 'cites', target: seqId }])

  expect(await given.run()).toMatchObject({ unchanged: 2, moved: [], vanished: [] })
  put(given.vault, 'Area/New name.md', 'Another text.\n')
  expect(await given.run()).toMatchObject({ created: 0, updated: 1 })
  expect(await neuronOf(given, 'neurons/Area/New name.md')).toMatchObject({ seqId, content: 'Another text.' })
  expect((await neuronOf(given, 'neurons/Other.md')).links).toEqual([{ type: 'cites', target: seqId }])
  expectSound(given)
})

test('a note with an id in its front matter is found again although its text has changed too', async () => {
  const dendron = (id: string, text: string) => `---\nid: ${id}\ntitle: ${id}\n---\n\n${text}\n`
  const given = await importing({ 'a.md': dendron('x1', 'One.'), 'b.md': dendron('x2', 'Two.') })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  rmSync(join(given.vault, 'a.md'))
  put(given.vault, 'c.md', dendron('x1', 'One, changed.'))
  expect(await given.run()).toMatchObject({ created: 0, updated: 1, moved: [{ from: 'a.md', to: 'c.md' }] })
  expect(await neuronOf(given, 'neurons/c.md')).toMatchObject({ seqId, content: 'One, changed.' })
})

test('a renamed folder keeps its Neurons, also those with equal texts', async () => {
  const given = await importing({ 'Notes/a.md': '', 'Notes/b.md': '', 'Notes/c.md': 'C\n' })
  await given.run()
  const ids = async (folder: string) =>
    Promise.all(['a', 'b', 'c'].map(async (name) => (await neuronOf(given, `neurons/${folder}/${name}.md`)).seqId))
  const before = await ids('Notes')
  renameSync(join(given.vault, 'Notes'), join(given.vault, 'notes 2026'))
  expect(await given.run()).toMatchObject({ created: 0, updated: 3, vanished: [] })
  expect(await ids('notes 2026')).toEqual(before)
  expectSound(given)
})

test('a note that moves away from its pictures still shows them, also when it changes later', async () => {
  const given = await importing({ 'a/b.md': 'See ![](img/a.png).\n\nMore.\n', 'a/img/a.png': 'a' })
  await given.run()
  rename(given, 'a/b.md', 'c/b.md')
  expect(await given.run()).toMatchObject({ updated: 1, moved: [{ from: 'a/b.md', to: 'c/b.md' }], unresolved: [] })
  const shown = 'See ![](../a/img/a.png).\n\n'
  expect((await neuronOf(given, 'neurons/c/b.md')).content).toBe(`${shown}More.`)
  expect(await given.run()).toMatchObject({ updated: 0, unchanged: 1 })
  put(given.vault, 'c/b.md', 'See ![](img/a.png).\n\nMuch more.\n')
  expect(await given.run()).toMatchObject({ updated: 1, pending: 0 })
  expect((await neuronOf(given, 'neurons/c/b.md')).content).toBe(`${shown}Much more.`)
  expectSound(given)
})

test("a curator's edit of a note that moves away from its pictures stays, too", async () => {
  const given = await importing({ 'a/b.md': 'One.\n\n![[./img/a.png]]\n', 'a/img/a.png': 'a' })
  await given.run()
  pushAsCurator(given, (clone) =>
    put(clone, 'neurons/a/b.md', fileOf(given, 'neurons/a/b.md').replace('One.', 'One, curated.')),
  )
  rename(given, 'a/b.md', 'c/b.md')
  expect(await given.run()).toMatchObject({ updated: 1, pending: 0 })
  expect((await neuronOf(given, 'neurons/c/b.md')).content).toBe('One, curated.\n\n![[../a/img/a.png]]')
})

test('a note that moves together with its pictures is taken as it is', async () => {
  const given = await importing({ 'a/b.md': '![](img/a.png) ![[./img/a.png]]\n', 'a/img/a.png': 'a' })
  await given.run()
  renameSync(join(given.vault, 'a'), join(given.vault, 'c'))
  expect(await given.run()).toMatchObject({ updated: 1, attachments: 1, unresolved: [] })
  expect((await neuronOf(given, 'neurons/c/b.md')).content).toBe('![](img/a.png) ![[./img/a.png]]')
})

test('only the case of a name changes', async () => {
  const given = await importing({ 'note.md': 'Text.\n' })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/note.md')
  rename(given, 'note.md', 'Note.md')
  await given.run()
  expect(pages(given)).toEqual(['Note.md'])
  expect((await neuronOf(given, 'neurons/Note.md')).seqId).toBe(seqId)
})

test('notes that cannot be told apart are not taken for one another', async () => {
  const given = await importing({ 'a.md': 'Same.\n', 'b.md': 'Same.\n' })
  await given.run()
  rename(given, 'a.md', 'c.md')
  rename(given, 'b.md', 'd.md')
  const { created, moved, vanished } = await given.run()
  expect([created, moved, vanished.map(({ path }) => path)]).toEqual([2, [], ['a.md', 'b.md']])
})

test("a renamed note keeps a curator's edit and the place that a curator gave it", async () => {
  const given = await importing({ 'a.md': 'One.\n\nTwo.\n', 'b.md': 'B.\n' })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  pushAsCurator(given, (clone) => {
    nativeGit(clone, ['mv', 'neurons/a.md', 'neurons/mine.md'])
    put(clone, 'neurons/b.md', fileOf(given, 'neurons/b.md').replace('B.', 'B, curated.'))
  })
  rename(given, 'a.md', 'a2.md')
  rename(given, 'b.md', 'b2.md')
  expect(await given.run()).toMatchObject({ created: 0, updated: 2, pending: 0 })
  expect(pages(given)).toEqual(['b2.md', 'mine.md'])
  expect(await neuronOf(given, 'neurons/mine.md')).toMatchObject({ seqId })
  expect(await neuronOf(given, 'neurons/b2.md')).toMatchObject({ content: 'B, curated.' })
  expectSound(given)
})

test('what has vanished is named on every run, stays, and is proposed for removal once where that is asked for', async () => {
  const given = await importing({ 'a.md': 'A\n', 'b.md': 'B\n', 'c.md': 'C\n' })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  for (const name of ['a', 'b']) rmSync(join(given.vault, `${name}.md`))
  for (let run = 0; run < 2; run++) {
    const { vanished, removalsProposed } = await given.run()
    expect(vanished.map(({ path, neuronPath }) => [path, neuronPath])).toEqual([
      ['a.md', 'neurons/a.md'],
      ['b.md', 'neurons/b.md'],
    ])
    expect(removalsProposed).toBe(0)
  }
  expect(await given.run({ prune: true })).toMatchObject({ removalsProposed: 2 })
  expect(await given.run({ prune: true })).toMatchObject({ removalsProposed: 0 })
  expect(pages(given)).toEqual(['a.md', 'b.md', 'c.md'])

  const [first, second] = removals(given).toSorted((a) => (a.target === seqId ? -1 : 1))
  await approveCandidate(given.ctx, given.curator, first?.id ?? '', {})
  await dismissCandidate(given.ctx, given.curator, second?.id ?? '', {})
  expect(pages(given)).toEqual(['b.md', 'c.md'])
  const { vanished, removalsProposed } = await given.run({ prune: true })
  expect([vanished.map(({ path }) => path), removalsProposed]).toEqual([['b.md'], 0])
  expectSound(given)
})

test('a note that comes back takes the proposal to remove its Neuron back', async () => {
  const given = await importing({ 'a.md': 'A\n' })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  rmSync(join(given.vault, 'a.md'))
  await given.run({ prune: true })
  expect(removals(given)).toHaveLength(1)
  put(given.vault, 'a.md', 'A\n')
  expect(await given.run({ prune: true })).toMatchObject({ unchanged: 1, vanished: [] })
  expect(removals(given)).toEqual([])
  expect(await neuronOf(given, 'neurons/a.md')).toMatchObject({ seqId })
})

test('what is there but cannot be imported now has not vanished', async () => {
  const given = await importing({ 'a.md': 'A\n', 'folder/b.md': 'B\n' })
  await given.run()
  put(given.vault, 'a.md', 'x'.repeat(3 * 1024 * 1024))
  expect(await given.run({ prune: true })).toMatchObject({ vanished: [], removalsProposed: 0 })
})

test('a move that was cut off is finished by the next run', async () => {
  const given = await importing({ 'a.md': 'A\n' })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  rename(given, 'a.md', 'b.md')
  const { repository } = given.kb
  const updateRef = repository.updateRef.bind(repository)
  repository.updateRef = async (ref, from, to) => {
    if (ref !== 'refs/heads/main') return updateRef(ref, from, to)
    repository.updateRef = updateRef
    throw new Error('cut off')
  }
  await expect(given.run()).rejects.toThrow('cut off')
  expect(await given.run()).toMatchObject({ created: 0, updated: 1 })
  expect(await neuronOf(given, 'neurons/b.md')).toMatchObject({ seqId })
  expect(candidatesOf(given)).toHaveLength(2)
  expectSound(given)
})
