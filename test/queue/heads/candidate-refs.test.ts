import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import type { CandidateInput } from '../../../src/contract/candidates.ts'
import type { KnowledgeBase } from '../../../src/kb/knowledge-base.ts'
import { findCandidate } from '../../../src/kb/projection/candidate-index.ts'
import { recordCandidate } from '../../../src/kb/writing/commits.ts'
import { parseCandidate } from '../../../src/markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { backup } from '../../../src/operate/backup/backup.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { dismissCandidate, reopenCandidate } from '../../../src/queue/decide-candidate.ts'
import { candidateHeads } from '../../../src/queue/heads/candidate-refs.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Candidate } from '../../../src/rules/candidates/candidate.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { candidate, correction, newTestBed, type TestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDir } from '../../support/temp.ts'

type Bed = TestBed & { kb: KnowledgeBase }

async function newBed(): Promise<Bed> {
  const bed = await newTestBed()
  return { ...bed, kb: await bed.ctx.kb(bed.curator.tenantId, 'handbook') }
}

const git = ({ gitDir }: Bed, ...args: string[]) => nativeGit(gitDir, args)
const refOf = (name: string) => `refs/candidates/${name}/head`
const refs = (bed: Bed) =>
  git(bed, 'for-each-ref', '--format=%(refname)', 'refs/candidates').split('\n').filter(Boolean)
const follow = ({ ctx, kb }: Bed) => candidateHeads(kb, ctx).follow()
const prepare = ({ ctx, kb }: Bed, ...prefixes: string[]) => candidateHeads(kb, ctx).prepare(prefixes)

async function submit(bed: Bed, input: CandidateInput = candidate()): Promise<string> {
  return (await submitCandidate(bed.ctx, bed.app, input)).candidateId
}

/** Submits candidates, and returns them in the queue's order. */
async function submitMany(bed: Bed, count: number): Promise<string[]> {
  const titles = Array.from({ length: count }, (_, n) => `Candidate ${n}`)
  return (await Promise.all(titles.map((title) => submit(bed, candidate({ title }))))).sort()
}

const approve = (bed: Bed, id: string) => approveCandidate(bed.ctx, bed.curator, id, {})

async function approved(bed: Bed, input = candidate()): Promise<string> {
  return (await approve(bed, await submit(bed, input))).seqId
}

async function pathOf(bed: Bed, seqId: string): Promise<string> {
  return (await readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })).path
}

async function rewrite(bed: Bed, id: string, changes: Partial<Candidate>): Promise<string> {
  const row = findCandidate(bed.kb.projection.read, id)
  const written = { ...parseCandidate(await bed.kb.repository.readText(row?.blob ?? '')), ...changes }
  await bed.kb.write((staging) => recordCandidate(bed.kb, staging, written, 'Propose'))
  return id
}

/** A proposal to delete a Neuron. */
async function submitRemoval(bed: Bed, seqId: string): Promise<string> {
  return rewrite(bed, await submit(bed, correction(seqId, 'gone', { title: 'Gone' })), { removes: true })
}

/** A proposal of a whole page, at a path of its own. */
async function submitMove(bed: Bed, seqId: string, path: string, content?: string): Promise<string> {
  const page = git(bed, 'show', `main:${await pathOf(bed, seqId)}`)
  const frontMatter = page.slice(0, page.indexOf('\n---\n') + '\n---\n'.length)
  const id = await submit(bed, correction(seqId, content ?? parseNeuronFile(page).content))
  return rewrite(bed, id, { frontMatter, metadata: JSON.stringify({ targetNeuron: seqId, path }) })
}

function clone(bed: Bed, ...options: string[]): string {
  const dir = join(tempDir(), 'clone')
  nativeGit(bed.gitDir, ['clone', '--quiet', ...options, bed.gitDir, dir])
  return dir
}

test('a head is main and one commit that proposes the candidate', async () => {
  const bed = await newBed()
  const id = await submit(
    bed,
    candidate({ confidence: 0.4, metadata: JSON.stringify({ connector: 'crm', actionZone: 'red' }) }),
  )
  await follow(bed)
  expect(refs(bed)).toEqual([refOf(id)])
  const head = refOf(id)
  expect(git(bed, 'rev-list', '--count', `main..${head}`)).toBe('1')
  expect(git(bed, 'rev-parse', `${head}^`)).toBe(git(bed, 'rev-parse', 'main'))
  const [change = ''] = git(bed, 'diff', '--name-status', `main`, head).split('\n')
  expect(change).toMatch(/^A\tneurons\/\d{4}\/\d\d\/vip-escalation-policy-[0-9a-f]{6}\.md$/)
  const page = git(bed, 'show', `${head}:${change.slice(2)}`)
  expect(page).toContain(`candidate: ${id}\n`)
  expect(page).not.toMatch(/^(seqId|id):/m)
  expect(page).toContain('When a VIP customer raises a ticket, page the lead.')
  expect(git(bed, 'log', '-1', '--format=%s', head)).toBe('Add "VIP escalation policy"')
  expect(git(bed, 'log', '-1', '--format=%an <%ae>%n%cn', head)).toBe(
    'The app <key-app-key@ganglion.invalid>\nGanglion',
  )
  expect(git(bed, 'log', '-1', '--format=%b', head)).toContain('Proposed as external-feed by The app.')
  expect(git(bed, 'log', '-1', '--format=%(trailers:only)', head).trim().split('\n')).toEqual([
    `Candidate: ${id}`,
    'Kind: external-feed',
    'Connector: crm',
    'Confidence: 0.4',
    'Zone: red',
  ])
  expect(git(bed, 'fsck', '--strict', '--no-dangling')).toBe('')
})

test('a change keeps its seqId, and shows what a curator must know', async () => {
  const bed = await newBed()
  const seqId = await approved(bed)
  const change = await submit(bed, correction(seqId, 'Page the manager.'))
  const lost = await submit(bed, correction('handbook_00000099', 'Nothing to change.'))
  await follow(bed)
  expect(refs(bed)).toEqual([refOf(change)])
  const path = await pathOf(bed, seqId)
  expect(git(bed, 'diff', '--name-status', 'main', refOf(change))).toBe(`M\t${path}`)
  const page = git(bed, 'show', `${refOf(change)}:${path}`)
  expect(page).toContain(`seqId: ${seqId}\n`)
  expect(page).toContain(`candidate: ${change}\n`)
  expect(git(bed, 'log', '-1', '--format=%s', refOf(change))).toBe('Update "VIP escalation policy"')
  expect(await candidateHeads(bed.kb, bed.ctx).headOf(lost)).toBeUndefined()
})

test('the same main and the same candidate give the same head, also to a new process', async () => {
  const bed = await newBed()
  const id = await submit(bed)
  await follow(bed)
  const head = git(bed, 'rev-parse', refOf(id))
  const packs = () => readdirSync(join(bed.gitDir, 'objects', 'pack')).sort()
  const before = packs()
  await follow(bed)
  expect(packs()).toEqual(before)
  git(bed, 'update-ref', '-d', refOf(id))
  await follow(bed)
  expect(git(bed, 'rev-parse', refOf(id))).toBe(head)
  git(bed, 'update-ref', '-d', refOf(id))
  git(bed, 'gc', '--quiet', '--prune=now')
  const ctx = await bed.reopen()
  const reopened = { ...bed, ctx, kb: await ctx.kb(bed.curator.tenantId, 'handbook') }
  await follow(reopened)
  expect(git(bed, 'rev-parse', refOf(id))).toBe(head)
})

test('a head is made again when main moves, in one pack at most, and what it proposes stays', async () => {
  const bed = await newBed()
  const ids = [await submit(bed), await submit(bed, candidate({ title: 'Another' }))]
  await follow(bed)
  const old = ids.map((id) => git(bed, 'rev-parse', refOf(id)))
  await approved(bed, candidate({ title: 'Elsewhere' }))
  const packs = () => readdirSync(join(bed.gitDir, 'objects', 'pack')).filter((name) => name.endsWith('.pack')).length
  const before = packs()
  await follow(bed)
  expect(packs()).toBe(before + 1)
  for (const [n, id] of ids.entries()) {
    expect(git(bed, 'rev-parse', `${refOf(id)}^`)).toBe(git(bed, 'rev-parse', 'main'))
    expect(git(bed, 'rev-parse', refOf(id))).not.toBe(old[n])
    expect(git(bed, 'diff', '--name-only', old[n] ?? '', refOf(id))).toMatch(/elsewhere-[0-9a-f]{6}\.md$/)
  }
})

test('a decided candidate has no head, and one that is reopened has it again', async () => {
  const bed = await newBed()
  const [first, second] = [await submit(bed), await submit(bed, candidate({ title: 'Another' }))]
  await follow(bed)
  expect(refs(bed)).toHaveLength(2)
  await approve(bed, first)
  await dismissCandidate(bed.ctx, bed.curator, second, {})
  await follow(bed)
  expect(refs(bed)).toEqual([])
  await reopenCandidate(bed.ctx, bed.curator, second)
  await follow(bed)
  expect(refs(bed)).toEqual([refOf(second)])
})

test('a clone has no heads, a mirror has all, and a fetch of one has that one', async () => {
  const bed = await newBed()
  const id = await submit(bed)
  await follow(bed)
  const plain = clone(bed)
  expect(nativeGit(plain, ['for-each-ref'])).not.toContain('candidates')
  const mirror = clone(bed, '--mirror')
  expect(nativeGit(mirror, ['rev-parse', refOf(id)])).toBe(git(bed, 'rev-parse', refOf(id)))
  nativeGit(plain, ['fetch', '--quiet', 'origin', refOf(id)])
  expect(nativeGit(plain, ['rev-parse', 'FETCH_HEAD'])).toBe(git(bed, 'rev-parse', refOf(id)))
})

test.each([
  ['merge', ['merge', '--quiet', '--no-edit', 'proposal']],
  ['squash', ['merge', '--quiet', '--squash', 'proposal']],
  ['cherry-pick', ['cherry-pick', 'proposal']],
])('git applies a head that stands behind main: %s', async (_, command) => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ content: 'One.\n\nTwo.\n\nThree.\n' }))
  const id = await submit(bed, correction(seqId, 'One.\n\nTwo.\n\nFour.\n'))
  await follow(bed)
  const dir = clone(bed)
  nativeGit(dir, ['fetch', '--quiet', 'origin', `${refOf(id)}:proposal`])
  await approved(bed, candidate({ title: 'Elsewhere' }))
  nativeGit(dir, ['pull', '--quiet', '--ff-only'])
  nativeGit(dir, command)
  const page = readFileSync(join(dir, await pathOf(bed, seqId)), 'utf8')
  expect(page).toContain('Four.')
  expect(page).toContain(`candidate: ${id}`)
})

test('a candidate that conflicts with main has a head on what it was written against, and git shows the conflict', async () => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ content: 'One.\n' }))
  const base = git(bed, 'rev-parse', 'main')
  const [mine, theirs] = [
    await submit(bed, correction(seqId, 'Mine.\n', { title: 'x' })),
    await submit(bed, correction(seqId, 'Theirs.\n', { title: 'x' })),
  ]
  await approved(bed, candidate({ title: 'Elsewhere' }))
  await approve(bed, theirs)
  await follow(bed)
  expect(git(bed, 'rev-parse', `${refOf(mine)}^`)).toBe(base)
  const path = await pathOf(bed, seqId)
  expect(git(bed, 'diff', '--name-status', base, refOf(mine))).toBe(`M\t${path}`)
  expect(git(bed, 'show', `${refOf(mine)}:${path}`)).toMatch(/Mine\.$/)
  expect(git(bed, 'log', '-1', '--format=%b', refOf(mine))).toContain('It conflicts with main')
  const dir = clone(bed)
  nativeGit(dir, ['fetch', '--quiet', 'origin', refOf(mine)])
  expect(() => nativeGit(dir, ['merge', '--no-edit', 'FETCH_HEAD'])).toThrow()
  expect(nativeGit(dir, ['diff', '--name-only', '--diff-filter=U'])).toBe(path)
  expect(readFileSync(join(dir, path), 'utf8')).toContain('<<<<<<<')
})

test('a head may remove a Neuron, and one that has changed since stands on what was to go', async () => {
  const bed = await newBed()
  const seqId = await approved(bed)
  const base = git(bed, 'rev-parse', 'main')
  const id = await submitRemoval(bed, seqId)
  await follow(bed)
  const path = await pathOf(bed, seqId)
  expect(git(bed, 'diff', '--name-status', 'main', refOf(id))).toBe(`D\t${path}`)
  expect(git(bed, 'log', '-1', '--format=%s', refOf(id))).toBe('Remove "VIP escalation policy"')
  await approved(bed, candidate({ title: 'Elsewhere' }))
  await approved(bed, correction(seqId, 'It stays.'))
  await follow(bed)
  expect(git(bed, 'rev-parse', `${refOf(id)}^`)).toBe(base)
  expect(git(bed, 'diff', '--name-status', base, refOf(id))).toBe(`D\t${path}`)
})

test('a head that moves a page takes the old file away, also from what it was written against', async () => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ content: 'One.' }))
  const from = await pathOf(bed, seqId)
  const base = git(bed, 'rev-parse', 'main')
  const moves = [
    await submitMove(bed, seqId, 'neurons/b/vip.md'),
    await submitMove(bed, seqId, from.replace('vip', 'VIP')),
    await submitMove(bed, seqId, 'neurons/a/vip.md', 'Uno.'),
  ]
  const changed = (id = '') => git(bed, 'diff', '--no-renames', '--name-status', `${refOf(id)}^`, refOf(id)).split('\n')
  await follow(bed)
  expect(changed(moves[0])).toEqual([`D\t${from}`, 'A\tneurons/b/vip.md'])
  expect(changed(moves[1])).toEqual([`A\t${from.replace('vip', 'VIP')}`, `D\t${from}`])
  expect(changed(moves[2])).toEqual([`D\t${from}`, 'A\tneurons/a/vip.md'])

  await approved(bed, correction(seqId, 'Eins.'))
  await follow(bed)
  expect(git(bed, 'rev-parse', `${refOf(moves[2] ?? '')}^`)).toBe(base)
  expect(changed(moves[2])).toEqual([`D\t${from}`, 'A\tneurons/a/vip.md'])

  await approve(bed, moves[0] ?? '')
  await follow(bed)
  expect(changed(moves[1])).toEqual(['M\tneurons/b/vip.md'])
  expect(git(bed, 'rev-parse', `${refOf(moves[2] ?? '')}^`)).toBe(base)
  expect(changed(moves[2])).toEqual([`M\t${from}`])
  expect(git(bed, 'fsck', '--strict', '--no-dangling')).toBe('')
})

test('a bundle moves a page once, and whatever else changes it does so where it is by then', async () => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ title: 'Two parts', content: 'One.\n\nTwo.\n\nThree.\n' }))
  const from = await pathOf(bed, seqId)
  const move = await submitMove(bed, seqId, 'neurons/moved.md', 'First.\n\nTwo.\n\nThree.\n')
  const same = await submitMove(bed, seqId, 'neurons/moved.md')
  const edit = await submit(bed, correction(seqId, 'One.\n\nTwo.\n\nThird.\n'))
  for (const bundle of [`${move}+${edit}`, `${edit}+${move}`, `${move}+${same}+${edit}`, `${edit}+${same}+${move}`]) {
    await prepare(bed, refOf(bundle))
    const changed = git(bed, 'diff', '--no-renames', '--name-status', 'main', refOf(bundle)).split('\n').sort()
    expect(changed).toEqual(['A\tneurons/moved.md', `D\t${from}`])
    expect(git(bed, 'show', `${refOf(bundle)}:neurons/moved.md`)).toMatch(/First\.\n\nTwo\.\n\nThird\.$/)
    expect(git(bed, 'rev-list', '--count', `main..${refOf(bundle)}`)).toBe(String(bundle.split('+').length))
  }

  const other = await approved(bed, candidate({ title: 'Other' }))
  const elsewhere = await submitMove(bed, seqId, 'neurons/elsewhere.md')
  const onto = await submitMove(bed, other, 'neurons/MOVED.md')
  const gone = await submitRemoval(bed, seqId)
  for (const clash of [elsewhere, onto, gone]) {
    for (const bundle of [`${move}+${clash}`, `${clash}+${move}`]) {
      await prepare(bed, refOf(bundle))
      expect(refs(bed)).not.toContain(refOf(bundle))
    }
  }
  await prepare(bed, refOf(`${elsewhere}+${onto}`))
  expect(refs(bed)).toContain(refOf(`${elsewhere}+${onto}`))
})

test('a bundle has one commit for each candidate in the order asked, follows main and goes with a decision', async () => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ title: 'Two parts', content: 'One.\n\nTwo.\n\nThree.\n' }))
  const ids = [
    await submit(bed, candidate({ title: 'New' })),
    await submit(bed, correction(seqId, 'First.\n\nTwo.\n\nThree.\n')),
    await submit(bed, correction(seqId, 'One.\n\nTwo.\n\nThird.\n')),
  ]
  const bundle = ids.toReversed().join('+')
  await prepare(bed, refOf(bundle))
  expect(refs(bed)).toEqual([refOf(bundle)])
  const trailers = () =>
    git(bed, 'log', '--format=%(trailers:key=Candidate,valueonly,separator=)', `main..${refOf(bundle)}`)
  expect(trailers().split('\n')).toEqual(ids)
  expect(git(bed, 'show', `${refOf(bundle)}:${await pathOf(bed, seqId)}`)).toMatch(/First\.\n\nTwo\.\n\nThird\.$/)
  await approved(bed, candidate({ title: 'Elsewhere' }))
  await follow(bed)
  expect(git(bed, 'merge-base', 'main', refOf(bundle))).toBe(git(bed, 'rev-parse', 'main'))
  expect(trailers().split('\n')).toEqual(ids)
  await dismissCandidate(bed.ctx, bed.curator, ids[0] ?? '', {})
  await follow(bed)
  expect(refs(bed)).toEqual(ids.slice(1).map(refOf).sort())
  expect(() => clone(bed, '--branch', refOf(bundle))).toThrow()
})

test('a bundle whose candidates conflict is not there', async () => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ title: 'Target', content: 'One.\n' }))
  const [a, b] = [await submit(bed, correction(seqId, 'A.\n')), await submit(bed, correction(seqId, 'B.\n'))]
  const [gone, new1, new2] = [await submitRemoval(bed, seqId), await submit(bed), await submit(bed)]
  for (const pair of [`${a}+${b}`, `${a}+${gone}`, `${gone}+${b}`, `${a}+${a}`]) {
    await prepare(bed, refOf(pair))
    expect(refs(bed)).toEqual([])
  }
  // Two new pages of one title stand beside each other.
  for (const pair of [`${a}+${new1}`, `${new1}+${new2}`]) {
    await prepare(bed, refOf(pair))
    expect(refs(bed)).toContain(refOf(pair))
  }
})

test('beyond the first heads the rest are made when they are asked for, and stay until decided', async () => {
  const bed = await newBed()
  const ids = await submitMany(bed, 230)
  const red = await submit(bed, candidate({ title: 'Important', impactEstimate: 9 }))
  await prepare(bed)
  expect(refs(bed)).toHaveLength(200)
  expect(refs(bed)).toContain(refOf(red))
  const [asked = '', other = ''] = ids.slice(-2)
  expect(refs(bed)).not.toContain(refOf(asked))
  await prepare(bed, refOf(asked), `refs/heads/${refOf(other)}`)
  expect(refs(bed)).toHaveLength(201)
  expect(refs(bed)).toContain(refOf(asked))
  await approved(bed, candidate({ title: 'Elsewhere' }))
  await follow(bed)
  expect(refs(bed)).toHaveLength(201)
  expect(git(bed, 'rev-parse', `${refOf(asked)}^`)).toBe(git(bed, 'rev-parse', 'main'))
  const ctx = await bed.reopen()
  const reopened = { ...bed, ctx, kb: await ctx.kb(bed.curator.tenantId, 'handbook') }
  await follow(reopened)
  expect(refs(bed)).toContain(refOf(asked))
  await dismissCandidate(ctx, bed.curator, asked, {})
  await follow(reopened)
  expect(refs(bed)).not.toContain(refOf(asked))
  expect(refs(bed)).toHaveLength(200)
  const mirror = clone(bed, '--mirror')
  expect(nativeGit(mirror, ['for-each-ref', 'refs/candidates']).split('\n')).toHaveLength(200)
})

test('a request makes no more heads than it may, and of those asked for the latest stay', async () => {
  const bed = await newBed()
  const ids = await submitMany(bed, 320)
  const beyond = ids.slice(200)
  await prepare(bed, ...beyond.map(refOf))
  expect(refs(bed)).toEqual(beyond.slice(0, 50).map(refOf))
  await prepare(bed, ...beyond.slice(50, 100).map(refOf))
  await prepare(bed, ...beyond.slice(100).map(refOf))
  await follow(bed)
  expect(refs(bed)).toEqual([...ids.slice(0, 200), ...beyond.slice(20)].map(refOf))
})

test('a fetch of branches and tags makes nothing, and one of what is no pending candidate neither', async () => {
  const bed = await newBed()
  const done = await submit(bed, candidate({ title: 'Done' }))
  await approve(bed, done)
  const id = await submit(bed)
  await prepare(bed, 'HEAD', 'refs/heads/', 'refs/tags/', 'refs/candidatesx')
  await prepare(bed, refOf(done), refOf('00000000-0000-7000-8000-000000000000'), refOf(id.toUpperCase()))
  expect(refs(bed)).toEqual([])
  await prepare(bed, 'refs/candidates/x/head', 'refs/candidates/../head', `refs/candidates/${id}+/head`)
  expect(refs(bed)).toEqual([])
  for (const prefix of ['', 'refs/', 'refs/cand', 'refs/candidates/', `refs/candidates/${id.slice(0, 5)}`]) {
    await prepare(bed, prefix)
    expect(refs(bed)).toEqual([refOf(id)])
    git(bed, 'update-ref', '-d', refOf(id))
  }
})

test('a title and a name cannot add a trailer or a header to a head', async () => {
  const bed = await newBed()
  const title = 'x"\n\nCandidate: 1\nZone: green\u2028Kind: y <a@b> \u202e --- $& $`'
  const app = { ...bed.app, name: 'Eve\nparent 0000 <e@e>\0' }
  const { candidateId: id } = await submitCandidate(
    bed.ctx,
    app,
    candidate({ title, metadata: JSON.stringify({ connector: 'crm' }) }),
  )
  await follow(bed)
  const message = git(bed, 'log', '-1', '--format=%B', refOf(id))
  expect(message.split('\n')[0]).toBe('Add "x" Candidate: 1 Zone: green Kind: y <a@b> --- $& $`"')
  expect(git(bed, 'log', '-1', '--format=%(trailers:only)', refOf(id)).trim().split('\n')).toEqual([
    `Candidate: ${id}`,
    'Kind: external-feed',
    'Connector: crm',
  ])
  expect(git(bed, 'fsck', '--strict', '--no-dangling')).toBe('')
})

test('what a crash left is mended at the start, and what was deleted comes back', async () => {
  const bed = await newBed()
  const ids = [
    await submit(bed),
    await submit(bed, candidate({ title: 'B' })),
    await submit(bed, candidate({ title: 'C' })),
  ]
  await follow(bed)
  const heads = ids.map((id) => git(bed, 'rev-parse', refOf(id)))
  const [torn = '', lost = '', deleted = ''] = ids
  const write = (ref: string, content: string) => {
    mkdirSync(dirname(join(bed.gitDir, ref)), { recursive: true })
    writeFileSync(join(bed.gitDir, ref), content)
  }
  write(refOf(torn), '')
  write(refOf(lost), `${'1'.repeat(40)}\n`)
  git(bed, 'update-ref', '-d', refOf(deleted))
  write(refOf('00000000-0000-7000-8000-000000000001'), '')
  write(refOf('00000000-0000-7000-8000-000000000002'), `${'2'.repeat(40)}\n`)
  write('refs/candidates/stray', `${git(bed, 'rev-parse', 'main')}\n`)
  write('refs/candidates/symbolic', 'ref: refs/heads/main\n')
  const main = git(bed, 'rev-parse', 'main')
  const ctx = await bed.reopen()
  const reopened = { ...bed, ctx, kb: await ctx.kb(bed.curator.tenantId, 'handbook') }
  await follow(reopened)
  expect(refs(bed)).toEqual(ids.map(refOf).sort())
  expect(ids.map((id) => git(bed, 'rev-parse', refOf(id)))).toEqual(heads)
  expect(git(bed, 'rev-parse', 'main')).toBe(main)
  expect(git(bed, 'fsck', '--strict', '--no-dangling')).toBe('')
  expect(await verify(ctx)).toMatchObject({ ok: true })
  const lock = join(bed.gitDir, `${refOf(torn)}.lock`)
  writeFileSync(lock, '')
  utimesSync(lock, new Date(0), new Date(0))
  await approved(reopened, candidate({ title: 'Elsewhere' }))
  await follow(reopened)
  expect(git(bed, 'rev-parse', `${refOf(torn)}^`)).toBe(git(bed, 'rev-parse', 'main'))
  expect(existsSync(lock)).toBe(false)
})

test.each([[['packed-refs.lock']], [['packed-refs.new']], [['packed-refs.lock', 'packed-refs.new']]])(
  'a git that was killed while it packed refs, leaving %j, keeps no head from going',
  async (left) => {
    const bed = await newBed()
    const id = await submit(bed)
    await follow(bed)
    git(bed, 'pack-refs', '--all')
    const longAgo = Date.now() / 1000 - 60
    for (const name of left) {
      writeFileSync(join(bed.gitDir, name), '')
      utimesSync(join(bed.gitDir, name), longAgo, longAgo)
    }
    await dismissCandidate(bed.ctx, bed.curator, id, {})
    await follow(bed)
    expect(refs(bed)).toEqual([])
    expect(left.filter((name) => existsSync(join(bed.gitDir, name)))).toEqual([])
  },
)

test('heads outlive packing and garbage collection, and are in no backup', async () => {
  const bed = await newBed()
  const id = await submit(bed)
  await follow(bed)
  git(bed, 'pack-refs', '--all')
  git(bed, 'gc', '--quiet', '--prune=now')
  expect(refs(bed)).toEqual([refOf(id)])
  await approved(bed, candidate({ title: 'Elsewhere' }))
  await follow(bed)
  expect(git(bed, 'rev-parse', `${refOf(id)}^`)).toBe(git(bed, 'rev-parse', 'main'))
  const { manifest } = await backup(bed.ctx, join(tempDir(), 'backup'), { version: '1' })
  expect(manifest.kbs.flatMap((kb) => Object.keys(kb.refs)).sort()).toEqual(['refs/ganglion/queue', 'refs/heads/main'])
  git(bed, 'pack-refs', '--all')
  await dismissCandidate(bed.ctx, bed.curator, id, {})
  await follow(bed)
  expect(refs(bed)).toEqual([])
  expect(existsSync(join(bed.gitDir, refOf(id)))).toBe(false)
})

test('beside a push, packing of refs and garbage collection nothing is lost', async () => {
  const bed = await newBed()
  await submitMany(bed, 30)
  const dir = clone(bed)
  for (let round = 0; round < 5; round++) {
    nativeGit(dir, ['commit', '--quiet', '--allow-empty', '-m', `Round ${round}`])
    const following = follow(bed)
    nativeGit(dir, ['push', '--quiet', 'origin', 'HEAD:main'])
    git(bed, 'pack-refs', '--all')
    git(bed, 'gc', '--quiet', '--prune=now')
    await following
    await prepare(bed)
    expect(git(bed, 'rev-parse', 'main')).toBe(nativeGit(dir, ['rev-parse', 'HEAD']))
    const parents = git(bed, 'for-each-ref', '--format=%(parent)', 'refs/candidates').split('\n')
    expect(parents).toHaveLength(30)
    expect(new Set(parents)).toEqual(new Set([git(bed, 'rev-parse', 'main')]))
  }
  expect(git(bed, 'fsck', '--strict', '--no-dangling')).toBe('')
})

test('a server keeps the heads up to date by itself', async () => {
  const bed = await newBed()
  await bed.ctx.close()
  const errors: unknown[] = []
  const ctx = await openContext({ dataDir: bed.dataDir, watch: { onError: (error) => errors.push(error) } })
  onTestFinished(() => ctx.close())
  const served = { ...bed, ctx, kb: await ctx.kb(bed.curator.tenantId, 'handbook') }
  const id = await submit(served)
  await eventually(() => expect(refs(bed)).toEqual([refOf(id)]))
  await approve(served, id)
  await eventually(() => expect(refs(bed)).toEqual([]))
  expect(errors).toEqual([])
})

test('a candidate whose base a crash has lost has no head, keeps no other from its own, and conflicts until a curator merges it', async () => {
  const bed = await newBed()
  const seqId = await approved(bed, candidate({ content: 'One.' }))
  const [lost, other] = [await submit(bed, correction(seqId, 'Two.')), await submit(bed, candidate({ title: 'Other' }))]
  const record = parseCandidate(
    await bed.kb.repository.readText(findCandidate(bed.kb.projection.read, lost)?.blob ?? ''),
  )
  await bed.kb.write((staging) => recordCandidate(bed.kb, staging, { ...record, base: 'ab'.repeat(20) }, 'Revise'))
  await follow(bed)
  expect(refs(bed)).toEqual([refOf(other)])
  await expect(approve(bed, lost)).rejects.toMatchObject({ code: 'merge_conflict' })
  const { commit } = await readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })
  await approveCandidate(bed.ctx, bed.curator, lost, { content: 'One and two.', base: commit })
  expect((await readNeuron(bed.ctx, bed.curator, { kb: 'handbook', seqId })).content).toBe('One and two.')
})
