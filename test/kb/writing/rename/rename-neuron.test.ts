import { expect, test } from 'vitest'
import type { KnowledgeBase } from '../../../../src/kb/knowledge-base.ts'
import { rewriteInboundLinks } from '../../../../src/kb/writing/rename/follow-renames.ts'
import { aliasesToKeep, lostNames, type Rename } from '../../../../src/kb/writing/rename/name-change.ts'
import { kbWith, renameTo } from '../../support/renames.ts'
import { neuronText, seq, writtenBed } from '../../support/written-neurons.ts'

async function rewritten(kb: KnowledgeBase, renames: Rename[], changed: Record<string, string | null> = {}) {
  const files = new Map(Object.entries(changed).map(([path, text]) => [`neurons/${path}`, text]))
  const { pages, aliases } = await rewriteInboundLinks(kb, kb.repository, { renames, changed: files })
  const texts = [...pages].map(([path, text]) => [path.replace(/^neurons\//, ''), text])
  return { pages: Object.fromEntries(texts), aliases: Object.fromEntries(aliases) }
}

const old = neuronText(1, { title: 'Old title', aliases: ['Nick'] }, 'About itself: [[Old title]].\n')
const retitled = old.replace('title: "Old title"', 'title: "New title"')

test('a Neuron loses the names that it has no more, as they are spelled', async () => {
  const kb = await kbWith({ 'guides/old-title.md': old })
  expect(lostNames(kb, seq(1), renameTo('guides/old-title.md', retitled).after)).toEqual([
    { exact: 'Old title', kind: 'title' },
  ])
  expect(lostNames(kb, seq(1), { path: 'neurons/other/new.md', title: 'Old title', aliases: [] })).toEqual(
    expect.arrayContaining([
      { exact: 'Nick', kind: 'alias' },
      { exact: 'old-title', kind: 'file' },
      { exact: 'guides/old-title', kind: 'file' },
      { exact: 'guides/old-title', kind: 'path' },
    ]),
  )
  expect(lostNames(kb, seq(1), renameTo('guides/old-title.md', old).after)).toEqual([])
})

test('the old title stays as an alias, and so does each target that would lead nowhere', async () => {
  const kb = await kbWith({
    'guides/old.md': neuronText(1, { title: 'Title', aliases: ['Nick'] }),
    'a.md': neuronText(2, {}, '[[old]] [[OLD]] [[./guides/old.md]] [[Title]] [[Nick]] [[handbook_00000001]]\n'),
    'b.md': neuronText(
      3,
      { edges: [['cites', 'guides/old']] },
      '[[kb:handbook/neurons/guides/old]] [[kb:other/old.md]]\n',
    ),
  })
  const after = { path: 'neurons/new.md', title: 'Other', aliases: [] }
  const [first, ...others] = aliasesToKeep(kb, seq(1), { ...after, aliases: ['Nick'] })
  expect(first).toBe('Title')
  expect(new Set(others)).toEqual(new Set(['old', 'guides/old']))
  expect(aliasesToKeep(kb, seq(1), { ...after, path: 'neurons/guides/old.md' })).toEqual(['Title'])
  expect(aliasesToKeep(kb, seq(1), { path: 'neurons/guides/old.md', title: 'Title', aliases: [] })).toEqual([])
})

test('links follow another title, with all that they say besides', async () => {
  const kb = await kbWith({
    'old-title.md': old,
    'a.md': neuronText(
      2,
      { edges: [['supersedes', 'Old title']] },
      '[[Old title]] [[old title#Part|x]] `[[Old title]]`\r\n',
    ),
    'b.md': neuronText(3, {}, '[[Nick]] [[old-title]] [[kb:other/Old title]] [[handbook_00000001]]\n'),
    'c.md': neuronText(4, {}, '![[contradicts:kb:handbook/Old title]]\n'),
  })
  expect(await rewritten(kb, [renameTo('old-title.md', retitled)], { 'old-title.md': retitled })).toEqual({
    pages: {
      'old-title.md': retitled.replace('[[Old title]]', '[[New title]]'),
      'a.md': neuronText(
        2,
        { edges: [['supersedes', 'New title']] },
        '[[New title]] [[New title#Part|x]] `[[Old title]]`\r\n',
      ).replace('"New title" }', 'New title }'),
      'c.md': neuronText(4, {}, '![[contradicts:kb:handbook/New title]]\n'),
    },
    aliases: {},
  })
})

test('links by file name and path follow a move, written as they were', async () => {
  const kb = await kbWith({
    'guides/old.md': neuronText(1, { title: 'Title' }),
    'a.md': neuronText(2, {}, '[[old]] [[guides/old]] [[./guides/old.md]] [[/neurons/guides/old]] [[Title]]\n'),
  })
  const moved = { 'guides/old.md': null, 'archive/2026/new.md': neuronText(1, { title: 'Title' }) }
  expect((await rewritten(kb, [renameTo('archive/2026/new.md', moved['archive/2026/new.md'])], moved)).pages).toEqual({
    'a.md': neuronText(
      2,
      {},
      '[[new]] [[2026/new]] [[./archive/2026/new.md]] [[/neurons/archive/2026/new]] [[Title]]\n',
    ),
  })
})

test('Markdown links, relative links and links of properties follow a move in their own form', async () => {
  const own = (path: string) =>
    `---\nseqId: ${seq(1)}\ntitle: Title\nup: "[[${path}]]"\n---\n\n[x](${path}.md) [[${path}|here]]\n`
  const links = (path: string, name: string) =>
    `---\nseqId: ${seq(2)}\nrelated: ["[[${name}]]"]\n---\n\n[a](${path}.md#part) [b](<${path}>) [c][r] ![[${name}]]\n\n[r]: ${path}.md "t"\n`
  const kb = await kbWith({
    'guides/old.md': own('../b/near'),
    'b/a.md': links('../guides/old', 'old'),
    'b/near.md': neuronText(3, { title: 'Near' }),
  })
  const moved = { 'guides/old.md': null, 'archive/2026/the new.md': own('../b/near') }
  expect(
    (await rewritten(kb, [renameTo('archive/2026/the new.md', moved['archive/2026/the new.md'])], moved)).pages,
  ).toEqual({
    'archive/2026/the new.md': own('../../b/near'),
    'b/a.md': links('../archive/2026/the%20new', 'the new'),
  })
})

test('links to a folder follow its index: to its new folder, or to the page that it becomes', async () => {
  const index = neuronText(1, { title: 'Guide' }, '[a](../a.md)\n')
  const links = (...[one, two, three]: string[]) => `[a](${one}) [b](${two}#h) [c](${three})\n`
  const world = {
    'guide/index.md': index,
    'a.md': neuronText(2, {}, links('guide/', './guide/', '/guide/')),
    'guide/b.md': neuronText(3, {}, links('./', '.', '../guide/')),
  }
  const moves: [string, string[], string[]][] = [
    ['x/y/README.md', ['x/y/', 'x/y/', '/x/y/'], ['../x/y/', '../x/y/', '../x/y/']],
    ['index.md', ['./', './', '/'], ['../', '../', '../']],
    ['guide/b/c.md', ['guide/b/c.md', 'guide/b/c.md', '/guide/b/c.md'], ['b/c.md', 'b/c.md', 'b/c.md']],
  ]
  for (const [path, ofA, ofB] of moves) {
    const kb = await kbWith(world)
    const { pages } = await rewritten(kb, [renameTo(path, index)], { 'guide/index.md': null, [path]: index })
    expect(pages['a.md']).toBe(neuronText(2, {}, links(...ofA)))
    expect(pages['guide/b.md']).toBe(neuronText(3, {}, links(...ofB)))
    // Nothing is to be done where the folder keeps an index of the same Neuron.
    const renamed = { 'guide/index.md': null, 'guide/_index.md': index }
    expect((await rewritten(kb, [renameTo('guide/_index.md', index)], renamed)).pages).toEqual({})
  }
})

test('a move to another folder leaves links by file name alone', async () => {
  const kb = await kbWith({
    'old.md': neuronText(1, { title: 'Title' }),
    'a.md': neuronText(2, {}, '[[old]] [[Title]]\n'),
  })
  const moved = { 'old.md': null, 'archive/old.md': neuronText(1, { title: 'Title' }) }
  expect(await rewritten(kb, [renameTo('archive/old.md', moved['archive/old.md'])], moved)).toEqual({
    pages: {},
    aliases: {},
  })
})

test.each([
  ['no link can hold it', 'C# [draft]', '[[handbook_00000001|Old title]]'],
  ['it would part the target', 'C# rules', '[[handbook_00000001|C# rules]]'],
  ['it means two Neurons', 'Taken', '[[handbook_00000001|Taken]]'],
  ['it is one in use as a path', 'taken-file', '[[handbook_00000001|taken-file]]'],
])('links name the seqId where a new title is no target: %s', async (_, title, link) => {
  const kb = await kbWith({
    'old-title.md': old,
    'taken-file.md': neuronText(2, { title: 'Taken' }, 'See [[Old title]].\n'),
  })
  const changed = { 'old-title.md': old.replace('"Old title"', JSON.stringify(title)).replace('[[Old title]]', '') }
  expect((await rewritten(kb, [renameTo('old-title.md', changed['old-title.md'])], changed)).pages).toEqual({
    'taken-file.md': neuronText(2, { title: 'Taken' }, `See ${link}.\n`),
  })
})

test('relative links follow a page that leaves the root under the same file name, or an alias keeps them', async () => {
  const kb = await kbWith({
    'old.md': neuronText(1, { title: 'Title' }, '[[./a.md]]\n'),
    'a.md': neuronText(2, {}, '[x](./old.md) [[./Old.md]] [[old]]\n'),
  })
  const moved = { 'old.md': null, 'archive/old.md': neuronText(1, { title: 'Title' }, '[[./a.md]]\n') }
  const rename = renameTo('archive/old.md', moved['archive/old.md'])
  expect((await rewritten(kb, [rename], moved)).pages).toEqual({
    'archive/old.md': neuronText(1, { title: 'Title' }, '[[../a.md]]\n'),
    'a.md': neuronText(2, {}, '[x](archive/old.md) [[./archive/old.md]] [[old]]\n'),
  })
  expect(aliasesToKeep(kb, seq(1), rename.after)).toEqual(['old'])
})

test('links that are ambiguous, or mean another Neuron, are left', async () => {
  const kb = await kbWith({
    'old-title.md': old,
    'x/twin.md': neuronText(2, { title: 'Twin' }),
    'y/twin.md': neuronText(3, { title: 'Twin' }),
    'a.md': neuronText(4, {}, '[[Twin]] [[Nowhere]] [[A]]\n'),
  })
  const twin = neuronText(2, { title: 'Single' })
  expect(await rewritten(kb, [renameTo('x/twin.md', twin)], { 'x/twin.md': twin })).toEqual({ pages: {}, aliases: {} })
})

const alpha = neuronText(1, { title: 'Alpha' }, '[[Alpha]] and [[Beta]]\n')
const beta = neuronText(2, { title: 'Beta' }, '[[Alpha|a]]\n')
const swapped = { '1.md': alpha.replace('"Alpha"', '"Beta"'), '2.md': beta.replace('"Beta"', '"Alpha"') }
const swap = [renameTo('1.md', swapped['1.md']), renameTo('2.md', swapped['2.md'])]

test('two Neurons may swap their titles', async () => {
  const kb = await kbWith({ '1.md': alpha, '2.md': beta, '3.md': neuronText(3, {}, '[[Alpha]] [[Beta]]\n') })
  expect((await rewritten(kb, swap, swapped)).pages).toEqual({
    '1.md': swapped['1.md'].replace('[[Alpha]] and [[Beta]]', '[[Beta]] and [[Alpha]]'),
    '2.md': swapped['2.md'].replace('[[Alpha|a]]', '[[Beta|a]]'),
    '3.md': neuronText(3, {}, '[[Beta]] [[Alpha]]\n'),
  })
})

test('a page whose links followed the swap already is left', async () => {
  const before = neuronText(3, {}, '[[Alpha]] [[Beta]]\n')
  const kb = await kbWith({ '1.md': alpha, '2.md': beta, '3.md': before })
  const followed = neuronText(3, {}, '[[Beta]] [[Alpha]]\n')
  expect((await rewritten(kb, swap, { ...swapped, '3.md': followed })).pages).not.toHaveProperty('3.md')
  const edited = `${before}More.\n`
  expect((await rewritten(kb, swap, { ...swapped, '3.md': edited })).pages).toHaveProperty('3.md', `${followed}More.\n`)
})

test('a new page may take the old title, and links of old pages follow the Neuron that they meant', async () => {
  const kb = await kbWith({ 'old-title.md': old, 'a.md': neuronText(2, {}, '[[Old title]]\n') })
  const fresh = neuronText(3, { title: 'Old title' }, 'I am [[Old title]] now.\n')
  const changed = { 'old-title.md': retitled, 'fresh.md': fresh }
  const { pages } = await rewritten(kb, [renameTo('old-title.md', retitled)], changed)
  expect(pages).toEqual({
    'old-title.md': retitled.replace('[[Old title]]', '[[New title]]'),
    'a.md': neuronText(2, {}, '[[New title]]\n'),
  })
})

test('a kept alias steals no title', async () => {
  const bed = await writtenBed({
    'old.md': neuronText(1, { title: 'Old title' }),
    'a.md': neuronText(2, {}, '[[Old title]]\n'),
  })
  const kb = await bed.ctx.kb(bed.curator.tenantId, 'handbook')
  if (kb === undefined) throw new Error('no knowledge base')
  await kb.sync()
  const aliases = aliasesToKeep(kb, seq(1), { path: 'neurons/old.md', title: 'New title', aliases: [] })
  expect(aliases).toEqual(['Old title'])
  bed.write({ 'old.md': neuronText(1, { title: 'New title', aliases }) })
  expect((await bed.read(2))?.links).toEqual([{ type: 'cites', target: seq(1) }])
  bed.write({ 'fresh.md': neuronText(3, { title: 'Old title' }) })
  expect((await bed.read(2))?.links).toEqual([{ type: 'cites', target: seq(3) }])
})

test('pages that the commit removes or moves are not written where they were', async () => {
  const kb = await kbWith({
    'old-title.md': old,
    'gone.md': neuronText(2, {}, '[[Old title]]\n'),
    'moving.md': neuronText(3, {}, '[[Old title]]\n'),
  })
  const changed = {
    'old-title.md': retitled,
    'gone.md': null,
    'moving.md': null,
    'moved.md': neuronText(3, {}, '[[Old title]]\n'),
  }
  const { pages } = await rewritten(kb, [renameTo('old-title.md', retitled)], changed)
  expect(Object.keys(pages).sort()).toEqual(['moved.md', 'old-title.md'])
})

test('the alias stays where a page that links by it cannot be rewritten', async () => {
  const unsafe = '[t]([[Old title]])\n'
  const kb = await kbWith({
    'old-title.md': old,
    'a.md': neuronText(2, {}, '[[Old title]]\n'),
    'b.md': neuronText(3, {}, unsafe),
  })
  const text = old.replace('"Old title"', '"New"')
  expect(await rewritten(kb, [renameTo('old-title.md', text)], { 'old-title.md': text })).toEqual({
    pages: { 'a.md': neuronText(2, {}, '[[New]]\n'), 'old-title.md': text.replace('[[Old title]]', '[[New]]') },
    aliases: { [seq(1)]: ['Old title'] },
  })
})

test('a page that more readers see keeps the old name of a hidden Neuron, which becomes an alias', async () => {
  const secret = neuronText(1, { title: 'Project X', tags: ['internal'] }, 'Secret.\n')
  const kb = await kbWith({
    'x.md': secret,
    'open.md': neuronText(2, { title: 'Open' }, 'See [[Project X]].\n'),
    'closed.md': neuronText(3, { title: 'Closed', tags: ['internal'] }, 'See [[Project X]].\n'),
  })
  const changed = secret.replace('"Project X"', '"Berlin layoffs"')
  const { pages, aliases } = await rewritten(kb, [renameTo('x.md', changed)], { 'x.md': changed })
  expect(Object.keys(pages)).toEqual(['closed.md'])
  expect(pages['closed.md']).toContain('[[Berlin layoffs]]')
  expect(aliases).toEqual({ [seq(1)]: ['Project X'] })
})
