import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { rebuild } from '../../../src/operate/rebuild.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { sayStillTrue } from '../../../src/pages/write/say-still-true.ts'
import { proposePush } from '../../../src/push/push-proposals.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import { bareId } from '../../../src/rules/access/caller.ts'
import type { CompiledPage } from '../../../src/sources/compile/compiled.ts'
import { commitSource } from '../../../src/sources/ingest/commit-source.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { correction, newTestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const main = 'refs/heads/main'
const path = 'neurons/sources/handbook-00000a.md'
const seqId = 'handbook_00000001'
const editionOf = '0199a5c1-0000-7000-8000-00000000000a'

const lines = (...texts: string[]) => texts.join('\n\n')

/** A knowledge base with the editions of one document, each of one page. */
async function bed() {
  const test = await newTestBed()
  let { ctx } = test
  const native = new NativeWriter(test.gitDir)
  const { curator } = test
  const kb = () => ctx.kb(curator.tenantId, 'handbook')
  let editions = 0
  const edition = async (content: string, more: Partial<CompiledPage> = {}) => {
    const id = editionOf.replace(/.$/, String(editions++))
    const source = { id, filename: 'handbook.md', sha256: 'ab'.repeat(32), editionOf, sourceUrl: null }
    const page: CompiledPage = {
      key: 'summary',
      kind: 'summary',
      title: 'Handbook',
      content,
      tags: ['care'],
      place: {},
    }
    const wanted = { ...source, isWanted: async () => true }
    return commitSource(ctx, await kb(), wanted, [{ ...page, ...more }])
  }
  const pending = async () => {
    const { candidates } = await listCandidates(ctx, curator, { limit: 100, status: 'pending' })
    return candidates.map(({ candidateId }) => candidateId)
  }
  const waiting = async () => {
    const [id = '', ...others] = await pending()
    expect(others).toEqual([])
    return readCandidate(ctx, curator, id)
  }
  const approve = async (edit: Parameters<typeof approveCandidate>[3] = {}) =>
    approveCandidate(ctx, curator, (await waiting()).candidateId, edit)
  const edit = async (content: string) => submitCandidate(ctx, curator, correction(seqId, content, { confidence: 1 }))
  const push = async (change: (page: string) => string) => {
    native.commit(main, new Map([[path, change(native.read(main, path))]]))
    await (await kb()).sync()
  }
  const zone = async (of: 'yellow' | 'green') => {
    const settings = native.read(main, 'kb.yaml').replace(/(ingest-[\w-]+): \w+/g, `$1: ${of}`)
    native.commit(main, new Map([['kb.yaml', settings]]))
    await (await kb()).sync()
  }
  const rebuilt = async () => {
    ctx = await test.reopen()
    await rebuild(ctx, await ctx.knowledgeBases.list())
  }
  const page = () => parseNeuronFile(native.read(main, path))
  return {
    ...test,
    native,
    kb,
    edition,
    pending,
    waiting,
    approve,
    edit,
    push,
    zone,
    rebuilt,
    page,
    current: () => ctx,
  }
}

test('an edit outlives every edition after it, with the projection deleted in between', async () => {
  const { edition, edit, approve, rebuilt, page, pending, current } = await bed()
  await edition(lines('One.', 'Two.', 'Three.'))
  await edit(lines('One, says the curator.', 'Two.', 'Three.'))
  for (const last of ['Three, at last.', 'Three, at the very last.', 'Third.']) {
    await rebuilt()
    expect(await edition(lines('One.', 'Two.', last))).toMatchObject({ updated: 0, pending: 1 })
    await rebuilt()
    await approve()
    expect(page().content).toBe(lines('One, says the curator.', 'Two.', last))
  }
  expect(await edition(lines('One.', 'Two.', 'Third.'))).toMatchObject({ unchanged: 1, pending: 0 })
  expect(await pending()).toEqual([])
  expect((await verify(current())).kbs.flatMap(({ problems }) => problems)).toEqual([])
})

test('an edition that changes what a curator has changed conflicts, also after one that did not', async () => {
  const { edition, edit, approve, waiting, page, current, curator } = await bed()
  await edition(lines('One.', 'Two.', 'Three.'))
  await edit(lines('One, says the curator.', 'Two.', 'Three.'))
  await edition(lines('One.', 'Two.', 'Three, at last.'))
  await approve()
  expect(await edition(lines('One, says the document.', 'Two.', 'Three, at last.'))).toMatchObject({ pending: 1 })

  const { candidateId, conflicts } = await waiting()
  expect(conflicts).toEqual([
    { line: 1, base: 'One.\n', current: 'One, says the curator.\n', proposed: 'One, says the document.\n' },
  ])
  await expect(approveCandidate(current(), curator, candidateId, {})).rejects.toMatchObject({ code: 'merge_conflict' })
  expect(page().content).toBe(lines('One, says the curator.', 'Two.', 'Three, at last.'))
  const { commit } = await current()
    .kb(curator.tenantId, 'handbook')
    .then((kb) => ({ commit: kb.projection.heads(kb.projection.read).main }))
  await approve({ content: lines('One, say both.', 'Two.', 'Three, at last.'), base: commit ?? '' })
  expect(page().content).toBe(lines('One, say both.', 'Two.', 'Three, at last.'))
})

test('what a curator changes while approving is an edit', async () => {
  const { edition, approve, zone, rebuilt, page } = await bed()
  await zone('yellow')
  await edition(lines('One.', 'Two.', 'Three.'))
  await approve({ content: lines('One, says the curator.', 'Two.', 'Three.'), title: 'The handbook', tags: ['mine'] })
  await zone('green')
  await rebuilt()
  expect(await edition(lines('One.', 'Two.', 'Three, at last.'), { tags: ['care', 'new'] })).toMatchObject({
    pending: 1,
  })
  await approve()
  expect(page()).toMatchObject({
    content: lines('One, says the curator.', 'Two.', 'Three, at last.'),
    fields: { title: 'The handbook', tags: ['mine', 'new'] },
  })
  expect(await edition(lines('One!', 'Two.', 'Three, at last.'), { tags: ['care', 'new'] })).toMatchObject({
    pending: 1,
  })
})

test('a title that a curator and the document changed conflicts; tags and keys of the curator stay', async () => {
  const { edition, approve, push, waiting, page } = await bed()
  await edition(lines('One.', 'Two.'))
  await push((text) =>
    text
      .replace('title: Handbook', 'title: Our handbook')
      .replace('tags: [care]', 'tags: [care, mine]\naudience: [tool]'),
  )
  await edition(lines('One.', 'Two, at last.'))
  await approve()
  const kept = { title: 'Our handbook', tags: ['care', 'mine'], audience: ['tool'] }
  expect(page()).toMatchObject({ content: lines('One.', 'Two, at last.'), fields: kept })
  await push((text) => text.replace(/audience: .*\n/, ''))
  await edition(lines('One.', 'Two, for ever.'))
  await approve()
  expect(page().fields.audience).toBeUndefined()
  await edition(lines('One.', 'Two, for ever.'), { title: 'Handbook, 2nd edition' })
  expect((await waiting()).conflicts).toMatchObject([
    { base: 'title: Handbook\n', current: 'title: Our handbook\n', proposed: 'title: Handbook, 2nd edition\n' },
  ])
})

test('a proposal that a curator revised by a push before it was approved is their edit', async () => {
  const { edition, approve, zone, waiting, kb, native, current, curator, rebuilt } = await bed()
  await zone('yellow')
  await edition(lines('One.', 'Two.', 'Three.'))
  const { candidateId } = await waiting()
  const before = native.git('rev-parse', main)
  const revised = `---\ntitle: Handbook\ntags: [care]\ncandidate: ${candidateId}\n---\n\n${lines('One, revised.', 'Two.', 'Three.')}\n`
  native.commit('refs/heads/work', new Map([['neurons/handbook.md', revised]]), { parents: [before] })
  const after = native.git('rev-parse', 'refs/heads/work:neurons/handbook.md')
  const actor = { id: `git:${bareId(curator)}`, name: curator.name }
  await proposePush(
    await kb(),
    {
      changes: [{ path: 'neurons/handbook.md', after }],
      range: { from: before, to: native.git('rev-parse', 'refs/heads/work') },
      proposer: actor,
      origin: { door: 'for', by: actor.id },
    },
    current().now,
  )
  await approve()
  await zone('green')
  await rebuilt()
  expect(await edition(lines('One.', 'Two.', 'Three, at last.'))).toMatchObject({ pending: 1 })
  await approve()
  expect(native.git('grep', '-h', 'revised', main)).toContain('One, revised.')
})

test('what was edited before it was removed waits for a curator when its part comes back', async () => {
  const { edition, edit, approve, pending, page, current, curator, kb, native } = await bed()
  await edition('One.')
  await edit('One, says the curator.')
  const write = await kb()
  const source = { id: editionOf, filename: 'handbook.md', sha256: 'cd'.repeat(32), editionOf, sourceUrl: null }
  await commitSource(current(), write, { ...source, isWanted: async () => true }, [])
  await approve()
  expect(native.paths(main, 'neurons/sources')).toEqual([])
  expect(await edition('One.')).toMatchObject({ created: 0, pending: 1 })
  const [id = ''] = await pending()
  expect(await readCandidate(current(), curator, id)).toMatchObject({
    warnings: ['The Neuron was edited before it was removed: its edits come back only by hand.'],
  })
  await approve()
  expect(page()).toMatchObject({ content: 'One.', fields: { seqId } })
})

test('that a page is still true is no edit; an edition with another text takes it back', async () => {
  const { edition, page, approve, waiting, current, curator } = await bed()
  await edition(lines('One.', 'Two.'))
  await sayStillTrue(current(), curator, { kb: 'handbook', seqId }, { until: '2199-01-01' })
  expect(await edition(lines('One.', 'Two.'), { tags: ['care', 'new'] })).toMatchObject({ updated: 1, pending: 0 })
  expect(page().fields).toMatchObject({ tags: ['care', 'new'], verified: { until: '2199-01-01' } })
  expect(await edition(lines('One.', 'Two, at last.'))).toMatchObject({ updated: 1, pending: 0 })
  expect(page()).toMatchObject({ content: lines('One.', 'Two, at last.') })
  expect(page().fields.verified).toBeUndefined()

  await sayStillTrue(current(), curator, { kb: 'handbook', seqId }, {})
  expect(await edition('Another.', { key: 'other', title: 'Other' })).toMatchObject({ created: 1, pending: 1 })
  expect((await waiting()).warnings).toEqual([])
  await approve()
})

test('the removal of a page that somebody has edited says so', async () => {
  const { edition, edit, waiting } = await bed()
  await edition(lines('One.', 'Two.'))
  await edit(lines('One, says the curator.', 'Two.'))
  expect(await edition('Another.', { key: 'other', title: 'Other' })).toMatchObject({ created: 1, pending: 1 })
  expect((await waiting()).warnings).toEqual([
    'The Neuron was edited since its Source was ingested: approving removes the edits, too.',
  ])
})

test('what waits for a Neuron that was deleted since is taken back by the next ingest', async () => {
  const { edition, pending, zone, native, kb, curator, current } = await bed()
  await edition('One.')
  await zone('yellow')
  expect(await edition('Two.')).toMatchObject({ pending: 1 })
  const [waiting = ''] = await pending()
  native.commit(main, new Map([[path, null]]))
  await (await kb()).sync()
  expect(await edition('Two.')).toMatchObject({ unchanged: 1, pending: 0 })
  expect(await pending()).toEqual([])
  expect((await readCandidate(current(), curator, waiting)).status).toBe('dismissed')
})
