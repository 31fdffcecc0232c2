import { expect, test } from 'vitest'
import { checkPage } from '../../../src/pages/write/check-page.ts'
import { openPage } from '../../../src/pages/write/open-page.ts'
import { previewRename } from '../../../src/pages/write/preview-rename.ts'
import type { PageWrite } from '../../../src/pages/write/written-page.ts'
import { newTestBed } from '../../kb/support/test-bed.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../../kb/support/written-neurons.ts'

async function targetIn({ ctx, curator }: WrittenBed) {
  const { commit } = await openPage(ctx, curator, { kb: 'handbook', seqId: seq(1) })
  return { seqId: seq(1), base: commit }
}

const rules = async ({ ctx, curator }: WrittenBed, write: PageWrite) => {
  const { findings } = await checkPage(ctx, curator, write, { kb: 'handbook' })
  return findings.map(({ rule, severity, line }) => `${severity} ${rule}${line === undefined ? '' : ` ${line}`}`)
}

test('a page is checked as a push of it would be, with lines of its content', async () => {
  const bed = await writtenBed({
    'vip.md': neuronText(1, { title: 'VIP' }, '\n# Pager\n\nText.\n'),
    'a.md': neuronText(2, { title: 'Twin' }, 'See [[VIP#Pager]].\n'),
    'b.md': neuronText(3, { title: 'Twin' }),
  })
  const target = await targetIn(bed)
  expect(await rules(bed, { target, changes: {} })).toEqual([])
  const content = 'A\r\n[[Nowhere]] [[Twin]]\r\n<<<<<<< a\r\nx\r\n=======\r\ny\r\n>>>>>>> b\r\n'
  const edges = [{ type: 'cites' as const, target: 'Nobody' }]
  expect((await rules(bed, { target, changes: { content, edges } })).sort()).toEqual([
    'error conflict-marker 3',
    'warning ambiguous-link 2',
    'warning broken-edge',
    'warning broken-link 2',
    'warning lost-heading',
  ])
})

test('a new page is checked before it has a seqId, and a moved one where it will stand', async () => {
  const bed = await writtenBed({
    'vip.md': neuronText(1, { title: 'VIP' }, '[[./near]]\n'),
    'near.md': neuronText(2, { title: 'Near' }),
  })
  expect(await rules(bed, { changes: { title: 'New', content: '[[Near]] [[Far]]' } })).toEqual([
    'warning broken-link 1',
  ])
  expect(await rules(bed, { target: await targetIn(bed), path: 'deep/vip', changes: {} })).toEqual([
    'warning broken-link 1',
  ])
})

test('nobody but a curator checks a page', async () => {
  const { ctx, app } = await newTestBed()
  await expect(checkPage(ctx, app, { changes: { title: 'x' } }, { kb: 'handbook' })).rejects.toMatchObject({
    code: 'insufficient_role',
  })
})

test('a rename is foretold: aliases that it keeps, or pages that it rewrites', async () => {
  const bed = await writtenBed({
    'vip.md': neuronText(1, { title: 'VIP' }),
    'a.md': neuronText(2, { title: 'Linking <b>' }, '[[VIP]] [[vip]]\n'),
    'c.md': neuronText(3, { title: 'By id' }, `[[${seq(1)}]]\n`),
  })
  const foretell = async () =>
    previewRename(
      bed.ctx,
      bed.curator,
      { target: await targetIn(bed), path: 'rules/new', changes: { title: 'New' } },
      { kb: 'handbook' },
    )
  const shown = { title: 'New', path: 'neurons/rules/new.md', isMore: false }
  expect(await foretell()).toEqual({ ...shown, aliases: ['VIP'], pages: [] })
  const settings = bed.native.read('refs/heads/main', 'kb.yaml').replace('rewriteLinks: false', 'rewriteLinks: true')
  bed.native.commit('refs/heads/main', new Map([['kb.yaml', settings]]))
  expect(await foretell()).toEqual({ ...shown, aliases: [], pages: [{ seqId: seq(2), title: 'Linking <b>' }] })
})
