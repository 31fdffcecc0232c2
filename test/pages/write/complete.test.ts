import { expect, test } from 'vitest'
import { findNames } from '../../../src/pages/graph/find-names.ts'
import { type Completion, complete } from '../../../src/pages/write/complete.ts'
import { neuronText, seq, writtenBed } from '../../kb/support/written-neurons.ts'

async function bedOfNames() {
  const bed = await writtenBed({
    '1.md': neuronText(1, { title: 'Escalation of VIPs', aliases: ['Paging'], tags: ['Policy', 'a b'] }),
    '2.md': neuronText(
      2,
      { title: 'Who may escalate' },
      '\n# First [[x|part]]\n\n```\n# Code\n```\n\nSecond\n===\n\n## First part\n',
    ),
    '3.md': neuronText(3, { title: 'Ésc <script>' }),
    '4.md': neuronText(4, { title: 'Twin' }),
    '5.md': neuronText(5, { title: 'Twin' }),
    '6.md': neuronText(6, { title: 'Notes #1 [draft]' }),
    '7.md': neuronText(7, { title: 'Escape plan', tags: ['internal', 'policy/secret'] }),
  })
  const ask = (completion: Completion, as = bed.curator) => complete(bed.ctx, as, 'handbook', completion)
  const texts = async (completion: Completion, as = bed.curator) => (await ask(completion, as)).map(({ text }) => text)
  return { ...bed, ask, texts }
}

test('names are found by their start, then by the start of a word, whatever the case and the accents', async () => {
  const { texts, app, ask } = await bedOfNames()
  expect(await texts({ kind: 'link', q: 'ESC' })).toEqual([
    'Ésc <script>',
    'Escalation of VIPs',
    'Escape plan',
    'Who may escalate',
  ])
  expect(await texts({ kind: 'link', q: 'esc' }, app)).not.toContain('Escape plan')
  expect(await ask({ kind: 'link', q: 'pag' })).toEqual([{ text: 'Paging', hint: 'Escalation of VIPs · /' }])
  expect(await texts({ kind: 'link', q: 'nowhere' })).toEqual([])
})

test('a name that does not lead there is written as the seqId', async () => {
  const { texts } = await bedOfNames()
  expect(await texts({ kind: 'link', q: 'twin' })).toEqual([seq(4), seq(5)])
  expect(await texts({ kind: 'link', q: 'notes' })).toEqual([seq(6)])
  expect(await texts({ kind: 'link', q: seq(2) })).toEqual(['Who may escalate'])
})

test('a link may begin with the type of its edge', async () => {
  const { texts } = await bedOfNames()
  expect(await texts({ kind: 'link', q: 'sup' })).toEqual(['supersedes:'])
  expect(await texts({ kind: 'link', q: 'supersedes:who' })).toEqual(['supersedes:Who may escalate'])
})

test('headings are those of the page that the link names', async () => {
  const { texts, app } = await bedOfNames()
  const of = (q: string, target = 'who may escalate') => texts({ kind: 'heading', q, target, path: 'neurons/1.md' })
  expect(await of('')).toEqual(['First part', 'Second'])
  expect(await of('SEC')).toEqual(['Second'])
  expect(await of('', 'Nowhere')).toEqual([])
  expect(await texts({ kind: 'heading', q: '', target: 'Escape plan' }, app)).toEqual([])
})

test('tags are those of visible pages, each once as it is spelled', async () => {
  const { texts, app } = await bedOfNames()
  expect(await texts({ kind: 'tag', q: 'POL' })).toEqual(['Policy', 'policy/secret'])
  expect(await texts({ kind: 'tag', q: '#pol' }, app)).toEqual(['Policy'])
  expect(await texts({ kind: 'tag', q: '' }, app)).toEqual(['a b', 'Policy'])
})

test('titles come before aliases, pages near the one that is written before others, and the folder tells them apart', async () => {
  const { ctx, curator } = await writtenBed({
    'de/leave.md': neuronText(1, { title: 'Leave' }),
    'en/leave.md': neuronText(2, { title: 'Leave' }),
    'en/absence.md': neuronText(3, { title: 'Absence', aliases: ['Leaves of absence'] }),
    'en/parents.md': neuronText(4, { title: 'Parental leave' }),
  })
  const ask = (path: string) => complete(ctx, curator, 'handbook', { kind: 'link', q: 'leave', path })
  expect(await ask('neurons/en/new.md')).toEqual([
    { text: seq(2), hint: 'Leave · en/' },
    { text: seq(1), hint: 'Leave · de/' },
    { text: 'Parental leave', hint: 'en/' },
    { text: 'Leaves of absence', hint: 'Absence · en/' },
  ])
  expect((await ask('neurons/de/new.md'))[0]).toEqual({ text: seq(1), hint: 'Leave · de/' })
  const [first] = await findNames(ctx, curator, 'handbook', { q: 'leave', limit: 1, near: seq(3) })
  expect(first?.seqId).toBe(seq(2))
})

test('no more names are found than are asked for', async () => {
  const { ctx, curator } = await bedOfNames()
  const found = await findNames(ctx, curator, 'handbook', { q: '', limit: 3 })
  expect(found).toHaveLength(3)
})
