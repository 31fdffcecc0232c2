import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { readCandidate } from '../../../src/queue/read-candidate.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { CompiledPage } from '../../../src/sources/compile/compiled.ts'
import { commitSource } from '../../../src/sources/ingest/commit-source.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { correction, newTestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const main = 'refs/heads/main'
const source = {
  id: '0199a5c1-0000-7000-8000-00000000000a',
  filename: 'Handbook 2026.pdf',
  sha256: 'ab'.repeat(32),
  editionOf: '0199a5c1-0000-7000-8000-00000000000a',
  sourceUrl: null,
  isWanted: async () => true,
}

function part(key: string, content: string, more: Partial<CompiledPage> = {}): CompiledPage {
  return { key, kind: 'part', title: `Title of ${key}`, content, tags: ['handbook'], place: { pages: [7, 9] }, ...more }
}

const summary = part('summary', 'What it says.', { kind: 'summary', title: 'Handbook 2026', place: {} })

async function bed() {
  const test = await newTestBed()
  const kb = await test.ctx.kb(test.curator.tenantId, 'handbook')
  const native = new NativeWriter(test.gitDir)
  const ingest = (...pages: CompiledPage[]) => commitSource(test.ctx, kb, source, [summary, ...pages])
  const pending = async () => {
    const { candidates } = await listCandidates(test.ctx, test.curator, { limit: 100, status: 'pending' })
    return candidates
  }
  const pageOf = (path: string) => parseNeuronFile(native.read(main, path))
  return { ...test, kb, native, ingest, pending, pageOf }
}

test('pages of an internal Source are not called after its file, which no reader may know of when a page is shown', async () => {
  const { ctx, kb, native } = await bed()
  const plan = { ...source, filename: 'Layoffs board.pdf' }
  const tags = ['internal']
  const pages = [{ ...summary, title: 'Moving', tags }, part('rooms', 'Floor two.', { tags })]
  await commitSource(ctx, kb, plan, pages)
  expect(native.paths(main, 'neurons/sources')).toEqual([
    'neurons/sources/moving-00000a.md',
    'neurons/sources/source-00000a/rooms.md',
  ])
})

test('the pages of a Source are Neurons of one commit, each with its candidate and where it is from', async () => {
  const { native, ingest, pageOf, ctx } = await bed()
  const before = native.git('rev-parse', main)

  const outcome = await ingest(part('on-call', 'Page the lead.'), part('vip', 'VIPs first.'))

  expect(outcome).toMatchObject({
    created: 3,
    updated: 0,
    pending: 0,
    seqIds: [1, 2, 3].map((n) => `handbook_0000000${n}`),
  })
  expect(native.git('rev-parse', `${main}^`)).toBe(before)
  expect(native.paths(main, 'neurons/sources')).toEqual([
    'neurons/sources/handbook-2026-00000a.md',
    'neurons/sources/handbook-2026-00000a/on-call.md',
    'neurons/sources/handbook-2026-00000a/vip.md',
  ])
  const { fields, content } = pageOf('neurons/sources/handbook-2026-00000a/vip.md')
  expect(content).toBe('VIPs first.')
  expect(fields).toMatchObject({
    ...{ seqId: 'handbook_00000003', title: 'Title of vip', tags: ['handbook'], connector: 'ingest' },
    sources: [{ id: source.id, filename: 'Handbook 2026.pdf', sha256: source.sha256, page: '7-9' }],
  })
  expect((await verify(ctx)).kbs.flatMap(({ problems }) => problems)).toEqual([])
})

test('the same again changes nothing, and a changed page is the next version of its Neuron', async () => {
  const { native, ingest, pageOf } = await bed()
  await ingest(part('on-call', 'Page the lead.'))
  const heads = native.git('for-each-ref')
  expect(await ingest(part('on-call', 'Page the lead.'))).toMatchObject({ created: 0, updated: 0, unchanged: 2 })
  expect(native.git('for-each-ref')).toBe(heads)

  const renamed = part('on-call', 'Page the lead at once.', { title: 'On call' })
  expect(await ingest(renamed)).toMatchObject({ created: 0, updated: 1, unchanged: 1 })
  const { fields, content } = pageOf('neurons/sources/handbook-2026-00000a/on-call.md')
  expect(content).toBe('Page the lead at once.')
  expect(fields).toMatchObject({ seqId: 'handbook_00000002', title: 'On call', aliases: ['Title of on-call'] })
})

test('what a curator has edited is not overwritten: the new text waits, and merges', async () => {
  const { ctx, curator, ingest, pending, pageOf } = await bed()
  await ingest(part('on-call', 'One.\n\nTwo.\n\nThree.'))
  const edit = correction('handbook_00000002', 'One!\n\nTwo.\n\nThree.', { confidence: 1 })
  await submitCandidate(ctx, curator, edit)

  expect(await ingest(part('on-call', 'One.\n\nTwo.\n\nThree, at last.'))).toMatchObject({ updated: 0, pending: 1 })
  const [waiting] = await pending()
  expect(waiting).toMatchObject({ kind: 'ingest-page-update', target: 'handbook_00000002' })
  expect(pageOf('neurons/sources/handbook-2026-00000a/on-call.md').content).toBe('One!\n\nTwo.\n\nThree.')

  expect(await ingest(part('on-call', 'One.\n\nTwo.\n\nThree, at last.'))).toMatchObject({ pending: 1 })
  expect(await pending()).toHaveLength(1)
  await approveCandidate(ctx, curator, waiting?.candidateId ?? '', {})
  expect(pageOf('neurons/sources/handbook-2026-00000a/on-call.md').content).toBe('One!\n\nTwo.\n\nThree, at last.')
})

test('an edit around the server is not overwritten, and stops no other page', async () => {
  const { native, ingest, pending, pageOf } = await bed()
  await ingest(part('on-call', 'One.'), part('vip', 'Two.'))
  const path = 'neurons/sources/handbook-2026-00000a/on-call.md'
  native.commit(main, new Map([[path, native.read(main, path).replace('One.', 'Eins.')]]))
  expect(await ingest(part('on-call', 'One, at last.'), part('vip', 'Two, at last.'))).toMatchObject({
    updated: 1,
    pending: 1,
  })
  expect(pageOf(path).content).toBe('Eins.')
  expect(await pending()).toMatchObject([{ kind: 'ingest-page-update', target: 'handbook_00000002' }])
})

test('an edit over the API and another edition with other tags merge, whatever stands side by side in the front matter', async () => {
  const { ctx, curator, ingest, pending, pageOf, native } = await bed()
  await ingest(part('on-call', 'One.\n\nTwo.\n\nThree.', { tags: ['handbook', 'says', 'old'] }))
  const metadata = JSON.stringify({ targetNeuron: 'handbook_00000002', tags: ['mine'] })
  const edit = correction('handbook_00000002', 'One!\n\nTwo.\n\nThree.', { confidence: 1, metadata })
  await submitCandidate(ctx, curator, edit)
  const path = 'neurons/sources/handbook-2026-00000a/on-call.md'
  expect(pageOf(path).fields).toMatchObject({ connector: 'api', tags: ['handbook', 'says', 'old', 'mine'] })
  const edition: Partial<CompiledPage> = { tags: ['handbook', 'says', 'explains'], place: { pages: [8, 9] } }
  await ingest(part('on-call', 'One.\n\nTwo.\n\nThree, at last.', edition))
  const [waiting] = await pending()
  const id = waiting?.candidateId ?? ''

  const shown = await readCandidate(ctx, curator, id)
  expect(shown.before).toBe(native.read(main, path))
  expect(shown.diff).toContain('-Three.\n+Three, at last.')
  await approveCandidate(ctx, curator, id, {})
  expect(native.read(main, path)).toBe(shown.after)
  const { fields, content } = pageOf(path)
  expect(content).toBe('One!\n\nTwo.\n\nThree, at last.')
  expect(fields).toMatchObject({ connector: 'ingest', tags: ['handbook', 'says', 'mine', 'explains'], candidate: id })
  expect(fields.sources).toMatchObject([{ page: '8-9' }])
})

test('a part that is gone is proposed for removal once, and stays where a curator refuses', async () => {
  const { ctx, curator, ingest, pending, native } = await bed()
  await ingest(part('on-call', 'One.'), part('vip', 'Two.'))
  expect(await ingest(part('on-call', 'One.'))).toMatchObject({ pending: 1, unchanged: 2 })
  const [removal] = await pending()
  expect(removal).toMatchObject({ removes: true, target: 'handbook_00000003' })

  await dismissCandidate(ctx, curator, removal?.candidateId ?? '', {})
  expect(await ingest(part('on-call', 'One.'))).toMatchObject({ pending: 0 })
  expect(native.paths(main, 'neurons/sources/handbook-2026-00000a')).toHaveLength(2)
})

test('a part that was removed since its file lost it comes back with it, as the same Neuron, each time', async () => {
  const { ctx, curator, ingest, pending, native, kb, pageOf } = await bed()
  const path = 'neurons/sources/handbook-2026-00000a/vip.md'
  await ingest(part('vip', 'VIPs first.'))
  native.commit(main, new Map([[path, native.read(main, path).replace('---\n', '---\naudience: [curator]\n')]]))
  await kb.sync()
  const { id } = pageOf(path).fields
  for (const content of ['VIPs first.', 'VIPs last.']) {
    expect(await ingest()).toMatchObject({ pending: 1 })
    const [removal] = await pending()
    await approveCandidate(ctx, curator, removal?.candidateId ?? '', {})
    expect(native.paths(main, 'neurons/sources')).toHaveLength(1)
    expect(await ingest(part('vip', content))).toMatchObject({ created: 1, pending: 0, unchanged: 1 })
    expect(pageOf(path)).toMatchObject({ content, fields: { seqId: 'handbook_00000002', id, audience: ['curator'] } })
    expect(await ingest(part('vip', content))).toMatchObject({ created: 0, unchanged: 2 })
  }
  expect((await verify(ctx)).kbs.flatMap(({ problems }) => problems)).toEqual([])
})

test('a part that comes back while its removal waits stays, and its removal is proposed again when it goes again', async () => {
  const { ingest, pending } = await bed()
  await ingest(part('vip', 'VIPs first.'))
  expect(await ingest()).toMatchObject({ pending: 1 })
  expect(await ingest(part('vip', 'VIPs first.'))).toMatchObject({ pending: 0, unchanged: 2 })
  expect(await pending()).toEqual([])
  expect(await ingest()).toMatchObject({ pending: 1 })
  expect(await pending()).toMatchObject([{ removes: true, target: 'handbook_00000002' }])
})

test('a part that waits for a curator when it comes back is restored by the approval', async () => {
  const { ctx, curator, ingest, pending, native, kb, pageOf } = await bed()
  await ingest(part('vip', 'VIPs first.'))
  await ingest()
  const [removal] = await pending()
  await approveCandidate(ctx, curator, removal?.candidateId ?? '', {})
  const yellow = native.read(main, 'kb.yaml').replace('ingest-summary: green', 'ingest-summary: yellow')
  native.commit(main, new Map([['kb.yaml', yellow]]))
  await kb.sync()
  for (let count = 0; count < 2; count++) {
    expect(await ingest(part('vip', 'VIPs again.'))).toMatchObject({ created: 0, pending: 1 })
  }
  const [restoring, ...others] = await pending()
  expect([restoring?.target, others]).toEqual(['handbook_00000002', []])
  expect(await readCandidate(ctx, curator, restoring?.candidateId ?? '')).toMatchObject({ before: null })
  await approveCandidate(ctx, curator, restoring?.candidateId ?? '', {})
  expect(pageOf('neurons/sources/handbook-2026-00000a/vip.md')).toMatchObject({
    ...{ content: 'VIPs again.', fields: { seqId: 'handbook_00000002' } },
  })
})

test('a Neuron that a curator deleted or brought back stays so, whatever its file holds', async () => {
  const { ctx, curator, ingest, pending, native, kb } = await bed()
  const path = 'neurons/sources/handbook-2026-00000a/vip.md'
  await ingest(part('vip', 'VIPs first.'))
  const page = native.read(main, path)
  native.commit(main, new Map([[path, null]]))
  await kb.sync()
  expect(await ingest()).toMatchObject({ pending: 0 })
  expect(await ingest(part('vip', 'VIPs again.'))).toMatchObject({ created: 0, pending: 0, unchanged: 2 })
  native.commit(main, new Map([[path, page]]))
  await kb.sync()
  expect(await ingest()).toMatchObject({ pending: 1 })
  const [removal] = await pending()
  await approveCandidate(ctx, curator, removal?.candidateId ?? '', {})
  native.commit(main, new Map([[path, page]]))
  await kb.sync()
  expect(await ingest()).toMatchObject({ pending: 0 })
  expect(await ingest(part('vip', 'VIPs first.'))).toMatchObject({ created: 0, pending: 0, unchanged: 2 })
})

test('a page that a curator deleted or refused does not come back, another text of it does', async () => {
  const { ctx, curator, ingest, pending, native, kb } = await bed()
  const yellow = native.read(main, 'kb.yaml').replace('ingest-summary: green', 'ingest-summary: yellow')
  native.commit(main, new Map([['kb.yaml', yellow]]))
  await kb.sync()
  expect(await ingest(part('vip', 'Two.'))).toMatchObject({ created: 0, pending: 2 })
  for (const { candidateId } of await pending()) await dismissCandidate(ctx, curator, candidateId, {})
  expect(await ingest(part('vip', 'Two.'))).toMatchObject({ pending: 0, unchanged: 2 })
  expect(await ingest(part('vip', 'Two, anew.'))).toMatchObject({ pending: 1, unchanged: 1 })
})

test('parts whose names are the same once they are slugs get paths of their own', async () => {
  const { ingest, native } = await bed()
  await ingest(part('漢', 'One.'), part('字', 'Two.'), part('a', 'Three.'), part('A', 'Four.'))
  expect(new Set(native.paths(main, 'neurons/sources')).size).toBe(5)
  const keys = native.paths(main, 'neurons/sources').map((path) => path.toLowerCase())
  expect(new Set(keys).size).toBe(5)
})

test('what is no longer wanted when its turn comes is not written', async () => {
  const { kb, ctx, native } = await bed()
  const refs = native.git('for-each-ref')
  const overtaken = { ...source, isWanted: async () => false }
  expect(await commitSource(ctx, kb, overtaken, [summary])).toMatchObject({ created: 0, seqIds: [] })
  expect(native.git('for-each-ref')).toBe(refs)
})

test('a page that is renamed by edition after edition keeps all of its titles as aliases', async () => {
  const { ingest, pageOf } = await bed()
  for (const title of ['First title', 'Second title', 'Third title']) await ingest(part('on-call', 'One.', { title }))
  const { fields } = pageOf('neurons/sources/handbook-2026-00000a/on-call.md')
  expect(fields).toMatchObject({ title: 'Third title', aliases: ['First title', 'Second title'] })
})
