import { expect, test } from 'vitest'
import { readFile } from '../../../../src/pages/attachments/read-file.ts'
import { submitCandidate } from '../../../../src/queue/submit-candidate.ts'
import { candidate, correction } from '../../support/test-bed.ts'
import { neuronText, pushCandidate, seq, writtenBed } from '../../support/written-neurons.ts'

const main = 'refs/heads/main'

test('a link to a file that only the policy let in opens it no more after links of its page followed a rename', async () => {
  const bed = await writtenBed({
    'old.md': neuronText(1, {}, '# Old\n\nText.\n'),
    'secret.pdf': 'secret',
    'hidden.md': neuronText(2, { title: 'Hidden', tags: ['internal'] }, '![[secret.pdf]]\n'),
  })
  const settings = bed.native.read(main, 'kb.yaml').replace('rewriteLinks: false', 'rewriteLinks: true')
  bed.native.commit(main, new Map([['kb.yaml', settings]]))
  const mine = candidate({ title: 'Mine', content: 'See [[Old]] and ![[secret.pdf]].', confidence: 0.95 })
  const { seqId = '' } = await submitCandidate(bed.ctx, bed.app, mine)
  const opened = () => readFile(bed.ctx, bed.app, 'handbook', 'neurons/secret.pdf')
  await expect(opened()).rejects.toMatchObject({ code: 'not_found' })
  const renaming = correction(seq(1), '# New\n\nText.\n', { title: 'New', confidence: 0.95 })
  expect(await submitCandidate(bed.ctx, bed.app, renaming)).toMatchObject({ status: 'approved' })
  expect((await bed.read(Number(seqId.slice(-8))))?.content).toContain('|New]]')
  await expect(opened()).rejects.toMatchObject({ code: 'not_found' })
})

test.each([0.95, null])(
  'links that follow a rename over the API are written alike whatever names hidden pages have (%s)',
  async (confidence) => {
    const after = async (title: string) => {
      const bed = await writtenBed({
        'old.md': neuronText(1, {}, '# Old\n\nText.\n'),
        'page.md': neuronText(2, { title: 'Page' }, 'See [[Old]].\n'),
        'hidden.md': neuronText(3, { title, tags: ['internal'] }, 'Hidden.\n'),
      })
      const settings = bed.native.read(main, 'kb.yaml').replace('rewriteLinks: false', 'rewriteLinks: true')
      bed.native.commit(main, new Map([['kb.yaml', settings]]))
      const renaming = correction(seq(1), '# New\n\nText.\n', { title: 'New', confidence })
      const { candidateId, status } = await submitCandidate(bed.ctx, bed.app, renaming)
      if (status === 'pending') await pushCandidate(bed, candidateId)
      expect((await bed.read(1, bed.app))?.title).toBe('New')
      expect((await bed.read(2, bed.app))?.links).toMatchObject([{ target: seq(1) }])
      return (await bed.read(2))?.content
    }
    const other = await after('Other')
    expect([await after('New'), await after('Old')]).toEqual([other, other])
  },
)
