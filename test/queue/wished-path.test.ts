import { expect, test } from 'vitest'
import { writePage } from '../../src/pages/write/write-page.ts'
import { submitCandidate } from '../../src/queue/submit-candidate.ts'
import { candidateIdFor } from '../../src/rules/candidates/candidate-id.ts'
import { candidate, type TestBed } from '../kb/support/test-bed.ts'
import { neuronText, writtenBed } from '../kb/support/written-neurons.ts'
import { approveCandidate } from '../support/approve-candidate.ts'

const submit = ({ ctx, app }: TestBed, title: string, path: string, confidence: number | null = 1) =>
  submitCandidate(ctx, app, candidate({ title, confidence, metadata: JSON.stringify({ path }) }))

test.each([
  ['below a page', 'neurons/a.md/x'],
  ['below a page, deeper', 'neurons/a.md/b/c'],
  ['at a page', 'neurons/a'],
  ['where a folder is', 'neurons/folder.md'],
])('a candidate that wishes for a path %s replaces nothing', async (_, path) => {
  const bed = await writtenBed({
    'a.md': neuronText(1, { title: 'A' }, 'Kept.\n'),
    'folder.md/b.md': neuronText(2, { title: 'B' }, 'Kept too.\n'),
  })
  const { status } = await submit(bed, 'Wished', path)
  expect(status).toBe('approved')
  expect(bed.native.read('refs/heads/main', 'neurons/a.md')).toContain('Kept.')
  expect(bed.native.read('refs/heads/main', 'neurons/folder.md/b.md')).toContain('Kept too.')
  expect((await bed.read(3))?.title).toBe('Wished')
})

test('of two candidates whose paths exclude each other both become pages, in either order', async () => {
  for (const [first, second] of [
    ['neurons/a', 'neurons/a.md/b'],
    ['neurons/a.md/b', 'neurons/a'],
  ] as const) {
    const bed = await writtenBed()
    const [one, other] = [await submit(bed, 'One', first, null), await submit(bed, 'Other', second, null)]
    for (const { candidateId } of [one, other]) await approveCandidate(bed.ctx, bed.curator, candidateId, {})
    expect([(await bed.read(1))?.title, (await bed.read(2))?.title]).toEqual(['One', 'Other'])
  }
})

test('a wish below the name of a file leads to the same place whether there is such a file or not', async () => {
  const paths = async (files: Record<string, string>) => {
    const bed = await writtenBed(files)
    await submit(bed, 'Wish', 'secret/merger.md/x')
    return (await bed.read(2))?.path.replace(/-[0-9a-f]{6}\.md$/, '')
  }
  const hidden = neuronText(1, { title: 'Merger', tags: ['internal'] }, 'Hidden.\n')
  expect(await paths({ 'secret/merger.md': hidden })).toBe(await paths({ 'secret/plan.md': hidden }))
})

test('a page comes into the folder of main that some file systems take for the one of its path', async () => {
  const bed = await writtenBed({ 'Guides/Café/a.md': neuronText(1, { title: 'A' }, 'Text.\n') })
  await submit(bed, 'By an app', 'guides/CAFE\u0301/new/b')
  expect((await bed.read(2))?.path).toMatch(/^neurons\/Guides\/Café\/new\/b-[0-9a-f]{6}\.md$/)
  const { id: kbId } = (await bed.ctx.kb(bed.curator.tenantId, 'handbook')).identity
  const candidateId = candidateIdFor(kbId, { msecs: Date.now() })
  const typed = { path: 'GUIDES/c', changes: { title: 'By a curator' } }
  await writePage(bed.ctx, bed.curator, typed, {
    kb: 'handbook',
    candidateId,

    publish: true,
  })
  expect((await bed.read(3))?.path).toBe('neurons/Guides/c.md')
})
