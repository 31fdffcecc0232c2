import { expect, test } from 'vitest'
import { submitCandidate } from '../../../src/services/queue/submit-candidate.ts'
import { candidate, correction } from '../support/test-bed.ts'
import { neuronText, seq, writtenBed } from '../support/written-neurons.ts'

const links = 'See [[Policy]], [[rules]] and [[Merger]].\n'

/** Neurons 1 to 4, of which the third links and the fourth is hidden. */
async function taken() {
  const bed = await writtenBed({
    'policy.md': neuronText(1, { title: 'Policy', aliases: ['Rules'] }, 'Old.\n'),
    'other.md': neuronText(2, { title: 'Other' }, 'Text.\n'),
    'page.md': neuronText(3, { title: 'Page' }, links),
    'deal.md': neuronText(4, { title: 'Merger', tags: ['internal'] }, 'Hidden.\n'),
  })
  const submit = (title: string) => submitCandidate(bed.ganglion, bed.app, candidate({ title, confidence: 1 }))
  const meant = async (as = bed.app) => (await bed.read(3, as))?.links.map(({ target }) => target)
  return { ...bed, submit, meant }
}

test('a page that comes over the API takes no name from another, and its sender is told', async () => {
  const { submit, meant, ganglion, app } = await taken()
  expect(await submit('Policy')).toMatchObject({ warnings: [{ code: 'name_taken', seqId: seq(1) }] })
  expect(await submit('RULES')).toMatchObject({ warnings: [{ code: 'name_taken', seqId: seq(1) }] })
  expect(await meant()).toEqual([seq(1)])

  const retitled = { ...correction(seq(2), '# Policy\n\nText.\n', { confidence: 1 }), title: 'Policy' }
  expect((await submitCandidate(ganglion, app, retitled)).status).toBe('approved')
  expect(await meant()).toEqual([seq(1)])
})

test('of pages that came over the API the first has the name', async () => {
  const { submit } = await taken()
  const [first, second] = [await submit('Fresh'), await submit('Fresh')]
  expect([first.warnings, second.warnings?.map(({ seqId }) => seqId)]).toEqual([undefined, [first.seqId]])
})

test('a hidden page that had the name first is not there for those who do not see it', async () => {
  const { submit, meant, curator } = await taken()
  const { warnings, seqId = '' } = await submit('Merger')
  expect(warnings).toBeUndefined()
  expect(await meant()).toEqual([seq(1), seqId])
  expect(await meant(curator)).toEqual([seq(1), seq(4)])
})
