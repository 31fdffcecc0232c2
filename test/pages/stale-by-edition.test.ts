import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../src/markdown/file/neuron-file.ts'
import { verify } from '../../src/operate/verify/verify.ts'
import { listNeurons } from '../../src/pages/list-neurons.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { sayStillTrue } from '../../src/pages/write/say-still-true.ts'
import { OutsideAdoption } from '../../src/push/outside/adopt-outside.ts'
import { approveCandidate } from '../../src/queue/decide-candidate.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import type { CompiledPage } from '../../src/sources/compile/compiled.ts'
import { commitSource } from '../../src/sources/ingest/commit-source.ts'
import { addSource } from '../kb/support/ingest-support.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { candidate, correction, newTestBed } from '../kb/support/test-bed.ts'

const main = 'refs/heads/main'

/** A document with a summary and a part, whose editions are ingested, and pages by people. */
async function start() {
  const bed = await newTestBed()
  const { ctx, kbId, gitDir, curator, app } = bed
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  const editions: { id: string; filename: string }[] = []
  const page = (key: string, title: string, content: string): CompiledPage => {
    return { key, kind: key === 'summary' ? 'summary' : 'part', title, content, tags: [], place: {} }
  }
  const ingest = async (rule: string, edition?: { id: string; filename: string }, end = 'See [[Care]].') => {
    const source = edition ?? (await addSource(ctx, { kbId, filename: `care-${editions.length + 1}.pdf` }))
    if (edition === undefined) editions.push(source)
    const pages = [page('summary', 'Care', 'See [[Hands]].\n'), page('hands', 'Hands', `${rule}\n\n${end}\n`)]
    const { id, filename } = source
    const ofEdition = { id, filename, sha256: 'ab'.repeat(32), editionOf: editions[0]?.id ?? id, sourceUrl: null }
    await commitSource(ctx, kb, { ...ofEdition, isWanted: async () => true }, pages)
  }
  const take = async (input: Parameters<typeof submitCandidate>[2]) => {
    const { candidateId } = await submitCandidate(ctx, app, input)
    const answer = await approveCandidate(ctx, curator, candidateId, {})
    return answer.status === 'approved' ? answer.seqId : expect.unreachable('It was not approved.')
  }
  const write = async (title: string, content: string) => take(candidate({ title, content }))
  const staleFor = async (caller: Caller) => {
    const { neurons } = await listNeurons(ctx, caller, 'handbook', { stale: true, limit: 100 })
    return neurons.map(({ title, newEdition }) => `${title}: ${newEdition?.filename ?? 'unnamed'}`).sort()
  }
  const sound = async () => {
    const problems = (await verify(ctx)).kbs.flatMap((one) => one.problems)
    // There never were bytes, and files name seqIds of their own.
    expect(problems.filter(({ kind }) => kind !== 'source' && kind !== 'file')).toEqual([])
  }
  return { ...bed, kb, writer: new NativeWriter(gitDir), editions, ingest, take, write, staleFor, sound }
}

test('a new edition marks pages that only cite it, until somebody looks at them', async () => {
  const { ctx, curator, reader, kb, writer, editions, ingest, take, write, staleFor, sound } = await start()
  await ingest('Wash for 20 seconds.')
  const linking = await write('Ward rules', 'As [[Hands]] says: 20 seconds.')
  const summary = await write('Overview', 'There is [[Care]].')
  await write('Apart', 'Says nothing of it; [[part-of:Hands]].')
  const edge = '---\nseqId: handbook_00000021\ntitle: By edge\nedges: [{ type: cites, target: Hands }]\n---\n\nWash.\n'
  const named = `---\nseqId: handbook_00000022\ntitle: By name\nsources: [{ id: ${editions[0]?.id}, page: "4" }]\n---\n\nWash.\n`
  const files = new Map([
    ['neurons/by-edge.md', edge],
    ['neurons/by-name.md', named],
  ])
  writer.commit(main, files)
  await kb.sync()
  expect(await staleFor(curator)).toEqual([])

  await ingest('Wash for 30 seconds.')
  // The summary is as it was, and so is what cites it alone.
  const marked = ['By edge: care-2.pdf', 'By name: care-2.pdf', 'Ward rules: care-2.pdf']
  expect(await staleFor(curator)).toEqual(marked)
  expect(await staleFor(reader)).toEqual(marked)
  const read = (seqId: string) => readNeuron(ctx, curator, { kb: 'handbook', seqId })
  expect(await read(linking)).toMatchObject({
    stale: true,
    newEdition: { id: editions[1]?.id, filename: 'care-2.pdf' },
  })
  expect(await read(summary)).not.toHaveProperty('stale')
  await sound()

  await sayStillTrue(ctx, curator, { kb: 'handbook', seqId: linking }, {})
  await ingest('Wash for 40 seconds.')
  const again = ['By edge: care-3.pdf', 'By name: care-3.pdf', 'Ward rules: care-3.pdf']
  expect(await staleFor(curator)).toEqual(again)
  // On the same day: what was known then was another edition.
  await sayStillTrue(ctx, curator, { kb: 'handbook', seqId: linking }, {})
  expect(await staleFor(curator)).toEqual(again.slice(0, 2))
  expect((await read(linking)).verified?.edition).toBe(editions[2]?.id)
  const { commit } = (await sayStillTrue(ctx, curator, { kb: 'handbook', seqId: linking }, {})) as { commit: string }
  expect((await read(linking)).commit).toBe(commit)
  const { neurons } = await listNeurons(ctx, curator, 'handbook', { stale: true, limit: 1 })
  await take(correction(neurons[0]?.seqId ?? '', 'Edited.', { title: 'By edge' }))
  expect(await staleFor(curator)).toEqual(again.slice(1, 2))
  await sound()
})

test('an edition that is taken back marks nothing, and one that comes back does again', async () => {
  const { curator, editions, ingest, write, staleFor, sound } = await start()
  await ingest('Wash for 20 seconds.')
  await write('Ward rules', 'As [[Hands]] says.')
  await ingest('Wash for 30 seconds.')
  expect(await staleFor(curator)).toHaveLength(1)
  await ingest('Wash for 20 seconds.', editions[0])
  expect(await staleFor(curator)).toEqual([])
  await ingest('Wash for 35 seconds.', editions[1])
  expect(await staleFor(curator)).toEqual(['Ward rules: care-2.pdf'])
  // The same edition, compiled otherwise.
  await write('Later', 'As [[Hands]] says, too.')
  await ingest('Wash for 36 seconds.', editions[1])
  expect(await staleFor(curator)).toEqual(['Ward rules: care-2.pdf'])
  await sound()
})

test('an edition that only moves the text or changes its blanks marks nothing', async () => {
  const { curator, ingest, write, staleFor, sound } = await start()
  const from = (page: number) => [undefined, `From [[Care]], page ${page}.`] as const
  await ingest('Wash for 20 seconds.\n\nThen dry.', ...from(4))
  await write('Ward rules', 'As [[Hands]] says.')
  await ingest('Wash for 20\nseconds. \n\nThen dry.', ...from(5))
  expect(await staleFor(curator)).toEqual([])
  await ingest('Wash for 20 seconds.\n\nThen dry well.', ...from(5))
  expect(await staleFor(curator)).toEqual(['Ward rules: care-3.pdf'])
  await ingest('Wash for 20 seconds.\n\nThen  dry well.', ...from(6))
  expect(await staleFor(curator)).toEqual(['Ward rules: care-4.pdf'])
  await sound()
})

test('what a person copied from a page of a Source is not of its ingest, and is marked', async () => {
  const { ctx, curator, kb, writer, ingest, staleFor } = await start()
  await ingest('Wash for 20 seconds.')
  const adoption = new OutsideAdoption(kb, writer.git('rev-parse', main), ctx)
  const path = writer.paths(main, 'neurons').find((name) => name.endsWith('/hands.md')) ?? ''
  const copy = writer
    .read(main, path)
    .replace(/^(seqId|id): .*\n/gm, '')
    .replace('title: Hands', 'title: Copied')
  expect(copy).toMatch(/^connector: ingest\n(?:.*\n)+candidate: /m)
  writer.commit(main, new Map([['neurons/copied.md', copy]]))
  await kb.sync()
  expect(await adoption.adopt()).toEqual([])
  expect(parseNeuronFile(writer.read(main, 'neurons/copied.md')).fields.connector).toBeUndefined()
  await ingest('Wash for 30 seconds.')
  expect(await staleFor(curator)).toEqual(['Copied: care-2.pdf'])
})

test('whoever may not see the page of the Source is told nothing of its edition, by the same page', async () => {
  const { ctx, kbId, kb, curator, reader, ingest, take, write, staleFor } = await start()
  const hide = async (seqId: string, content: string, title: string) =>
    take(
      correction(seqId, content, {
        title,
        metadata: JSON.stringify({ targetNeuron: seqId, replaceTags: true, tags: ['internal'] }),
      }),
    )
  await ingest('Wash for 20 seconds.')
  const [row] = kb.projection.read.all`SELECT seq_id FROM neurons WHERE title = 'Hands'`
  const hands = String(row?.seq_id)
  await write('Ward rules', 'As [[Hands]] says.')
  await ingest('Wash for 30 seconds.')
  expect(await staleFor(reader)).toEqual(['Ward rules: care-2.pdf'])
  const internal = (await ctx.sources.all(kbId)).at(-1)
  await ctx.database.db
    .updateTable('sources')
    .set({ tags: 'internal' })
    .where('id', '=', internal?.id ?? '')
    .execute()
  expect(await staleFor(reader)).toEqual(['Ward rules: unnamed'])
  await hide(hands, 'Wash for 30 seconds.\n\nSee [[Care]].\n', 'Hands')
  expect(await staleFor(curator)).toEqual(['Ward rules: care-2.pdf'])
  expect(await staleFor(reader)).toEqual([])
})
