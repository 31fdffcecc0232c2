import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { compareLines, comparePages } from '../../src/pages/compare-pages.ts'
import { type RenderInput, renderMarkdown } from '../../src/pages/render-page.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../kb/support/written-neurons.ts'

const readerOf = (app: Caller): Caller => ({ ...app, role: 'reader' })

async function rendered(bed: WrittenBed, caller: Caller, content: string, more: Partial<RenderInput> = {}) {
  const { blocks } = await renderMarkdown(bed.ctx, caller, { kb: 'handbook', content, ...more })
  return parseHTML(`<html><body>${blocks.join('')}</body></html>`).document
}

async function hrefs(bed: WrittenBed, caller: Caller, content: string, more: Partial<RenderInput> = {}) {
  const document = await rendered(bed, caller, content, more)
  return [...document.querySelectorAll('a, img')].map((link) => link.getAttribute('href') ?? link.getAttribute('src'))
}

test('links lead to the pages and files that they mean, from the folder of the page', async () => {
  const bed = await writtenBed({
    'guides/a.md': neuronText(1, { title: 'A' }),
    'b.md': neuronText(2, { title: 'B & <b>' }, '![[guides/img/a plan.png]] ![[data.csv]]'),
    'guides/img/README.md': neuronText(3, { title: 'Images' }),
    'guides/img/a plan.png': 'png',
    'data.csv': 'csv',
  })
  const { curator, app } = bed
  const content = '[[A]] [x](../b.md) ![[a plan.png]] [[data.csv]] [y](img/a%20plan.png) [z](img/)'
  const expected = [
    ...[
      `/kb/handbook/neurons/${seq(1)}`,
      `/kb/handbook/neurons/${seq(2)}`,
      '/kb/handbook/files/neurons/guides/img/a%20plan.png',
    ],
    ...['/kb/handbook/files/neurons/data.csv', '/kb/handbook/files/neurons/guides/img/a%20plan.png'],
    `/kb/handbook/neurons/${seq(3)}`,
  ]
  expect(await hrefs(bed, curator, content, { path: 'neurons/guides/c.md' })).toEqual(expected)
  expect(await hrefs(bed, readerOf(app), content, { path: 'neurons/guides/c.md' })).toEqual(expected)
  const document = await rendered(bed, curator, `[[${seq(2)}]]`)
  expect(document.querySelector('a')?.textContent).toBe('B & <b>')
})

test('what a reader may not see is a gap, no different from what is not there', async () => {
  const bed = await writtenBed({
    'open.md': neuronText(1, { title: 'Open' }),
    'hidden.md': neuronText(2, { title: 'Hidden', tags: ['internal'] }, '![[secret.png]] ![[data.csv]]'),
    'secret.png': 'png',
  })
  const { app, curator } = bed
  const link = (name: string) => `[[${name}]] ![[${name}#h]] [t](${name}.md)`
  const shown = (name: string) => rendered(bed, readerOf(app), link(name))
  const names = ['Hidden', 'Absent', seq(2), seq(77), 'secret.png', 'absent.png']
  const [hidden, absent, hiddenId, absentId, secret, none] = await Promise.all(
    names.map(async (name) => (await shown(name)).body.innerHTML.replaceAll(name, 'NAME')),
  )
  expect(hidden).toBe(absent)
  expect(hidden).toContain('No page has this name')
  expect(hiddenId).toBe(absentId)
  expect(secret).toBe(none)
  expect(await hrefs(bed, curator, '[[Hidden]] ![[secret.png]]')).toEqual([
    `/kb/handbook/neurons/${seq(2)}`,
    '/kb/handbook/files/neurons/secret.png',
  ])
})

test('writers are offered to create what is not there, readers are not', async () => {
  const bed = await writtenBed()
  const content = '[[On-call rotation]] [x](guides/who%20calls.md) ![[absent.png]] [[kb:other/X]]'
  const offered = ['/kb/handbook/new?title=On-call%20rotation', '/kb/handbook/new?title=who%20calls']
  expect(await hrefs(bed, bed.curator, content)).toEqual(offered)
  expect(await hrefs(bed, bed.app, content)).toEqual(offered)
  expect(await hrefs(bed, readerOf(bed.app), content)).toEqual([])
})

test('links lead into other knowledge bases, by what is seen there', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }) })
  const { ctx, curator } = bed
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'other' })
  expect(await hrefs(bed, curator, '[[kb:handbook/A]]', { kb: 'other' })).toEqual([`/kb/handbook/neurons/${seq(1)}`])
  const [gap] = [...(await rendered(bed, curator, '[[kb:other/A]] [[kb:absent/A]]')).querySelectorAll('.gap')]
  expect(gap?.getAttribute('title')).toBe('No page has this name')
})

test('a name of several pages says so', async () => {
  const bed = await writtenBed({
    'a.md': neuronText(1, { title: 'Same' }),
    'b.md': neuronText(2, { title: 'Same' }),
  })
  const document = await rendered(bed, bed.curator, '[[Same]]')
  expect(document.querySelector('.gap')?.getAttribute('title')).toBe('Several pages have this name')
})

test('comments are left out, their links too', async () => {
  const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }) })
  const document = await rendered(bed, bed.curator, 'Shown %%[[A]] secret%% text.')
  expect(document.body.textContent).toBe('Shown  text.')
})

test('of a knowledge base that is not there, nothing is rendered', async () => {
  const bed = await writtenBed()
  await expect(renderMarkdown(bed.ctx, bed.curator, { kb: 'absent', content: 'x' })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('two versions are compared as they are seen', async () => {
  const bed = await writtenBed({ 'hidden.md': neuronText(1, { title: 'Hidden', tags: ['internal'] }) })
  const compare = (caller: Caller) =>
    comparePages(bed.ctx, caller, { kb: 'handbook', before: '# A\n\n[[Hidden]]', after: '# A\n\nb [[Hidden]]' })
  const { blocks } = await compare(bed.curator)
  expect(blocks).toEqual([
    { type: 'same', after: '<h2 dir="auto">A</h2>' },
    {
      type: 'changed',
      before: expect.stringContaining('href='),
      after: expect.stringContaining('b <a'),
      marked: expect.stringContaining('<ins>b </ins><a'),
    },
  ])
  expect(JSON.stringify(await compare(bed.reader))).not.toContain(seq(1))
  const added = await comparePages(bed.ctx, bed.curator, { kb: 'handbook', before: null, after: 'x' })
  expect(added.blocks).toEqual([{ type: 'added', after: '<p dir="auto">x</p>' }])
  const { hunks } = await compareLines(bed.ctx, { before: 'a b', after: 'a c' })
  expect(hunks.flat().map(({ type }) => type)).toEqual(['removed', 'added'])
})
