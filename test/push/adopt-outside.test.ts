import { expect, test } from 'vitest'
import { findCandidate } from '../../src/kb/projection/candidate-index.ts'
import { findNeuron } from '../../src/kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../../src/markdown/file/neuron-file.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { OutsideAdoption } from '../../src/push/outside/adopt-outside.ts'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../src/queue/lists/list-candidates.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const main = 'refs/heads/main'

async function bed() {
  const test = await newTestBed()
  const kb = await test.ctx.kb(test.curator.tenantId, 'handbook')
  const native = new NativeWriter(test.gitDir)
  const adoption = new OutsideAdoption(kb, native.git('rev-parse', main), test.ctx)
  const adopt = async () => {
    await kb.sync()
    return adoption.adopt()
  }
  const byGit = async () => {
    const { candidates } = await listCandidates(test.ctx, test.curator, { limit: 100, connector: 'git' })
    return candidates
  }
  const add = async (title: string, content: string) => {
    const { candidateId } = await submitCandidate(test.ctx, test.app, candidate({ title, content }))
    await approveCandidate(test.ctx, test.curator, candidateId, {})
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

test('the page of a dismissed candidate approves that candidate, new or a correction', async () => {
  const { ctx, app, curator, native, adopt, byGit, add, sql } = await bed()
  await add('First', 'One.')
  const [first = ''] = native.paths(main, 'neurons')
  const fresh = await submitCandidate(ctx, app, candidate({ title: 'Fresh', content: 'New.' }))
  const fix = await submitCandidate(ctx, app, correction('handbook_00000001', 'Two.'))
  for (const { candidateId } of [fresh, fix]) await dismissCandidate(ctx, curator, candidateId, {})
  const text = native.read(main, first).replace(/candidate: .*/, `candidate: ${fix.candidateId}`)
  native.commit(
    main,
    new Map([
      [first, text.replace('One.', 'Two.')],
      ['neurons/fresh.md', `---\ntitle: Fresh\ncandidate: ${fresh.candidateId}\n---\n\nNew.\n`],
    ]),
  )

  expect(await adopt()).toEqual([])

  expect(await byGit()).toEqual([])
  expect(findNeuron(sql, 'handbook_00000002')).toMatchObject({ title: 'Fresh', candidateId: fresh.candidateId })
  expect(findCandidate(sql, fresh.candidateId)).toMatchObject({ status: 'approved' })
  expect(findCandidate(sql, fix.candidateId)).toMatchObject({ status: 'approved' })
  expect(await verify(ctx)).toMatchObject({ ok: true })
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
  const texts = native.git('show', ...pages.map(([path]) => `${main}:${path}`))
  expect(new Set(texts.match(/^seqId: handbook_\d{8}$/gm)).size).toBe(600)
  expect(kb.projection.read.get`SELECT count(*) AS count FROM unapproved`).toMatchObject({ count: 0 })
})

test('a seqId that was made up is told of, and no number follows it', async () => {
  const { native, adopt, ctx, add, byGit } = await bed()
  native.commit(main, new Map([['neurons/huge.md', '---\ntitle: Huge\nseqId: handbook_99999999\n---\n\nx\n']]))
  native.commit(main, new Map([['neurons/three.md', '---\ntitle: Three\nseqId: handbook_00000002\n---\n\nx\n']]))
  expect(await adopt()).toMatchObject([
    { rule: 'unknown-seq-id', path: 'neurons/three.md' },
    { rule: 'unknown-seq-id', path: 'neurons/huge.md' },
  ])
  expect(await adopt()).toEqual([])
  expect(await byGit()).toEqual([])

  await add('First', 'One.')
  native.commit(main, new Map([['neurons/plain.md', '---\ntitle: Plain\n---\n\nx\n']]))
  expect(await adopt()).toEqual([])
  const seqIds = native.paths(main, 'neurons').map((path) => parseNeuronFile(native.read(main, path)).fields.seqId)
  expect(seqIds.sort()).toEqual([1, 2, 3, 99999999].map((number) => `handbook_${String(number).padStart(8, '0')}`))

  native.commit(main, new Map([['neurons/huge.md', '---\ntitle: Huge\n---\n\nx\n']]))
  expect(await adopt()).toEqual([])
  expect(parseNeuronFile(native.read(main, 'neurons/huge.md')).fields.seqId).toBe('handbook_00000004')
  const problems = (await verify(ctx)).kbs.flatMap((kb) => kb.problems.map(({ message }) => message))
  expect(problems).toEqual([expect.stringContaining('neurons/three.md:1 unknown-seq-id')])
})

test('a seqId that is taken from a page, or changed in it, is told of until it is put back', async () => {
  const { native, adopt, ctx, add, sql } = await bed()
  await add('First', 'One.')
  await add('Second', 'Two.')
  const [first = '', second = ''] = native.paths(main, 'neurons')
  const [one, two] = [native.read(main, first), native.read(main, second)]
  native.commit(
    main,
    new Map([
      [first, one.replace(/^seqId: .*\n/m, '')],
      [second, two.replace(/^seqId: .*$/m, 'seqId: handbook_00000077')],
    ]),
  )
  const head = native.git('rev-parse', main)
  const rules = new Map((await adopt()).map(({ path, rule }) => [path, rule]))
  expect(rules).toEqual(
    new Map([
      [first, 'removed-seq-id'],
      [second, 'changed-seq-id'],
    ]),
  )
  expect(native.git('rev-parse', main)).toBe(head)
  const problemsOf = async () => (await verify(ctx)).kbs.flatMap((kb) => kb.problems.map(({ message }) => message))
  expect((await problemsOf()).join('\n')).toMatch(
    /removed-seq-id[\s\S]*changed-seq-id|changed-seq-id[\s\S]*removed-seq-id/,
  )

  native.commit(
    main,
    new Map([
      [first, one],
      [second, two],
    ]),
  )
  expect(await adopt()).toEqual([])
  expect((await problemsOf()).filter((message) => message.includes('-seq-id'))).toEqual([])
  expect(findNeuron(sql, 'handbook_00000001')).toMatchObject({ title: 'First', path: first })
})

test('settings and names that no push brings are told of once', async () => {
  const { native, adopt, add } = await bed()
  await add('First', 'One.')
  expect(await adopt()).toEqual([])
  native.commit(
    main,
    new Map([
      ['kb.yaml', native.read(main, 'kb.yaml').replace(/^slug: .*$/m, 'slug: another')],
      ['con/aux.txt', 'x\n'],
    ]),
  )
  expect(await adopt()).toMatchObject([
    { rule: 'path', path: 'con', message: expect.any(String) },
    { rule: 'settings', path: 'kb.yaml' },
  ])
  expect(await adopt()).toEqual([])
})

test('a page that has no room for what the server adds is reported, and keeps no other from its candidate', async () => {
  const { native, adopt, sql } = await bed()
  const filler = 'z'.repeat(16 * 1024 - 28)
  native.commit(
    main,
    new Map([
      ['neurons/big.md', `---\nfiller: ${filler}\n---\n\nBig.\n`],
      ...['a', 'b', 'c'].map((name): [string, string] => [`neurons/${name}.md`, `---\ntitle: ${name}\n---\n\nText.\n`]),
    ]),
  )
  expect(await adopt()).toMatchObject([{ rule: 'not-adopted', path: 'neurons/big.md' }])
  expect([1, 2, 3].map((n) => findNeuron(sql, `handbook_0000000${n}`)?.title)).toEqual(['a', 'b', 'c'])
  expect(await adopt()).toEqual([])
})
