import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ContextOptions, type OpenContext, openContext } from '../../../src/app/open-context.ts'
import { audienceClone } from '../../../src/kb/clone/audience-clone.ts'
import { type AdoptOptions, adoptKnowledgeBase } from '../../../src/operate/adopt/adopt-kb.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { listNeurons } from '../../../src/pages/list-neurons.ts'
import { readHistory } from '../../../src/pages/read-history.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { approveCandidate, commentCandidate, dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { HostileCommits } from '../../git/support/hostile-commits.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { candidate, correction } from '../../kb/support/test-bed.ts'
import { tempDir } from '../../support/temp.ts'
import { threads } from '../../support/threads.ts'
import { newHouse } from '../erase/support/erasure-house.ts'

const main = 'refs/heads/main'

/** An empty data directory elsewhere. */
async function elsewhere(options: Partial<ContextOptions> = {}): Promise<OpenContext> {
  const ctx = await openContext({ dataDir: join(tempDir(), 'data'), threads, ...options })
  onTestFinished(() => ctx.close())
  return ctx
}

async function curatorIn(ctx: OpenContext): Promise<Caller> {
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  return { id: 'key:curator', name: 'The curator', tenantId, role: 'curator', connectors: [] }
}

/** A repository of others with these files, which `git` made: the path of its folder, and how to write on. */
function repositoryOf(files: Record<string, string>, name = 'wiki.git') {
  const dir = join(tempDir(), name)
  nativeGit(tempDir(), ['init', '--quiet', '--bare', '--initial-branch=main', dir])
  const native = new NativeWriter(dir)
  const write = (changes: Record<string, string | null>) => native.commit(main, new Map(Object.entries(changes)))
  const empty = native.git('hash-object', '-t', 'tree', '-w', '/dev/null')
  native.git('update-ref', main, native.git('commit-tree', empty, '-m', 'Begin'))
  write(files)
  return { dir, native, write }
}

/** Expects that a rejected adoption left nothing. */
async function expectNothing(ctx: OpenContext, kbs = 0): Promise<void> {
  expect(await ctx.knowledgeBases.all()).toHaveLength(kbs)
  expect(readdirSync(ctx.directory.repositories)).toHaveLength(kbs)
  expect(readdirSync(ctx.directory.incoming)).toEqual([])
}

async function expectSound(ctx: OpenContext): Promise<void> {
  const { kbs } = await verify(ctx)
  expect(kbs.flatMap(({ problems }) => problems)).toEqual([])
}

/** All that a curator is told of `handbook`, also at the commits of each version, and with the ids that an erasure replaced. */
async function answers(ctx: OpenContext, cited: readonly { seqId: string; at: string }[] = []) {
  const curator = await curatorIn(ctx)
  const { neurons } = await listNeurons(ctx, curator, 'handbook', { limit: 100 })
  const pages = neurons.map(async ({ seqId }) => {
    const { versions } = await readHistory(ctx, curator, { kb: 'handbook', seqId, limit: 100 })
    const at = versions.map(({ commit }) => readNeuron(ctx, curator, { kb: 'handbook', seqId, at: commit }))
    return [versions, await Promise.all(at)]
  })
  const { candidates } = await listCandidates(ctx, curator, { kb: 'handbook', limit: 100 })
  const details = candidates.map(({ candidateId }) => readCandidate(ctx, curator, candidateId))
  const citations = cited.map(({ seqId, at }) => readNeuron(ctx, curator, { kb: 'handbook', seqId, at }))
  return {
    ...{ neurons, candidates },
    pages: await Promise.all(pages),
    details: await Promise.all(details),
    citations: await Promise.all(citations),
  }
}

test('a full copy becomes the same knowledge base elsewhere, with its queue, decisions and citations', async () => {
  const house = await newHouse()
  const { curator } = house
  const approved = async (input: Parameters<typeof house.propose>[0]) =>
    Object(await house.approve(await house.propose(input))) as { seqId: string; commit: string }
  const erased = await approved(candidate({ title: 'Zebulon Quist', content: 'Quist lives in Xanadu.' }))
  const kept = await approved(candidate({ title: 'Tea', content: 'Tea is hot.' }))
  const changed = await approved(correction(kept.seqId, 'Tea is hot, and green.', { title: 'Tea' }))
  const waiting = await house.propose(correction(kept.seqId, 'Tea is cold.', { title: 'Tea' }))
  await commentCandidate(house.ctx(), curator, waiting, { comment: 'Is it?' })
  await dismissCandidate(house.ctx(), curator, await house.propose(candidate({ title: 'Ü' })), { reason: 'No.' })
  await house.prepare({ neurons: [erased.seqId] })
  await house.finish()
  const cited = [kept, changed].map(({ commit }) => ({ seqId: kept.seqId, at: commit }))
  const copy = join(tempDir(), 'copy.git')
  nativeGit(tempDir(), ['clone', '--quiet', '--mirror', house.gitDir, copy])

  const ctx = await elsewhere()
  const adopted = await adoptKnowledgeBase(ctx, { source: copy, tenant: 'acme' })
  expect(adopted).toEqual({
    ...{ id: house.kbId, slug: 'handbook', prefix: 'handbook', tenant: 'acme', isMirror: true, neurons: 2 },
    gitDir: ctx.directory.repository(house.kbId),
  })
  expect(await answers(ctx, cited)).toEqual(await answers(house.ctx(), cited))
  await expectSound(ctx)
  // It goes on: the numbers that the original may have given since are left out.
  const next = await submitCandidate(ctx, await curatorIn(ctx), candidate({ title: 'Coffee' }))
  const { seqId } = Object(await approveCandidate(ctx, await curatorIn(ctx), next.candidateId, {}))
  expect(seqId).toBe('handbook_00010003')
  await approveCandidate(ctx, await curatorIn(ctx), waiting, {})
  await expectSound(ctx)

  // A second time.
  await expect(adoptKnowledgeBase(ctx, { source: copy, tenant: 'acme', slug: 'other' })).rejects.toThrow(
    /^The knowledge base handbook here has the id .* another data directory, or delete that one first/,
  )
  await expectNothing(ctx, 1)
})

test('a copy whose slug is taken here gets another, which its kb.yaml says', async () => {
  const house = await newHouse()
  await house.approve(await house.propose(candidate()))
  const ctx = await elsewhere()
  const wiki = repositoryOf({ 'a.md': '# A\n' }, 'handbook.git')
  await adoptKnowledgeBase(ctx, { source: wiki.dir, tenant: 'acme' })
  const copy = { source: house.gitDir, tenant: 'acme' }
  await expect(adoptKnowledgeBase(ctx, copy)).rejects.toMatchObject({
    code: 'already_exists',
    message: 'The tenant has a knowledge base handbook already: choose another slug.',
  })
  await expectNothing(ctx, 1)
  expect(await adoptKnowledgeBase(ctx, { ...copy, slug: 'guide' })).toMatchObject({ id: house.kbId, slug: 'guide' })
  await expectSound(ctx)
})

test('a repository of others keeps its history, of which only the last commit is judged', async () => {
  const { dir, native, write } = repositoryOf({ 'Home.md': '# Home\n\nTo [[Tea]].\n', 'tools/run.sh': '#!/bin/sh\n' })
  const hostile = new HostileCommits(dir)
  const script = { mode: '100755', oid: hostile.blob('#!/bin/sh\n') }
  const before = native.git('rev-parse', main)
  const executable = hostile.commit(
    hostile.with(native.git('rev-parse', `${main}^{tree}`), 'tools/run.sh', script),
    before,
  )
  native.git('update-ref', main, executable)
  const huge = 'x'.repeat(3_000_000)
  write({ 'tools/run.sh': huge })
  write({
    'tools/run.sh': null,
    'drinks/Tea.markdown': '---\ntitle: Tea\ntags: [hot]\n---\nTea: ![cup](cup.png)\n',
    'drinks/cup.png': 'bytes',
    '.github/x.yml': 'a: 1\n',
  })
  const tip = native.git('rev-parse', main)
  const ctx = await elsewhere()
  const adopted = await adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme' })
  expect(adopted).toMatchObject({ slug: 'wiki', prefix: 'wiki', isMirror: false, neurons: 2 })
  const curator = await curatorIn(ctx)
  const { neurons } = await listNeurons(ctx, curator, 'wiki', { limit: 10 })
  expect(neurons.map(({ seqId, title }) => [seqId, title]).toSorted()).toEqual([
    ['wiki_00000001', 'Home'],
    ['wiki_00000002', 'Tea'],
  ])
  const there = new NativeWriter(adopted.gitDir)
  expect(there.paths(main)).toEqual(
    expect.arrayContaining([
      '.github/x.yml',
      'kb.yaml',
      'neurons/Home.md',
      'neurons/drinks/Tea.md',
      'neurons/drinks/cup.png',
    ]),
  )
  there.git('merge-base', '--is-ancestor', tip, main)
  expect(there.git('log', '--format=%H', '--follow', main, '--', 'neurons/Home.md').split('\n')).toContain(before)
  expect(there.git('for-each-ref', '--format=%(refname)', 'refs/adopted')).toBe('')
  await expectSound(ctx)

  // The same twice is two knowledge bases, under two names.
  await expect(adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme' })).rejects.toMatchObject({
    code: 'already_exists',
  })
  expect(await adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme', slug: 'again' })).toMatchObject({ neurons: 2 })
  await expectSound(ctx)
})

test('pages that are in neurons already stay where they are', async () => {
  const { dir } = repositoryOf({ 'neurons/a.md': '# A\n', 'README.md': '# Ours\n', 'notes.md': '# No page\n' })
  const ctx = await elsewhere()
  const { gitDir, neurons } = await adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme' })
  const there = new NativeWriter(gitDir)
  expect(neurons).toBe(1)
  expect(there.paths(main)).toEqual(expect.arrayContaining(['README.md', 'neurons/a.md', 'notes.md']))
  expect(there.read(main, 'README.md')).toBe('# Ours\n')
  await expectSound(ctx)
})

test('a hostile last commit is refused with what is wrong, and leaves nothing', async () => {
  const ctx = await elsewhere()
  const page = { 'a.md': '# A\n' }
  const refused = async (
    change: (hostile: HostileCommits, tree: string) => string,
    message: RegExp,
    limits?: AdoptOptions['limits'],
  ) => {
    const { dir, native } = repositoryOf(page)
    const hostile = new HostileCommits(dir)
    native.git(
      'update-ref',
      main,
      hostile.commit(change(hostile, native.git('rev-parse', `${main}^{tree}`)), native.git('rev-parse', main)),
    )
    const adoption = adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme', ...(limits && { limits }) })
    await expect(adoption).rejects.toThrow(message)
    await expectNothing(ctx)
  }
  const entry = (hostile: HostileCommits, text: string, mode = '100644') => ({ mode, oid: hostile.blob(text) })
  await refused(
    (h, tree) => h.with(tree, 'x.md', entry(h, '/etc/passwd', '120000')),
    /x\.md:1: Symbolic links are not allowed/,
  )
  await refused(
    (h, tree) => h.with(tree, 'x/run', entry(h, 'x', '100755')),
    /x\/run:1: Executable files are not allowed/,
  )
  await refused((h, tree) => h.with(tree, '.git/config', entry(h, 'x')), /git fetch failed: .*hasDotgit/s)
  await refused((h, tree) => h.with(tree, 'a/git~1', entry(h, 'x')), /git fetch failed|which git gives a meaning/s)
  await refused((h, tree) => h.with(tree, 'A.md', entry(h, '# A')), /are one where case is ignored/)
  await refused((h, tree) => h.with(tree, 'x.bin', entry(h, 'x'.repeat(3_000_000))), /larger than 2 MB/)
  await refused((h, tree) => h.with(tree, 'b.md', entry(h, '---\nseqId: wiki_00000001\n---\nB\n')), /was never given/)
  await refused((h, tree) => h.with(tree, 'b.md', entry(h, '---\na: [\n---\nB\n')), /b\.md:/)
  await refused((h, tree) => h.with(tree, 'kb.yaml', entry(h, 'title: x\n')), /has a kb\.yaml, but not the queue/)
  await refused((h) => h.with(h.tree([]), 'a.txt', entry(h, 'x')), /has no file of Markdown/)
  await refused((_, tree) => tree, /has more than 0 GB: leave large files out/, { maxPack: 1 })
  const is = (_: HostileCommits, tree: string) => tree
  await refused(is, /is too large: The pack has \d+ objects; 2 are allowed\. Leave large files/, { maxObjects: 2 })
  await refused(is, /unpacks to more than 1 MB/, { maxUnpackedBytes: 100 })
  const bomb = (h: HostileCommits, leaf: string) => {
    let [tree, mode] = [leaf, leaf === h.tree([]) ? '40000' : '100644']
    for (let depth = 0; depth < 10; depth++) {
      tree = h.tree('abcdefghij'.split('').map((name) => ({ mode, name, oid: tree })))
      mode = '40000'
    }
    return tree
  }
  await refused((h) => bomb(h, h.blob('# A')), /too many files/)
  await refused((h) => bomb(h, h.tree([])), /too many files|is empty/)
}, 60_000)

test('a large object of an earlier commit is refused, also one that is stored as a delta', async () => {
  const ctx = await elsewhere()
  const { dir, native, write } = repositoryOf({ 'a.md': '# A\n' })
  const text = 'Nine to five, but not on Sundays.\n'.repeat(90_000)
  write({ 'old.txt': text })
  write({ 'old.txt': `${text}Closed.\n` })
  write({ 'old.txt': null })
  native.git('repack', '-adfq')
  const adopt = (maxObjectBytes: number) =>
    adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme', limits: { maxObjectBytes } })
  await expect(adopt(text.length)).rejects.toThrow(/has an object of 3 MB; 3 MB are allowed/)
  await expectNothing(ctx)
  expect((await adopt(text.length + 10)).neurons).toBe(1)
})

test('what is no repository, an empty one and one with a bad name are refused', async () => {
  const ctx = await elsewhere()
  const empty = join(tempDir(), 'empty.git')
  nativeGit(tempDir(), ['init', '--quiet', '--bare', empty])
  const adopt = (source: string) => adoptKnowledgeBase(ctx, { source, tenant: 'acme' })
  await expect(adopt(tempDir())).rejects.toThrow(/git ls-remote failed: .*not appear to be a git repository/s)
  const shallow = join(tempDir(), 'shallow.git')
  const { dir, write } = repositoryOf({ 'a.md': 'A\n' })
  write({ 'a.md': 'B\n' })
  nativeGit(tempDir(), ['clone', '--quiet', '--mirror', '--depth=1', `file://${dir}`, shallow])
  await expect(adopt(shallow)).rejects.toThrow('lacks a part of its history')
  await expect(adopt(empty)).rejects.toThrow('has no commit that HEAD or main names')
  await expect(adopt('--upload-pack=false')).rejects.toThrow('git ls-remote failed')
  await expect(adopt('https://ada:secret@127.0.0.1:1/x.git')).rejects.toThrow(/^git ls-remote failed(?!.*secret)/s)
  await expect(adopt(repositoryOf({ 'a.md': 'A\n' }, 'ü.git').dir)).rejects.toThrow(/give one with --slug/)
  await expectNothing(ctx)
  expect(await ctx.tenants.list()).toEqual([])
})

test('a copy without all of its queue, or of a damaged one, is refused', async () => {
  const house = await newHouse()
  const id = await house.propose(candidate())
  await house.approve(id)
  const copy = join(tempDir(), 'copy.git')
  nativeGit(tempDir(), ['clone', '--quiet', '--mirror', house.gitDir, copy])
  const native = new NativeWriter(copy)
  const [path = ''] = native.paths('refs/ganglion/queue')
  native.commit('refs/ganglion/queue', new Map([[path, null]]))
  const ctx = await elsewhere()
  await expect(adoptKnowledgeBase(ctx, { source: copy, tenant: 'acme' })).rejects.toThrow(/which is not on the queue/)
  native.git('update-ref', '-d', 'refs/ganglion/queue')
  await expect(adoptKnowledgeBase(ctx, { source: copy, tenant: 'acme' })).rejects.toThrow(/git clone --mirror/)
  await expectNothing(ctx)
})

test('what one audience sees of a knowledge base is refused as such, until its pages are those of others', async () => {
  const house = await newHouse()
  await house.approve(await house.propose(candidate({ title: 'Shown' })))
  const ctx = await elsewhere()
  const copy = join(tempDir(), 'public.git')
  const shown = await audienceClone(house.ctx(), await house.ctx().kb(house.tenantId, 'handbook'), 'public')
  nativeGit(tempDir(), ['clone', '--quiet', '--mirror', shown, copy])
  const adopting = () => adoptKnowledgeBase(ctx, { source: copy, tenant: 'acme' })
  await expect(adopting()).rejects.toThrow(/holds only what one audience sees.* git clone --mirror .*remove .*seqIds/)
  await expectNothing(ctx)
  const native = new NativeWriter(copy)
  native.commit(main, new Map(native.paths(main).map((path) => [path, '# Mine\n'])))
  expect(await adopting()).toMatchObject({ isMirror: false })
})

test('two adoptions of one copy at once make one knowledge base, and one that was cut off is no obstacle', async () => {
  const house = await newHouse()
  await house.approve(await house.propose(candidate()))
  const ctx = await elsewhere()
  // A crash between the move and the entry.
  const left = ctx.directory.repository(house.kbId)
  mkdirSync(left)
  writeFileSync(join(left, 'left'), '')
  const copy = { source: house.gitDir, tenant: 'acme' }
  const outcomes = await Promise.allSettled([adoptKnowledgeBase(ctx, copy), adoptKnowledgeBase(ctx, copy)])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(existsSync(join(left, 'left'))).toBe(false)
  await expectNothing(ctx, 1)
  await expectSound(ctx)
})

test('an entry that cannot be made leaves no repository', async () => {
  const { dir } = repositoryOf({ 'a.md': '# A\n' })
  const ctx = await elsewhere()
  const { id } = await ctx.tenants.ensure('acme', ctx.now())
  await ctx.tenants.setDisabled({ id }, ctx.now())
  await expect(adoptKnowledgeBase(ctx, { source: dir, tenant: 'acme' })).rejects.toMatchObject({
    code: 'tenant_disabled',
  })
  await expectNothing(ctx)
})
