import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operator } from '../../../src/kb/create-kb.ts'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { importDirectory } from '../../../src/operate/import/import-directory.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import {
  candidatesOf,
  commitCount,
  expectSound,
  fileOf,
  filesOf,
  type Importing,
  importing,
  neuronOf,
  pushAsCurator,
  put,
  remove,
} from '../../kb/support/import-support.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { tempDir } from '../../support/temp.ts'

const queue = 'refs/ganglion/queue'
const note = (first: string, last: string) => `# Note\n\n${first}\n\nIn between.\n\n${last}\n`

/** Candidates that nobody dismissed and no version on main points back to. */
function pendingOf(given: Importing) {
  const history = nativeGit(given.gitDir, ['log', '-p', '--format=', 'main'])
  const approved = new Set([...history.matchAll(/^\+candidate: (.+)$/gm)].map(([, id]) => id))
  return candidatesOf(given).filter(({ id, decisions }) => decisions.at(-1)?.action !== 'dismiss' && !approved.has(id))
}

/** A curator edits a Neuron's file in a clone. */
function editFile(given: Importing, path: string, edit: (text: string) => string): void {
  pushAsCurator(given, (clone) => {
    const file = join(clone, path)
    writeFileSync(file, edit(readFileSync(file, 'utf8')))
  })
}

/** The next time that main is moved, the process is as good as killed. */
function cutOffBeforeMain({ kb }: Importing): void {
  const { repository } = kb
  const updateRef = repository.updateRef.bind(repository)
  repository.updateRef = async (ref, from, to) => {
    if (ref !== 'refs/heads/main') return updateRef(ref, from, to)
    repository.updateRef = updateRef
    throw new Error('cut off')
  }
}

test('a second run over the same folder changes nothing', async () => {
  const given = await importing({ 'a.md': note('one', 'two'), 'b.md': '---\nid: 7\n---\n', 'c.png': 'png' })
  await given.run()
  const refs = nativeGit(given.gitDir, ['for-each-ref'])
  expect(await given.run()).toEqual({
    ...{ created: 0, updated: 0, unchanged: 2, pending: 0, attachments: 0 },
    files: { notes: 2, attachments: [{ type: '.png', files: 1 }] },
    links: { neurons: 0, files: 0, otherKbs: 0 },
    ...{ renamed: [], skipped: [], unresolved: [], conflicts: [], notices: [], partial: [] },
    ...{ moved: [], vanished: [], removalsProposed: 0 },
  })
  expect(nativeGit(given.gitDir, ['for-each-ref'])).toBe(refs)
})

test('a changed file is a new version of the same Neuron, front matter included', async () => {
  const given = await importing({
    'a.md': '---\ntags: [old]\nstatus: draft\n---\n\n# A\n',
    'b.md': '# B\n',
    'c.png': 'png',
  })
  await given.run()
  const before = await neuronOf(given, 'neurons/a.md')
  put(given.vault, 'a.md', '---\ntags: [new]\nstatus: final\n---\n\n# A, again\n')
  put(given.vault, 'c.png', 'changed')
  expect(await given.run()).toMatchObject({ created: 0, updated: 1, unchanged: 1, attachments: 1 })
  expect(await neuronOf(given, 'neurons/a.md')).toMatchObject({
    ...{ seqId: before.seqId, documentId: before.documentId, path: before.path, version: 2 },
    ...{ title: 'A, again', tags: ['new'], content: '# A, again' },
  })
  expect(fileOf(given, 'neurons/a.md')).toContain('status: final')
  expect(fileOf(given, 'neurons/c.png')).toBe('changed')
  expect(pendingOf(given)).toEqual([])
  expectSound(given)
})

test('an edit of a curator is merged with a change of the file, over the API and over git, time after time', async () => {
  const given = await importing({ 'a.md': note('one', 'two') })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  editFile(given, 'neurons/a.md', (text) =>
    text.replace('one', 'one, says the curator').replace('---\n', '---\naudience: [curator]\n'),
  )
  put(given.vault, 'a.md', note('one', 'two, says the folder'))
  expect(await given.run()).toMatchObject({ updated: 1, pending: 0 })
  const merged = note('one, says the curator', 'two, says the folder').trimEnd()
  expect(await neuronOf(given, 'neurons/a.md')).toMatchObject({ seqId, version: 3, content: merged })

  put(given.vault, 'a.md', `${note('one', 'two, says the folder')}\nThree.\n`)
  expect(await given.run()).toMatchObject({ updated: 1, pending: 0 })
  expect(await neuronOf(given, 'neurons/a.md')).toMatchObject({ version: 4, content: `${merged}\n\nThree.` })
  expect(fileOf(given, 'neurons/a.md')).toContain('audience: [curator]')

  const { ctx, curator } = given
  const { candidateId } = await submitCandidate(ctx, curator, {
    ...{ knowledgeBaseId: 'notes', kind: 'user-correction', title: 'Note', confidence: null, impactEstimate: null },
    content: `${merged.replace('In between', 'In the middle')}\n\nThree.`,
    metadata: JSON.stringify({ targetNeuron: seqId }),
  })
  await approveCandidate(ctx, curator, candidateId, {})
  put(given.vault, 'a.md', `${note('one', 'two, says the folder')}\nThree.\n\nFour.\n`)
  expect(await given.run()).toMatchObject({ updated: 1, pending: 0 })
  expect((await neuronOf(given, 'neurons/a.md')).content).toBe(
    `${merged.replace('In between', 'In the middle')}\n\nThree.\n\nFour.`,
  )
  expect(await given.run()).toMatchObject({ unchanged: 1 })
  expectSound(given)
})

test('where a curator has edited, title and tags take only what the folder has changed', async () => {
  const given = await importing({ 'a.md': '---\ntitle: A\ntags: [x, y]\n---\n\ntext\n' })
  await given.run()
  editFile(given, 'neurons/a.md', (text) => text.replace('[x, y]', '[x, y, curated]'))
  put(given.vault, 'a.md', '---\ntitle: A2\ntags: [y, z]\n---\n\ntext\n')
  await given.run()
  expect(await neuronOf(given, 'neurons/a.md')).toMatchObject({ title: 'A2', tags: ['y', 'curated', 'z'] })
})

test('a conflict leaves one pending candidate, whose approval changes nothing until a curator resolves it', async () => {
  const given = await importing({ 'a.md': note('one', 'two') })
  await given.run()
  editFile(given, 'neurons/a.md', (text) => text.replace('one', 'one, says the curator'))
  put(given.vault, 'a.md', note('one, says the folder', 'two'))
  const { conflicts, ...counts } = await given.run()
  expect(counts).toMatchObject({ updated: 0, pending: 1 })
  expect(conflicts).toEqual([{ path: 'a.md', candidateId: pendingOf(given)[0]?.id }])
  const main = nativeGit(given.gitDir, ['rev-parse', 'main'])
  expect(await given.run()).toMatchObject({ created: 0, pending: 1 })
  expect(await given.run()).toMatchObject({ created: 0, pending: 1 })
  const [pending, ...others] = pendingOf(given)
  expect(others).toEqual([])

  const { ctx, curator } = given
  const approve = (edit: object) => approveCandidate(ctx, curator, pending?.id ?? '', edit)
  await expect(approve({})).rejects.toMatchObject({
    code: 'merge_conflict',
    details: {
      commit: main,
      conflicts: [{ line: 3, base: 'one\n', current: 'one, says the curator\n', proposed: 'one, says the folder\n' }],
    },
  })
  expect(nativeGit(given.gitDir, ['rev-parse', 'main'])).toBe(main)

  await approve({ content: note('one, say both', 'two').trimEnd(), base: main })
  expect(await given.run()).toMatchObject({ unchanged: 1, pending: 0 })
  put(given.vault, 'a.md', note('one, says the folder', 'two, later'))
  expect(await given.run()).toMatchObject({ updated: 1, pending: 0 })
  expect((await neuronOf(given, 'neurons/a.md')).content).toBe(note('one, say both', 'two, later').trimEnd())
  expectSound(given)
})

test('an edit that was merged before still conflicts with a later change of its line', async () => {
  const given = await importing({ 'a.md': note('one', 'two') })
  await given.run()
  editFile(given, 'neurons/a.md', (text) => text.replace('one', 'one, says the curator'))
  put(given.vault, 'a.md', note('one', 'two, later'))
  expect(await given.run()).toMatchObject({ updated: 1 })
  put(given.vault, 'a.md', note('one, says the folder', 'two, later'))
  expect(await given.run()).toMatchObject({ updated: 0, pending: 1 })
  const approval = approveCandidate(given.ctx, given.curator, pendingOf(given)[0]?.id ?? '', {})
  await expect(approval).rejects.toMatchObject({ code: 'merge_conflict' })
})

test('a refused change is not proposed again; a change of the file after it is, in place of one that waits', async () => {
  const given = await importing({ 'a.md': note('one', 'two') })
  await given.run()
  editFile(given, 'neurons/a.md', (text) => text.replace('one', 'curated'))
  put(given.vault, 'a.md', note('first', 'two'))
  await given.run()
  const [refused] = pendingOf(given)
  await dismissCandidate(given.ctx, given.curator, refused?.id ?? '', {})
  expect(await given.run()).toMatchObject({ unchanged: 1, pending: 0 })
  expect(pendingOf(given)).toEqual([])

  put(given.vault, 'a.md', note('second', 'two'))
  expect(await given.run()).toMatchObject({ pending: 1 })
  put(given.vault, 'a.md', note('third', 'two'))
  expect(await given.run()).toMatchObject({ pending: 1 })
  expect(pendingOf(given).map(({ content }) => content)).toEqual([note('third', 'two').trimEnd()])
  put(given.vault, 'a.md', note('second', 'two'))
  expect(await given.run()).toMatchObject({ pending: 1 })
  expect(pendingOf(given).map(({ content }) => content)).toEqual([note('second', 'two').trimEnd()])
  put(given.vault, 'a.md', note('one', 'two'))
  expect(await given.run()).toMatchObject({ unchanged: 1 })
  expect(pendingOf(given)).toEqual([])
})

test('what a curator removed stays away until its file changes', async () => {
  const given = await importing({ 'a.md': '# A\n', 'b.md': '# B\n', 'c.png': 'png' })
  await given.run()
  const { seqId } = await neuronOf(given, 'neurons/a.md')
  pushAsCurator(given, (clone) => {
    rmSync(join(clone, 'neurons/a.md'))
    rmSync(join(clone, 'neurons/c.png'))
  })
  expect(await given.run()).toMatchObject({ created: 0, unchanged: 2, attachments: 0 })
  expect(filesOf(given, 'main', 'neurons')).toEqual(['b.md'])

  put(given.vault, 'a.md', '# A\n\nMore.\n')
  expect(await given.run()).toMatchObject({ created: 1 })
  expect((await neuronOf(given, 'neurons/a.md')).seqId).not.toBe(seqId)
  expectSound(given)
})

test('an attachment that was changed on both sides stays as it is in the knowledge base', async () => {
  const given = await importing({ 'a.md': 'x', 'mine.png': '1', 'both.png': '1', 'theirs.png': '1' })
  await given.run()
  pushAsCurator(given, (clone) => {
    put(clone, 'neurons/both.png', 'curated')
    put(clone, 'neurons/theirs.png', 'curated')
  })
  put(given.vault, 'mine.png', '2')
  put(given.vault, 'both.png', '2')
  expect(await given.run()).toMatchObject({
    attachments: 1,
    skipped: [{ path: 'both.png', reason: 'was changed in the knowledge base too' }],
  })
  expect(['mine', 'both', 'theirs'].map((name) => fileOf(given, `neurons/${name}.png`))).toEqual([
    '2',
    'curated',
    'curated',
  ])
})

test('a Neuron that a curator moved is found again, and one that left the folder stays', async () => {
  const given = await importing({ 'a.md': '# A\n', 'b.md': '# B\n' })
  await given.run()
  pushAsCurator(given, (clone) => nativeGit(clone, ['mv', 'neurons/a.md', 'neurons/moved.md']))
  put(given.vault, 'a.md', '# A, changed\n')
  remove(given.vault, 'b.md')
  expect(await given.run()).toMatchObject({ created: 0, updated: 1 })
  expect(filesOf(given, 'main', 'neurons')).toEqual(['b.md', 'moved.md'])
  expect(await neuronOf(given, 'neurons/moved.md')).toMatchObject({ content: '# A, changed' })
})

test('a first run that was cut off between queue and main is finished by the next one', async () => {
  const given = await importing({ 'a.md': '# A\n', 'b.md': '# B\n' })
  cutOffBeforeMain(given)
  await expect(given.run()).rejects.toThrow('cut off')
  expect(candidatesOf(given)).toHaveLength(2)
  expect(pendingOf(given)).toHaveLength(2)

  expect(await given.run()).toMatchObject({ created: 2 })
  expect(candidatesOf(given)).toHaveLength(2)
  expect(pendingOf(given)).toEqual([])
  expect(commitCount(given, queue)).toBe(1)
  expect(filesOf(given, 'main', 'neurons')).toEqual(['a.md', 'b.md'])
  expect(await given.run()).toMatchObject({ unchanged: 2 })
  expectSound(given)
})

test('a file that changed after a run was cut off has one Neuron, and what waited is withdrawn', async () => {
  const given = await importing({ 'a.md': '# A\n' })
  cutOffBeforeMain(given)
  await expect(given.run()).rejects.toThrow('cut off')
  put(given.vault, 'a.md', '# A, changed\n')
  expect(await given.run()).toMatchObject({ created: 1 })
  expect(pendingOf(given)).toEqual([])
  expect(candidatesOf(given).map(({ decisions }) => decisions.map(({ action }) => action))).toContainEqual(['dismiss'])
  expect(filesOf(given, 'main', 'neurons')).toEqual(['a.md'])
  expectSound(given)
})

test('an update that was cut off is finished by the next run, also when a curator came in between', async () => {
  const given = await importing({ 'a.md': note('one', 'two'), 'b.md': note('one', 'two') })
  await given.run()
  for (const name of ['a', 'b']) put(given.vault, `${name}.md`, note('one', 'two, later'))
  cutOffBeforeMain(given)
  await expect(given.run()).rejects.toThrow('cut off')
  editFile(given, 'neurons/b.md', (text) => text.replace('one', 'curated'))

  expect(await given.run()).toMatchObject({ created: 0, updated: 2, pending: 0 })
  expect(candidatesOf(given)).toHaveLength(4)
  expect(pendingOf(given)).toEqual([])
  expect((await neuronOf(given, 'neurons/a.md')).version).toBe(2)
  put(given.vault, 'b.md', note('one', 'two, at last'))
  expect(await given.run()).toMatchObject({ updated: 1 })
  expect((await neuronOf(given, 'neurons/b.md')).content).toBe(note('curated', 'two, at last').trimEnd())
  expectSound(given)
})

test('what an API key says of a file does not steer the import', async () => {
  const given = await importing({ 'a.md': '# A\n' })
  await given.run()
  const { fields } = parseNeuronFile(fileOf(given, 'neurons/a.md'))
  put(given.vault, 'a.md', '# A, changed\n')
  const metadata = {
    connector: 'import',
    filename: 'vault/a.md',
    fingerprint: 'f'.repeat(64),
    targetNeuron: fields.seqId,
  }
  await submitCandidate(given.ctx, given.curator, {
    ...{ knowledgeBaseId: 'notes', kind: 'user-correction', title: 'A', confidence: null, impactEstimate: null },
    ...{ content: 'Elsewhere.', metadata: JSON.stringify(metadata) },
  })
  expect(await given.run()).toMatchObject({ updated: 1 })
  expect(pendingOf(given).map(({ content }) => content)).toEqual(['Elsewhere.'])
})

test('another folder with the same names is another source, unless it is said to be the same', async () => {
  const given = await importing({ 'a.md': '# A\n' })
  await given.run()
  const other = join(tempDir(), 'other')
  put(other, 'a.md', '# Another A\n')
  const options = { actor: operator, now: given.ctx.now }
  expect(await importDirectory(given.kb, other, options)).toMatchObject({ created: 1, updated: 0 })
  expect(await importDirectory(given.kb, other, { ...options, source: 'vault' })).toMatchObject({
    created: 0,
    updated: 1,
  })
  expect(await given.run()).toMatchObject({ created: 0, updated: 1 })
})

test('a link to a file that an earlier import brought leads there, also once the folder has it no more', async () => {
  const given = await importing({ 'n.md': 'See ![[a.png]].\n', 'a.png': 'picture' })
  await given.run()
  rmSync(join(given.vault, 'a.png'))
  writeFileSync(join(given.vault, 'n.md'), 'See ![[a.png]] again, and [[nowhere]].\n')
  expect((await given.run()).unresolved.map(({ target }) => target)).toEqual(['nowhere'])
})
