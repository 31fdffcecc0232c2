import { expect, test } from 'vitest'
import { packPassages } from '../../../src/search/answer/pack-passages.ts'
import type { ChunkHit } from '../../../src/search/search-index.ts'
import { analyserFor } from '../../../src/search/text/analyser.ts'
import { fc, runs } from '../../support/properties.ts'

const rarity = { gasket: 1, page: 0.2 }

function passage(changes: Partial<ChunkHit>): ChunkHit {
  const { content = '' } = changes
  return {
    key: 'kb_00000001',
    headings: [],
    rank: 1,
    rarity,
    ordinal: 0,
    chunkCount: 1,
    ...changes,
    content,
  }
}

/** @param page the chunks that every page has. */
function packed(
  passages: readonly ChunkHit[],
  maxChars: number,
  { topK = 5, least = 100, page = [] as readonly string[] } = {},
): string[] {
  const reading = {
    ...{ language: 'en', analyser: analyserFor('en'), titleOf: () => 'Parts' },
    chunkAt: (_: string, ordinal: number) => {
      const content = page[ordinal]
      return content === undefined ? undefined : { headings: [], content, text: content }
    },
  }
  return packPassages(passages, { maxChars, topK, least }, reading).map(({ content }) => content)
}

test('an item comes with what announces it, a row with the head of its table, code whole, each under its heading', () => {
  const filler = 'Nothing to see here, and more of it. '.repeat(4).trim()
  const list = `${filler}\n\n## Spares\n\nOrder these:\n\n- a nut\n- a gasket,\n  of steel\n- a bolt`
  expect(packed([passage({ content: list })], 60)).toEqual([
    '## Spares\nOrder these:\n- a gasket,\n  of steel\n- a bolt',
  ])
  const table = `${filler}\n\n| Part | Size |\n|---|---|\n| nut | 1 |\n| gasket | 2 |\n| bolt | 3 |\n\n${filler}`
  expect(packed([passage({ content: table })], 50)).toEqual(['| Part | Size |\n|---|---|\n| gasket | 2 |'])
  const code = `${filler}\n\nRun it:\n\n\`\`\`sh\nmake clean\n\nmake gasket\n\`\`\`\n\n${filler}`
  expect(packed([passage({ content: code })], 60)).toEqual(['Run it:\n\n```sh\nmake clean\n\nmake gasket\n```'])
})

test('lines end as on Windows, and announce as in Chinese', () => {
  const filler = 'Nothing to see here, and more of it. '.repeat(4).trim()
  const list = `${filler}\n\nOrder\nthese：\n\n- a nut\n- a gasket`.replaceAll('\n', '\r\n')
  expect(packed([passage({ content: list })], 34)).toEqual(['Order\r\nthese：\n- a nut\r\n- a gasket'])
})

test('a row of dashes is no second head, code below a heading no part of it, and a text without full stops is cut at words', () => {
  const filler = 'Nothing to see here, and more of it. '.repeat(4).trim()
  const table = '| Part | Size |\n|---|---|\n| nut | 1 |\n| - | - |\n| gasket | 2 |\n| bolt | 3 |'
  expect(packed([passage({ content: `${filler}\n\n${table}` })], 45)).toEqual([
    '| Part | Size |\n|---|---|\n| gasket | 2 |',
  ])
  const code = `${filler}\n\n## Make\n\n    make clean\n    make all\n\nTake a gasket.\n\n${filler}`
  expect(packed([passage({ content: code })], 30)).toEqual(['## Make\nTake a gasket.'])
  const [thai = ''] = packed([passage({ content: `${'ประเทศไทย'.repeat(60)} gasket ${'ประเทศไทย'.repeat(60)}` })], 450)
  expect(thai).toContain('gasket')
})

test('the parts of a page are one text, in the order of the page, with its headings', () => {
  const pieces = [
    passage({ content: 'The gasket is of steel.', headings: ['Parts', 'Steel'], ordinal: 3 }),
    passage({ content: 'Another page tells of a gasket.', key: 'kb_00000002' }),
    passage({ content: 'A gasket comes first.', headings: ['Parts', 'All'], ordinal: 0 }),
    passage({ content: 'A gasket, a nut.', headings: ['Parts', 'All'], ordinal: 1 }),
  ]
  const page = '## All\n\nA gasket comes first.\n\nA gasket, a nut.\n\n…\n\n## Steel\n\nThe gasket is of steel.'
  expect(packed(pieces, 1000)).toEqual([page, 'Another page tells of a gasket.'])
  expect(packed(pieces, 1000, { topK: 1 })).toEqual([page])
})

test('what is left of a budget goes to what stands around, in whole units, and no chunk is told twice', () => {
  const about = (word: string) => `${word} is told of here, at some length and with care. `.repeat(12).trim()
  const page = ['A', 'B', 'A gasket', 'D', 'E', 'F'].map(about)
  const found = [passage({ content: page[2] ?? '', ordinal: 2 }), passage({ content: page[3] ?? '', ordinal: 3 })]
  expect(packed(found, 10_000, { page })).toEqual([page.join('\n\n')])
  const [most = ''] = packed(found, 2500, { page })
  expect(most.length).toBeGreaterThan(0.9 * 2500)
  expect(most).toContain(`${page.slice(2, 4).join('\n\n')}\n\nE is`)
  const section = [passage({ content: page.slice(0, 3).join('\n\n'), ordinal: 0, chunkCount: 3 })]
  expect(packed(section, 10_000, { page })).toEqual([page.join('\n\n')])
})

test('the head of a table that goes on in the next chunk is told once', () => {
  const head = '| Part | Size |\n|---|---|'
  const page = [`${head}\n| gasket | 1 |`, `${head}\n| nut | 2 |`, `${head}\n| bolt | 3 |`]
  const all = `${head}\n| gasket | 1 |\n| nut | 2 |\n| bolt | 3 |`
  expect(packed([passage({ content: page[0] ?? '' })], 1000, { page })).toEqual([all])
})

test('of a large budget every page has a part before any has two', () => {
  const content = 'A gasket is told of here. '.repeat(60).trim()
  const found = [0, 2, 4, 6, 8].map((ordinal) => passage({ content, ordinal }))
  const other = passage({ content: 'A gasket elsewhere.', key: 'kb_00000002' })
  const pages = packed([...found, other], 8001)
  expect(pages[1]).toBe('A gasket elsewhere.')
})

test('whatever the texts, contents keep within the budget and hold no half of a character', () => {
  const line = fc.constantFrom(
    '- gasket',
    '| gasket | 😀 |',
    '|---|---|',
    '```',
    '# Gasket',
    'A gasket. Another page 😀.',
    '',
    '  more:',
  )
  const content = fc.array(line, { minLength: 1, maxLength: 20 }).map((lines) => lines.join('\n'))
  const headings = fc.array(fc.constantFrom('One', 'Two'), { maxLength: 2 })
  const key = fc.constantFrom('kb_00000001', 'kb_00000002', 'kb_00000003')
  const places = { content, headings, key, ordinal: fc.nat(9) }
  fc.assert(
    fc.property(
      fc.array(fc.record(places), { maxLength: 8 }),
      fc.integer({ min: 1, max: 600 }),
      fc.integer({ min: 1, max: 4 }),
      (given, maxChars, topK) => {
        const contents = packed(given.map(passage), maxChars, { topK })
        expect(contents.length).toBeLessThanOrEqual(topK)
        expect(contents.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(maxChars)
        for (const one of contents) expect(one.isWellFormed()).toBe(true)
        expect(contents.length > 0).toBe(given.length > 0)
      },
    ),
  )
})

test('more room never takes away what less room gave, and more pages take no page away', () => {
  const size = fc.integer({ min: 5, max: 40 })
  const place = fc.record({ page: fc.nat(7), ordinal: fc.nat(6), size })
  const places = fc.uniqueArray(place, { maxLength: 25, selector: ({ page, ordinal }) => `${page} ${ordinal}` })
  const saidBy = (contents: readonly string[]) => new Set(contents.join('\n').match(/\bs\d+x\d+x\d+\b/g))
  const budgets = [
    100, 300, 499, 500, 501, 800, 1_200, 1_999, 2_000, 2_001, 3_000, 4_000, 5_500, 7_999, 8_000, 8_001, 9_000, 14_000,
    50_000,
  ]
  const chunkOf = (page: number, ordinal: number, size: number) =>
    Array.from({ length: size }, (_, n) => `The gasket s${page}x${ordinal}x${n} is told of at length.`).join(' ')
  const property = fc.property(places, fc.integer({ min: 1, max: 8 }), (given, topK) => {
    const found = given.map(({ page, ordinal, size }) =>
      passage({ key: `kb_0000000${page}`, ordinal, content: chunkOf(page, ordinal, size) }),
    )
    const all = budgets.map((maxChars) => saidBy(packed(found, maxChars, { topK })))
    for (const [at, said] of all.entries()) expect([...(all[at - 1] ?? [])].filter((one) => !said.has(one))).toEqual([])
    const pagesOf = (topK: number, maxChars: number) =>
      new Set(Array.from(saidBy(packed(found, maxChars, { topK })), (one) => one.split('x')[0]))
    for (const maxChars of budgets) {
      const more = pagesOf(topK + 1, maxChars)
      expect([...pagesOf(topK, maxChars)].filter((page) => !more.has(page))).toEqual([])
    }
  })
  fc.assert(property, { numRuns: runs(500, 40) })
})
