import { describe, expect, test } from 'vitest'
import { ValidationError } from '../../src/contract/errors.ts'
import { readLooseEnds } from '../../src/pages/graph/read-loose-ends.ts'
import { readHistory, readVersions } from '../../src/pages/read-history.ts'
import { readPage } from '../../src/pages/read-page.ts'
import { readTags } from '../../src/pages/read-tags.ts'
import { readTree, type TreeQuery } from '../../src/pages/read-tree.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { neuronText, seq, type WrittenBed, writtenBed } from '../kb/support/written-neurons.ts'
import { fc } from '../support/properties.ts'

const hidden = { tags: ['internal', 'Secret'] }

function tree(bed: WrittenBed, caller: Caller, query: Partial<TreeQuery> = {}) {
  return readTree(bed.ctx, caller, 'handbook', { folder: '', limit: 100, ...query })
}

const names = async (page: ReturnType<typeof tree>) =>
  (await page).entries.map(({ kind, name }) => (kind === 'folder' ? `${name}/` : name))

describe('the tree', () => {
  const files = {
    'a.md': neuronText(1, { title: 'A' }),
    'b/one.md': neuronText(2, { title: 'One' }),
    'b/deep/er/two.md': neuronText(3, { title: 'Two' }),
    'b/deep.md': neuronText(4, { title: 'Deep' }),
    'b/picture.png': 'png',
    'b-c/hidden.md': neuronText(5, { title: 'Hidden', ...hidden }),
    'd/hidden/h.md': neuronText(6, { title: 'Hidden', ...hidden }),
    'd/z.md': neuronText(7, { title: 'Z' }),
    'ü/%/x y.md': neuronText(8, { title: 'X' }),
  }

  test('shows folders and pages by name, and in folders what stands in them', async () => {
    const bed = await writtenBed(files)
    expect(await names(tree(bed, bed.curator))).toEqual(['a.md', 'b-c/', 'b/', 'd/', 'ü/'])
    expect(await names(tree(bed, bed.curator, { folder: 'b' }))).toEqual(['deep.md', 'deep/', 'one.md'])
    expect((await tree(bed, bed.curator, { folder: 'ü' })).entries).toEqual([
      { kind: 'folder', name: '%', path: 'ü/%' },
    ])
    expect((await tree(bed, bed.curator, { folder: 'ü/%' })).entries).toEqual([
      { kind: 'page', name: 'x y.md', seqId: seq(8), title: 'X' },
    ])
  })

  test('has no folder in which a reader may see nothing', async () => {
    const bed = await writtenBed(files)
    expect(await names(tree(bed, bed.reader))).toEqual(['a.md', 'b/', 'd/', 'ü/'])
    expect(await names(tree(bed, bed.reader, { folder: 'd' }))).toEqual(['z.md'])
    for (const folder of ['b-c', 'd/hidden', 'absent', 'b/picture.png', '..', 'b/', '/b', '\0'])
      await expect(tree(bed, bed.reader, { folder }), folder).rejects.toMatchObject({ code: 'not_found' })
  })

  test('comes in pages that leave nothing out', async () => {
    const bed = await writtenBed(files)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await tree(bed, bed.reader, { limit: 1, ...(cursor === undefined ? {} : { cursor }) })
      expect(page.entries.length).toBeLessThanOrEqual(1)
      found.push(...page.entries.map(({ name }) => name))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(found).toEqual(['a.md', 'b', 'd', 'ü'])
    const foreign = Buffer.from('kb.yaml').toString('base64url')
    await expect(tree(bed, bed.reader, { cursor: foreign })).rejects.toThrow()
  })
})

const segments = fc.array(fc.constantFrom('a', 'a.b', 'a-', 'a0', 'b', '!', '~', 'ü', '😀', '\uffff'), {
  minLength: 1,
  maxLength: 3,
})
const written = fc.record({ path: segments.map((names) => names.join('/')), isHidden: fc.boolean() })
const files = fc.uniqueArray(written, { minLength: 1, maxLength: 40, selector: ({ path }) => path })

test('the tree has in each folder what the caller sees, by its bytes, in pages of any size', async () => {
  const check = async (pages: { path: string; isHidden: boolean }[], limit: number) => {
    const bed = await writtenBed()
    const texts = pages.map(({ isHidden }, n) => neuronText(n + 1, { title: 'T', ...(isHidden ? hidden : {}) }))
    bed.write(Object.fromEntries(pages.map(({ path }, n) => [`${path}.md`, texts[n] ?? ''])))
    for (const caller of [bed.curator, bed.reader]) {
      const visible = pages
        .filter(({ isHidden }) => caller === bed.curator || !isHidden)
        .map(({ path }) => `${path}.md`)
      const starts = visible.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)))
      for (const start of new Set(['', ...starts])) {
        const below = visible.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length))
        const entries = new Set(below.map((path) => path.replace(/\/.*/su, '/')))
        const found: string[] = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const read = tree(bed, caller, { folder: start.slice(0, -1), limit, cursor })
          found.push(...(await names(read)))
          cursor = (await read).nextCursor
        }
        expect(found, start).toEqual([...entries].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
      }
    }
  }
  await fc.assert(fc.asyncProperty(files, fc.integer({ min: 1, max: 5 }), check), { numRuns: 8 })
})

describe('tags', () => {
  const read = async (bed: WrittenBed, caller: Caller, q = '') =>
    (await readTags(bed.ctx, caller, 'handbook', { q, page: 1 })).tags.map(({ tag, count }) => `${tag} ${count}`)

  test('are counted in what the caller may see, however they are spelled, until main moves', async () => {
    const bed = await writtenBed({
      'a.md': neuronText(1, { title: 'A', tags: ['Café', 'policy'] }),
      'b.md': neuronText(2, { title: 'B', tags: ['cafe', '#policy', 'x/y'] }),
      'c.md': neuronText(3, { title: 'C', ...hidden }),
    })
    expect(await read(bed, bed.reader)).toEqual(['Café 2', 'policy 2', 'x/y 1'])
    expect(await read(bed, bed.curator)).toEqual(['Café 2', 'internal 1', 'policy 2', 'Secret 1', 'x/y 1'])
    expect(await read(bed, bed.reader, 'CAFÉ')).toEqual(['Café 2'])
    bed.write({ 'b.md': null })
    expect(await read(bed, bed.reader)).toEqual(['Café 1', 'policy 1'])
  })

  test('come in pages of 200', async () => {
    const tags = Array.from({ length: 450 }, (_, n) => `t${1000 + n}`)
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A', tags }) })
    const page = (number: number) => readTags(bed.ctx, bed.reader, 'handbook', { q: '', page: number })
    expect(await page(3)).toMatchObject({ total: 450, page: 3, pages: 3, tags: { length: 50 } })
    expect(await page(99)).toMatchObject({ page: 3 })
  })
})

describe('the history', () => {
  const history = (bed: WrittenBed, caller: Caller, more = {}) =>
    readHistory(bed.ctx, caller, { kb: 'handbook', seqId: seq(1), limit: 50, ...more })

  test('has every version with who approved it, in pages, also of a page that was removed', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }, 'One.\n') })
    bed.write({ 'a.md': neuronText(1, { title: 'B' }, 'Two.\n') })
    bed.write({ 'a.md': null })
    const { versions, isRemoved, title } = await history(bed, bed.reader)
    expect(versions.map((one) => [one.version, one.title])).toEqual([
      [3, null],
      [2, 'B'],
      [1, 'A'],
    ])
    expect([isRemoved, title]).toEqual([true, 'B'])
    for (const { by } of versions) expect(by).not.toBe('')
    const first = await history(bed, bed.reader, { limit: 2 })
    expect(first.next).toBe(2)
    expect((await history(bed, bed.reader, { limit: 2, before: 2 })).versions).toHaveLength(1)
  })

  test('leaves out the removal of what was hidden, which has its path', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }, 'One.\n') })
    bed.write({ 'a.md': null, 'merger.md': neuronText(1, { title: 'Merger', ...hidden }) })
    bed.write({ 'merger.md': null })
    bed.write({ 'a.md': neuronText(1, { title: 'A' }, 'Two.\n') })
    const numbers = async (caller: Caller) => (await history(bed, caller)).versions.map(({ version }) => version)
    expect(await numbers(bed.reader)).toEqual([4, 1])
    expect(await numbers(bed.curator)).toEqual([4, 3, 2, 1])
  })

  test('leaves out what was hidden, and is none of a page that is hidden today', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'Draft', ...hidden }) })
    bed.write({ 'a.md': neuronText(1, { title: 'Open' }, 'Shown %%not this%%\n') })
    const shown = await history(bed, bed.reader)
    expect(shown.versions.map(({ title }) => title)).toEqual(['Open'])
    const versions = (caller: Caller, from: number) =>
      readVersions(bed.ctx, caller, { kb: 'handbook', seqId: seq(1), from, to: 2 })
    await expect(versions(bed.reader, 1)).rejects.toMatchObject({ code: 'not_found' })
    await expect(versions(bed.reader, 9)).rejects.toMatchObject({ code: 'not_found' })
    await expect(versions(bed.reader, 2)).rejects.toThrow(ValidationError)
    expect((await versions(bed.curator, 1)).before.title).toBe('Draft')
    bed.write({ 'a.md': neuronText(1, { title: 'Open again' }, 'Now %%not that%%\n') })
    const { after } = await readVersions(bed.ctx, bed.reader, { kb: 'handbook', seqId: seq(1), from: 3, to: 2 })
    expect([after.version, after.text, after.content]).toEqual([3, 'Now', 'Now'])
    bed.write({ 'a.md': neuronText(1, { title: 'Hidden', ...hidden }) })
    await expect(history(bed, bed.reader)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a page', () => {
  const page = (bed: WrittenBed, caller: Caller, number: number, at?: string) =>
    readPage(bed.ctx, caller, { kb: 'handbook', seqId: seq(number), ...(at === undefined ? {} : { at }) })

  test('comes with titles of its links, and the sentences that mention it', async () => {
    const bed = await writtenBed({
      'a.md': neuronText(1, { title: 'On-call', edges: [['part-of', 'Desk']] }, 'See [[Desk]].\n'),
      'b.md': neuronText(2, { title: 'Desk' }, 'First. Ask who is **on** [[On-call|duty]] at night. Last.\n'),
      'c.md': neuronText(3, { title: 'List', edges: [['supersedes', 'On-call']] }),
      'd.md': neuronText(4, { title: 'Other' }, '- [ ] call [the one](a.md) `now`\n'),
      'e.md': neuronText(5, { title: 'By id' }, `Ask [[${seq(1)}]].\n`),
    })
    const { links, mentions, around, approvedBy, current } = await page(bed, bed.reader, 1)
    expect(links.map(({ type, title, kb }) => [type, title, kb])).toEqual([
      ['part-of', 'Desk', 'handbook'],
      ['cites', 'Desk', 'handbook'],
    ])
    expect(mentions.map(({ title, type, sentence }) => [title, type, sentence])).toEqual([
      ['Desk', 'cites', 'Ask who is on duty at night.'],
      ['List', 'supersedes', undefined],
      ['Other', 'cites', 'call the one now'],
      ['By id', 'cites', 'Ask On-call.'],
    ])
    expect(around.nodes.map(({ title }) => title)).toEqual(['On-call', 'Desk', 'List', 'Other', 'By id'])
    expect([current, approvedBy === '']).toEqual([1, false])
  })

  test('says nothing of what is hidden: no link, mention, neighbour or title', async () => {
    const bed = await writtenBed({
      'a.md': neuronText(1, { title: 'Open' }, 'See [[Hidden]].\n'),
      'b.md': neuronText(2, { title: 'Hidden', ...hidden }, 'Mentions [[Open]].\n'),
    })
    const shown = await page(bed, bed.reader, 1)
    const told = JSON.stringify({ ...shown, neuron: { ...shown.neuron, content: '', unresolved: [] }, rendered: [] })
    expect(told).not.toMatch(/Hidden|00000002/)
    expect(shown.rendered.blocks.join()).not.toContain(seq(2))
    await expect(page(bed, bed.reader, 2)).rejects.toMatchObject({ code: 'not_found' })
    expect((await page(bed, bed.curator, 1)).mentions).toHaveLength(1)
  })

  test('follows what other pages become, for each audience', async () => {
    const bed = await writtenBed({
      'a.md': neuronText(1, { title: 'Desk' }),
      'b.md': neuronText(2, { title: 'Old' }, 'Ask the [[Desk]].\n'),
    })
    const told = async (caller: Caller) => {
      const { mentions, around } = await page(bed, caller, 1)
      const { entries } = await tree(bed, caller)
      return [
        mentions.map(({ title, sentence }) => `${title}: ${sentence}`),
        around.nodes.map(({ title }) => title),
        entries.map((entry) => entry.kind === 'page' && entry.title),
      ]
    }
    for (const caller of [bed.reader, bed.curator]) {
      expect(await told(caller)).toEqual([['Old: Ask the Desk.'], ['Desk', 'Old'], ['Desk', 'Old']])
    }
    bed.write({ 'b.md': neuronText(2, { title: 'New' }, 'Call the [[Desk]].\n') })
    expect(await told(bed.reader)).toEqual([['New: Call the Desk.'], ['Desk', 'New'], ['Desk', 'New']])
    bed.write({ 'b.md': neuronText(2, { title: 'New', ...hidden }, 'Call the [[Desk]].\n') })
    expect(await told(bed.curator)).toEqual([['New: Call the Desk.'], ['Desk', 'New'], ['Desk', 'New']])
    expect(await told(bed.reader)).toEqual([[], ['Desk'], ['Desk']])
  })

  test('shows nothing that was hidden while it was read, whenever that was', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'Desk' }) })
    for (let moment = 1; moment <= 6; moment++) {
      bed.write({ 'b.md': neuronText(2, { title: `Open ${moment}` }, 'Ask the [[Desk]].\n') })
      let reads = 0
      const readableKb: typeof bed.ctx.readableKb = (...asked) => {
        if (++reads === moment) bed.write({ 'b.md': neuronText(2, { title: 'B', ...hidden }, 'Ask the [[Desk]].\n') })
        return bed.ctx.readableKb(...asked)
      }
      await page({ ...bed, ctx: { ...bed.ctx, readableKb } }, bed.reader, 1)
      if (reads >= moment) expect((await page(bed, bed.reader, 1)).mentions, `${moment}`).toEqual([])
    }
  })

  test('is read as it was, also after it was removed', async () => {
    const bed = await writtenBed({ 'a.md': neuronText(1, { title: 'A' }, 'Once.\n') })
    const at = bed.native.git('rev-parse', 'refs/heads/main')
    bed.write({ 'a.md': neuronText(1, { title: 'B' }, 'Now.\n') })
    expect(await page(bed, bed.reader, 1, at)).toMatchObject({ current: 2, neuron: { version: 1, title: 'A' } })
    bed.write({ 'a.md': null })
    const past = await page(bed, bed.reader, 1, at)
    expect([past.current, past.rendered.blocks]).toEqual([null, ['<p dir="auto">Once.</p>']])
    await expect(page(bed, bed.reader, 1)).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('loose ends are those that the caller sees', async () => {
  const bed = await writtenBed({
    'a.md': neuronText(1, { title: 'A' }, '[[Hidden]] [[Gap]] ![[absent.png]]\n'),
    'b.md': neuronText(2, { title: 'Hidden', ...hidden }, '[[B]] [[Other gap]]\n'),
    'c.md': neuronText(3, { title: 'B' }),
  })
  const ends = (caller: Caller) => readLooseEnds(bed.ctx, caller, 'handbook')
  const reader = await ends(bed.reader)
  expect(reader.orphans).toEqual([{ seqId: seq(3), title: 'B' }])
  expect(reader.gaps.map(({ target }) => target).sort()).toEqual(['Gap', 'Hidden'])
  const curator = await ends(bed.curator)
  expect(curator.orphans).toEqual([])
  expect(curator.gaps.map(({ target }) => target).sort()).toEqual(['Gap', 'Other gap', 'absent.png'])
})
