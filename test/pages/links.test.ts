import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { readNeuron } from '../../src/pages/read-neuron.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../kb/support/written-neurons.ts'

const page = (body: string) => neuronText(1, { title: 'Page' }, body)

/** Resolves the first Neuron's only link. */
async function meaning({ read }: WrittenBed) {
  const { links = [], unresolved = [] } = (await read(1)) ?? {}
  const [link] = links
  const [open] = unresolved
  expect(links.length + unresolved.length).toBe(1)
  return link?.target ?? open?.candidates ?? open?.reason
}

test('a Neuron shows its links, what links to it, and its links that lead nowhere', async () => {
  const { read } = await writtenBed({
    'page.md': neuronText(
      1,
      {
        title: 'Page',
        edges: [
          ['supersedes', 'Old'],
          ['is-a', 'Nothing'],
        ],
      },
      'See [[old]], [[Old|again]], [[Old#Part]] and `[[code]]`.\n\n[[Nowhere]] and [[contradicts:Twin]]\n',
    ),
    'old.md': neuronText(2, { title: 'Old' }, '[[Page]] and [[part-of:./page.md]] and [[Page]]\n'),
    'twin-a.md': neuronText(3, { title: 'Twin' }, '[[neurons/page]]\n'),
    'twin-b.md': neuronText(4, { title: 'Twin' }, '[[Pag]]\n'),
  })
  expect(await read(1)).toMatchObject({
    links: [
      { type: 'supersedes', target: seq(2) },
      { type: 'cites', target: seq(2) },
    ],
    backlinks: [
      { seqId: seq(2), title: 'Old', type: 'cites' },
      { seqId: seq(2), title: 'Old', type: 'part-of' },
      { seqId: seq(3), title: 'Twin', type: 'cites' },
    ],
    unresolved: [
      { type: 'is-a', target: 'Nothing', reason: 'missing', line: null },
      { type: 'cites', target: 'Nowhere', reason: 'missing', line: 3 },
      { type: 'contradicts', target: 'Twin', reason: 'ambiguous', candidates: [seq(3), seq(4)], line: 3 },
    ],
  })
})

test('a link heals when a Neuron of its name appears, and breaks when it goes', async () => {
  const bed = await writtenBed({ 'page.md': page('[[Late page]]\n') })
  expect(await meaning(bed)).toBe('missing')
  bed.write({ 'x.md': neuronText(2, { title: 'Late page' }) })
  expect(await meaning(bed)).toBe(seq(2))
  expect((await bed.read(2))?.backlinks).toEqual([{ seqId: seq(1), title: 'Page', type: 'cites' }])
  bed.write({ 'x.md': null })
  expect(await meaning(bed)).toBe('missing')
})

test.each([
  ['a title', 'x.md', { title: 'LÀTE  pagé' }],
  ['an alias', 'x.md', { title: 'X', aliases: ['Late page'] }],
  ['a file name', 'folder/late-page.md', { title: 'X' }],
])('a link heals when a Neuron gets its name as %s', async (_, path, fields) => {
  const bed = await writtenBed({ 'page.md': page('[[Late page]]\n'), 'x.md': neuronText(2, { title: 'X' }) })
  expect(await meaning(bed)).toBe('missing')
  bed.write({ 'x.md': null, [path]: neuronText(2, fields) })
  expect(await meaning(bed)).toBe(seq(2))
  expect((await bed.read(2))?.backlinks).toHaveLength(1)
})

test('a link follows what its name means best: ambiguous, exact again, by path, by seqId', async () => {
  const bed = await writtenBed({ 'page.md': page('[[Rust]]\n'), 'a.md': neuronText(2, { title: 'rust' }) })
  expect(await meaning(bed)).toBe(seq(2))
  bed.write({ 'b.md': neuronText(3, { title: 'RUST' }) })
  expect(await meaning(bed)).toEqual([seq(2), seq(3)])
  expect([(await bed.read(2))?.backlinks, (await bed.read(3))?.backlinks]).toEqual([[], []])
  bed.write({ 'c.md': neuronText(4, { title: 'Crab', aliases: ['Rust'] }) })
  expect(await meaning(bed)).toBe(seq(4))
  bed.write({ 'Rust.md': neuronText(5, { title: 'Language' }) })
  expect(await meaning(bed)).toBe(seq(5))
  expect([(await bed.read(4))?.backlinks, (await bed.read(5))?.backlinks?.length]).toEqual([[], 1])
})

test('a link follows a Neuron that is renamed with an alias, and a seqId wherever it moves', async () => {
  const bed = await writtenBed({
    'page.md': page(`[[Old name]] and [[${seq(2)}]] and [[is-a:Old name]]\n`),
    'old-name.md': neuronText(2, { title: 'Old name' }),
  })
  const both = [
    { type: 'cites', target: seq(2) },
    { type: 'is-a', target: seq(2) },
  ]
  expect(await bed.read(1)).toMatchObject({ links: both, unresolved: [] })
  bed.write({ 'old-name.md': null, 'new.md': neuronText(2, { title: 'New', aliases: ['Old name'] }) })
  expect(await bed.read(1)).toMatchObject({ links: both, unresolved: [] })
  bed.write({ 'new.md': null, 'deep/new.md': neuronText(2, { title: 'New' }) })
  expect(await bed.read(1)).toMatchObject({ links: both.slice(0, 1), unresolved: [{ line: 1 }, { line: 1 }] })
})

test('a link to a heading resolves whether the heading is there or not', async () => {
  const bed = await writtenBed({ 'page.md': page('[[Other#Gone]]\n'), 'o.md': neuronText(2, { title: 'Other' }) })
  expect(await meaning(bed)).toBe(seq(2))
})

test('a link to a file that is no Neuron is not missing while the file is there', async () => {
  const body = '![[plan.png]] and [[images/plan.png]] and [[img.png]]\n'
  const bed = await writtenBed({ 'page.md': page(body), 'images/plan.png': 'PNG' })
  const missing = async () => (await bed.read(1))?.unresolved.map(({ target }) => target)
  expect(await missing()).toEqual(['img.png'])
  bed.write({ 'images/plan.png': null, 'img.png': 'PNG' })
  expect(await missing()).toEqual(['plan.png', 'images/plan.png'])
  bed.write({ 'page.md': neuronText(1, { edges: [['cites', 'img.png']] }) })
  expect(await missing()).toEqual(['img.png'])
})

test('Markdown links, relative links and links of properties lead to pages as well', async () => {
  const body = [
    '[a](../b/other.md#part) and [b](../b/other) and [c](<../b/With space.md>) and [d](../b/With%20space.md)',
    '[e][ref] and [[../b/other]] and [[./near]] and [[other.markdown]] and [[other#]] and [[near|see [1] there]]',
    '[gone](../b/gone.md) and [out](https://example.com/x.md) and ![](img.png) and [f](/b/other.md)',
    '',
    '[ref]: ../b/other.md "title"',
  ].join('\n')
  const front = `---\nseqId: ${seq(1)}\ntitle: Page\nrelated:\n  - "[[With space]]"\nup: "[[part-of:near|n]]"\nbroken: [[Nothing]]\n---\n`
  const bed = await writtenBed({
    'a/page.md': `${front}\n${body}\n`,
    'a/near.md': neuronText(2, { title: 'Near' }),
    'b/other.md': neuronText(3, { title: 'Other title' }),
    'b/With space.md': neuronText(4, { title: 'Space' }),
    'a/img.png': 'PNG',
  })
  const found = await bed.read(1)
  expect(found?.links).toEqual([
    { type: 'cites', target: seq(4) },
    { type: 'part-of', target: seq(2) },
    { type: 'cites', target: seq(3) },
    { type: 'cites', target: seq(2) },
  ])
  expect(found?.unresolved).toEqual([
    { type: 'cites', target: 'Nothing', reason: 'missing', line: null },
    { type: 'cites', target: '../b/gone.md', reason: 'missing', line: 3 },
  ])
  for (const number of [2, 3, 4]) expect((await bed.read(number))?.backlinks.length).toBeGreaterThan(0)
})

test('links to folders lead to their index, README or _index, and follow what that is', async () => {
  const bed = await writtenBed({
    'docs/start.md': page('[g](guide/) and [up](../#top) and [gone](empty/) and ![e](./)\n'),
    'docs/guide/README.md': neuronText(2, { title: 'Guide' }, '[back](..)\n'),
    'index.md': neuronText(3, { title: 'Home' }, '[docs](docs/guide/)\n'),
    'docs/guide/_index.md': neuronText(4, { title: 'Other' }),
  })
  const found = await bed.read(1)
  expect(found?.links).toEqual([2, 3].map((number) => ({ type: 'cites', target: seq(number) })))
  expect(found?.unresolved.map(({ target }) => target)).toEqual(['empty/', './'])
  expect((await bed.read(2))?.backlinks.map(({ seqId }) => seqId)).toEqual([seq(1), seq(3)])
  expect((await bed.read(2))?.unresolved.map(({ target }) => target)).toEqual(['..'])
  bed.write({ 'docs/guide/index.md': neuronText(5, { title: 'Index' }), 'docs/_index.md': neuronText(6, {}) })
  expect((await bed.read(5))?.backlinks.map(({ seqId }) => seqId)).toEqual([seq(1), seq(3)])
  expect((await bed.read(6))?.backlinks.map(({ seqId }) => seqId)).toEqual([seq(1), seq(2)])
})

test('of several files with one name the one in the same folder is meant, then the shortest path, among what one may see', async () => {
  const link = (number: number) => neuronText(number, { title: `From ${number}` }, '[[Example]]\n')
  const bed = await writtenBed({
    'a/page.md': neuronText(1, { title: 'Page' }, '[[Example]]\n'),
    'a/Example.md': neuronText(2, { title: 'One', tags: ['internal'] }),
    'bb/Example.md': neuronText(3, { title: 'Two' }),
    'c/d/Example.md': neuronText(4, { title: 'Three' }),
    'c/page.md': link(5),
    'c/d/page.md': link(6),
    'x.md': neuronText(7, { title: 'EXAMPLE' }),
  })
  const targets = async (number: number, caller = bed.curator) => (await bed.read(number, caller))?.links[0]?.target
  expect(await targets(1)).toBe(seq(2))
  expect(await targets(1, bed.app)).toBe(seq(3))
  expect(await targets(5)).toBe(seq(2))
  expect(await targets(5, bed.app)).toBe(seq(3))
  expect(await targets(6)).toBe(seq(4))
})

test('a page that is too complex to parse keeps its links, and says so', async () => {
  const bed = await writtenBed({
    'page.md': page(`[[Old]] and <b>\n${'*a_'.repeat(20_000)} [[Nowhere]]\n`),
    'old.md': neuronText(2, { title: 'Old' }),
  })
  expect(await bed.read(1)).toMatchObject({
    parsed: 'partial',
    links: [{ type: 'cites', target: seq(2) }],
    unresolved: [{ target: 'Nowhere', line: 2 }],
  })
  expect(await bed.read(2)).not.toHaveProperty('parsed')
})

test('as it stood at a commit, a Neuron has the links of then, which lead to the Neurons of today', async () => {
  const bed = await writtenBed({
    'page.md': page('[[Gone]] and [[Here]]\n'),
    'gone.md': neuronText(2, { title: 'Gone' }),
  })
  const then = bed.native.git('rev-parse', 'main')
  bed.write({
    'page.md': page('Nothing.\n'),
    'gone.md': null,
    'here.md': neuronText(3, { title: 'Here' }, '[[Page]]\n'),
  })
  expect(await bed.read(1, bed.reader, then)).toMatchObject({
    links: [{ type: 'cites', target: seq(3) }],
    unresolved: [{ target: 'Gone', reason: 'missing', line: 1 }],
    backlinks: [{ seqId: seq(3) }],
  })
  expect(await bed.read(2, bed.reader, then)).toMatchObject({ title: 'Gone', backlinks: [] })
})

test('whoever may not see a Neuron reads as if it were not there', async () => {
  const hidden = { tags: ['internal'] }
  const files = {
    'page.md': page('[[Plan]] and [[Twin]] and [[Triplet]] and [[Secret]]\n'),
    'plan.md': neuronText(4, { title: 'Budget', aliases: ['Plan'] }),
    'twin-b.md': neuronText(5, { title: 'Twin' }),
    'triplet-b.md': neuronText(6, { title: 'Triplet' }),
    'triplet-c.md': neuronText(7, { title: 'Triplet' }),
  }
  const secrets = {
    'plan-x.md': neuronText(20, { title: 'Plan', ...hidden }, '[[Page]]\n'),
    'twin-x.md': neuronText(21, { title: 'Twin', audience: ['curator'] }, '[[contradicts:Page]]\n'),
    'triplet-x.md': neuronText(22, { title: 'Triplet', ...hidden }),
    'secret-x.md': neuronText(23, { title: 'Secret', audience: ['student'] }, '[[Page]]\n'),
  }
  const without = await writtenBed(files)
  const bed = await writtenBed({ ...files, ...secrets })
  const { commit: _, ...expected } = (await without.read(1, without.app)) ?? {}
  for (const caller of [bed.app, bed.reader]) {
    const { commit: _, ...seen } = (await bed.read(1, caller)) ?? {}
    expect(seen).toEqual(expected)
    expect(await bed.read(20, caller)).toBeUndefined()
  }
  expect(expected).toMatchObject({
    links: [{ target: seq(4) }, { target: seq(5) }],
    unresolved: [
      { target: 'Triplet', reason: 'ambiguous', candidates: [seq(6), seq(7)] },
      { target: 'Secret', reason: 'missing' },
    ],
    backlinks: [],
  })
  const all = await bed.read(1)
  expect(all?.links).toEqual([
    { type: 'cites', target: seq(20) },
    { type: 'cites', target: seq(23) },
  ])
  expect(all?.unresolved[1]?.candidates).toEqual([seq(6), seq(7), seq(22)])
  expect(all?.backlinks.map(({ seqId }) => seqId)).toEqual([seq(20), seq(21), seq(23)])
})

test('of very many candidates ten are named, and of very many backlinks the first thousand', async () => {
  const many = Array.from({ length: 1005 }, (_, n) => n + 10)
  const twins = many.slice(0, 12).map((n) => [`twins/${n}.md`, neuronText(n + 2000, { title: 'Twin' })])
  const linking = many.map((n) => [`m/${n}.md`, neuronText(n, { title: `N ${n}` }, '[[Page]]\n')])
  const bed = await writtenBed({ 'page.md': page('[[Twin]]\n'), ...Object.fromEntries([...twins, ...linking]) })
  const { unresolved, backlinks } = (await bed.read(1)) ?? {}
  expect(unresolved?.[0]?.candidates).toEqual(many.slice(0, 10).map((n) => seq(n + 2000)))
  expect(backlinks?.map(({ seqId }) => seqId)).toEqual(many.slice(0, 1000).map(seq))
})

test('a link leads into another knowledge base of the tenant, to what its audience there may see', async () => {
  const body =
    '[[kb:wiki/Guide]] [[supersedes:kb:wiki/Guide]] [[kb:wiki/Secret]] [[kb:none/Guide]] [[kb:rival/Guide]]\n'
  const bed = await writtenBed({ 'page.md': page(`${body}[[kb:handbook/Page]]\n`) })
  const write = async (tenant: string, slug: string, prefix: string, text: string) => {
    const { gitDir } = await createKnowledgeBase(bed.ctx, { tenant, slug, prefix })
    new NativeWriter(gitDir).commit('refs/heads/main', new Map([['neurons/guide.md', text]]))
    return new NativeWriter(gitDir)
  }
  const guide = '---\nseqId: w_00000001\ntitle: Guide\n---\n[[kb:handbook/Page]]\n'
  const wiki = await write('acme', 'wiki', 'w', guide)
  wiki.commit(
    'refs/heads/main',
    new Map([['neurons/s.md', '---\nseqId: w_00000002\ntitle: Secret\ntags: [internal]\n---\n']]),
  )
  await write('other', 'rival', 'r', '---\nseqId: r_00000001\ntitle: Guide\n---\n')

  const links = [
    { type: 'cites', target: 'w_00000001', kb: 'wiki' },
    { type: 'supersedes', target: 'w_00000001', kb: 'wiki' },
  ]
  const self = { type: 'cites', target: seq(1) }
  const missing = (kb: string, target: string) => ({ type: 'cites', target, kb, reason: 'missing', line: 1 })
  const strangers = [missing('none', 'Guide'), missing('rival', 'Guide')]
  expect(await bed.read(1, bed.app)).toMatchObject({
    links: [...links, self],
    unresolved: [missing('wiki', 'Secret'), ...strangers],
    backlinks: [],
  })
  expect(await bed.read(1)).toMatchObject({
    links: [...links, { type: 'cites', target: 'w_00000002', kb: 'wiki' }, self],
    unresolved: strangers,
  })
  expect(await readNeuron(bed.ctx, bed.app, { kb: 'wiki', seqId: 'w_00000001' })).toMatchObject({
    links: [{ type: 'cites', target: seq(1), kb: 'handbook' }],
  })
})

test('a knowledge base that cannot be opened leaves links to it missing, and others whole', async () => {
  const bed = await writtenBed({ 'page.md': page('[[kb:wiki/Guide]]\n') })
  const { gitDir } = await createKnowledgeBase(bed.ctx, { tenant: 'acme', slug: 'wiki' })
  rmSync(gitDir, { recursive: true })
  expect(await meaning(bed)).toBe('missing')
})
