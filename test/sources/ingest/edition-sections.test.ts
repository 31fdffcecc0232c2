import { expect, test } from 'vitest'
import { parseNeuronFile } from '../../../src/markdown/file/neuron-file.ts'
import { verify } from '../../../src/operate/verify/verify.ts'
import { dismissCandidate } from '../../../src/queue/decide-candidate.ts'
import { listCandidates } from '../../../src/queue/lists/list-candidates.ts'
import { ingestSteps } from '../../../src/sources/ingest/ingest-steps.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { approveCandidate } from '../../support/approve-candidate.ts'

const main = 'refs/heads/main'

/** Sentences of so many characters about a thing, which share no words with those about another. */
const about = (thing: string, size = 1500) =>
  Array.from({ length: 99 }, (_, at) => `The ${thing} ${thing}${at} ${thing}ed ${thing}${at * 3}.`)
    .join(' ')
    .slice(0, size)
const releases = (...things: string[]) =>
  `# Release notes\n\n${things.map((thing) => `## Changed\n\n${about(thing)}`).join('\n\n')}\n`

/** The editions of a document, compiled and committed as the server does. */
async function bed() {
  const test = await newTestBed()
  const { ctx, curator, kbId } = test
  const native = new NativeWriter(test.gitDir)
  const steps = ingestSteps(ctx)
  const context = { signal: new AbortController().signal, onProgress: () => {} }
  let first: string | undefined
  const edition = async (markdown: string) => {
    const replacing = first === undefined ? {} : { editionOf: first }
    const source = { ...(await addSource(ctx, { kbId, filename: 'notes.md' })), ...replacing }
    first ??= source.id
    const extracted = { title: undefined, markdown, anchors: [], warnings: [] }
    const { pages } = await steps.compile(source, extracted, context)
    return steps.commit(source, pages, context)
  }
  const pending = async () => (await listCandidates(ctx, curator, { limit: 100, status: 'pending' })).candidates
  /** The thing that each Neuron is about, by its number. */
  const things = () =>
    Object.fromEntries(
      native.paths(main, 'neurons/sources').flatMap((path) => {
        const { fields, content } = parseNeuronFile(native.read(main, path))
        const thing = /^The (\w+) /.exec(content)?.[1]
        return thing === undefined ? [] : [[Number(fields.seqId?.slice(-8)), thing]]
      }),
    )
  return { ...test, native, edition, pending, things }
}

const five = ['lamp', 'rope', 'boat', 'clock', 'drum']

test('five sections of one name keep their seqIds when one is put in front of them', async () => {
  const { edition, pending, things, ctx, native } = await bed()
  await edition(releases(...five))
  expect(things()).toEqual({ 2: 'lamp', 3: 'rope', 4: 'boat', 5: 'clock', 6: 'drum' })
  const titles = () => native.git('grep', '-h', '^title:', main, '--', 'neurons/sources').split('\n')
  const before = titles()

  expect(await edition(releases('kettle', ...five))).toMatchObject({ pending: 0 })
  expect(things()).toEqual({ 2: 'lamp', 3: 'rope', 4: 'boat', 5: 'clock', 6: 'drum', 7: 'kettle' })
  expect(titles()).toEqual(expect.arrayContaining(before))
  expect(new Set(titles()).size).toBe(7)
  expect(await pending()).toEqual([])
  expect(await edition(releases('kettle', ...five))).toMatchObject({ commit: undefined })
  const { kbs } = await verify(ctx)
  expect(kbs.flatMap(({ problems }) => problems.filter(({ kind }) => kind !== 'source'))).toEqual([])
})

test('sections that are moved, removed and brought back are the same Neurons', async () => {
  const { edition, pending, things, ctx, curator } = await bed()
  await edition(releases(...five))
  await edition(releases('drum', 'lamp', 'boat', 'clock'))
  const [removal, ...others] = await pending()
  expect([removal, others]).toMatchObject([{ removes: true, target: 'handbook_00000003' }, []])
  await approveCandidate(ctx, curator, removal?.candidateId ?? '', {})
  expect(things()).toEqual({ 2: 'lamp', 4: 'boat', 5: 'clock', 6: 'drum' })
  await edition(releases('drum', 'kettle', 'lamp', 'boat', 'clock', 'rope'))
  expect(things()).toEqual({ 2: 'lamp', 3: 'rope', 4: 'boat', 5: 'clock', 6: 'drum', 7: 'kettle' })
  expect(await pending()).toEqual([])
})

test('a section that was rewritten waits for a curator, and is another Neuron once refused', async () => {
  const { edition, pending, things, ctx, curator } = await bed()
  const document = (thing: string) =>
    `# Harbour\n\n${about('harbour', 3000)}\n\n## Storage\n\n${about(thing)}\n\n## Repairs\n\n${about('boat', 3000)}\n`
  await edition(document('lamp'))
  expect(things()).toMatchObject({ 2: 'lamp', 3: 'boat' })
  expect(await edition(document('kettle'))).toMatchObject({ pending: 1 })
  const [waiting] = await pending()
  expect(waiting).toMatchObject({ target: 'handbook_00000002', zone: 'yellow' })
  expect(waiting?.warnings).toEqual([expect.stringMatching(/^Only \d+ % of what this section and the Neuron say/)])
  expect(things()).toMatchObject({ 2: 'lamp' })

  await dismissCandidate(ctx, curator, waiting?.candidateId ?? '', {})
  await edition(document('kettle'))
  expect(things()).toMatchObject({ 2: 'lamp', 3: 'boat', 4: 'kettle' })
  expect(await pending()).toMatchObject([{ removes: true, target: 'handbook_00000002' }])
})

test('another document under the same name does not become the next edition by itself', async () => {
  const { edition, pending, things } = await bed()
  await edition(`# Notes\n\n${about('lamp')}\n`)
  expect(await edition(`# Letters\n\n${about('kettle')}\n`)).toMatchObject({ pending: 1 })
  expect(await pending()).toMatchObject([{ target: 'handbook_00000001', zone: 'yellow' }])
  expect(things()).toEqual({ 1: 'lamp' })
})
