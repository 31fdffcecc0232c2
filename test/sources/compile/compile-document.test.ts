import { describe, expect, test } from 'vitest'
import { linkKey } from '../../../src/rules/links/link-target.ts'
import type { CompiledPage } from '../../../src/sources/compile/compiled.ts'
import { leftOut } from '../../../src/sources/compile/left-out.ts'
import { extractLinks } from '../../markdown/extract-parts.ts'
import { fc, runs } from '../../support/properties.ts'
import { compile, documents, paragraph } from './documents.ts'

const sections = (...names: string[]) => names.map((name) => `## ${name}\n\n${paragraph(name, 2500)}`).join('\n\n')
const titles = (pages: readonly CompiledPage[]) => pages.map(({ title }) => title)

describe('a small document', () => {
  test('becomes one page with its whole text, and its heading the title', async () => {
    const pages = await compile('# Refunds\n\nWithin 30 days.\n\n### How\n\nBy letter.\n', { tags: ['policy'] })
    expect(pages).toEqual([
      {
        key: 'summary',
        kind: 'summary',
        title: 'Refunds',
        content: 'Within 30 days.\n\n## How\n\nBy letter.',
        tags: ['policy'],
        place: {},
      },
    ])
  })

  test('without a heading is called by the name of its file', async () => {
    expect(titles(await compile('Some words.', { filename: 'vip_letter 2.docx' }))).toEqual(['vip letter 2'])
  })

  test('has a title without signs that cannot be seen at its ends', async () => {
    const flag = '\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}'
    expect(titles(await compile('Words.', { title: '\u200bSetup \u200b' }))).toEqual(['Setup'])
    expect(titles(await compile('Words.', { title: `Team ${flag}` }))).toEqual([`Team ${flag}`])
  })

  test('keeps text that looks like front matter as text', async () => {
    const [page] = await compile('---\ntitle: Forged\n---\n\nWords.')
    expect(page).toMatchObject({ title: 'handbook', content: '---\ntitle: Forged\n---\n\nWords.' })
  })
})

describe('what a comment says', () => {
  test('is in no title, text or tag of a page', async () => {
    const [page] = await compile(
      '# Pigeons %%zebras%%\n\nThey carry %%Zebras are secret.%%letters.\n\n%%\n# Zebras\n\nZebras, zebras.\n%%\n',
    )
    expect(page).toMatchObject({ title: 'Pigeons', content: 'They carry letters.' })
    expect(page?.tags.join()).not.toMatch(/zebra/i)
  })

  test('becomes no page of its own where the document is cut', async () => {
    const pages = await compile(
      `${sections('Doors', 'Windows')}\n\n%%\n\n# Zebras\n\n${paragraph('zebra', 3000)}\n\n%%\n\n${sections('Roofs')}`,
    )
    expect(pages.map(({ title }) => title)).toEqual(['handbook', 'Doors', 'Windows', 'Roofs'])
    expect(JSON.stringify(pages)).not.toMatch(/zebra/i)
  })
})

test('what is for search alone becomes no page', async () => {
  const markdown = `# Log\n\nOf doors.\n\n${sections('Rows', 'More rows', 'Further rows')}`
  const [page, ...others] = await compile(markdown, { searchOnlyFrom: 5 })
  expect(page?.content).toBe('Of doors.')
  expect(others).toEqual([])
})

test.for([
  ['quotes', `${'> '.repeat(50_000)}deep`],
  ['emphasis', '*a _b '.repeat(50_000)],
  ['cells', `| | x |\n| - | - |\n${'| | |\n'.repeat(20_000)}`],
] as const)('a document of one word and many %s is one page', async ([, markdown]) => {
  const pages = await compile(markdown)
  expect(pages).toHaveLength(1)
  expect(pages[0]?.content.length).toBeLessThan(13_000)
})

test('pieces of a section that hold no words are no pages, the others are numbered', async () => {
  const nothing = '* * | _ '.repeat(5000)
  const pages = await compile([paragraph('first', 6000), nothing, paragraph('last', 6000)].join('\n\n'))
  expect(titles(pages)).toEqual(['handbook', 'handbook (1)', 'handbook (2)'])
  expect(pages[2]?.content).toContain('The last desk')
})

test.for([
  ['in the first row', `Terms ${paragraph('terms', 14_000)}`, ' '],
  [
    'in a row of a long table',
    ' ',
    Array.from({ length: 300 }, (_, at) => `${paragraph(`row ${at}`, 80)}`).join(' |\n| '),
  ],
])('a table with its words %s is kept', async ([, head, rows]) => {
  const pages = await compile(
    `${sections('Doors')}\n\n## Terms\n\n| ${head} |\n| --- |\n| ${rows} |\n\n${sections('Roofs')}`,
  )
  const text = pages.map(({ content }) => content).join('\n')
  expect(text.split(head === ' ' ? 'The row' : 'The terms').length).toBeGreaterThan(170)
})

describe('a long document', () => {
  test('becomes a summary and a page for each section', async () => {
    const markdown = `# Handbook of care\n\nWhat everyone at the desk must know.\n\n${sections('3.1 Refund rules', '3.2 VIP care', 'Overview')}`
    const pages = await compile(markdown, { filename: 'care.pdf' })
    expect(pages.map(({ key, title }) => [key, title])).toEqual([
      ['summary', 'Handbook of care'],
      ['refund-rules', 'Refund rules'],
      ['vip-care', 'VIP care'],
      ['overview', 'Overview – Handbook of care'],
    ])
    const [summary, first] = pages
    expect(summary?.content).toContain('What everyone at the desk must know.')
    expect(summary?.content).toContain(
      '## Contents\n\n- [[Refund rules]]\n- [[VIP care]]\n- [[Overview – Handbook of care]]\n\nCompiled from care.pdf: 1483 words, 3 parts.',
    )
    expect(first?.content).toBe(`${paragraph('3.1 Refund rules', 2500)}\n\nFrom [[Handbook of care]].`)
  })

  test('speaks the language of the knowledge base', async () => {
    const pages = await compile(sections('Eins', 'Zwei', 'Drei'), {
      language: 'de-AT',
      anchors: [{ line: 1, page: 4 }],
    })
    expect(pages[0]?.content).toContain('## Inhalt')
    expect(pages[1]?.content).toMatch(/\n\nAus \[\[handbook\]\], Seite 4\.$/)
  })

  test('gives each page the place of its text', async () => {
    const pages = await compile(`${sections('One', 'Two', 'Three')}`, {
      anchors: [
        { line: 1, page: 1 },
        { line: 5, page: 7 },
        { line: 6, page: 8 },
        { line: 9, page: 9 },
      ],
    })
    expect(pages.map(({ place }) => place.pages)).toEqual([
      [1, 9],
      [1, 1],
      [7, 8],
      [9, 9],
    ])
    expect(pages[2]?.content).toMatch(/From \[\[handbook\]\], pages 7–8\.$/)
    expect(pages[0]?.content).toContain('9 pages')
  })

  test('joins little sections to a neighbour, with their headings', async () => {
    const pages = await compile(`${sections('One')}\n\n## Little\n\nA few words.\n\n${sections('Two', 'Three')}`)
    expect(titles(pages)).toEqual(['handbook', 'One', 'Two', 'Three'])
    expect(pages[1]?.content).toContain('\n\n## Little\n\nA few words.\n\nFrom')
  })

  test('splits what is long at deeper headings, and lists that below its section', async () => {
    const chapter = ['Alpha', 'Beta'].map((name) => `### ${name}\n\n${paragraph(name, 7000)}`).join('\n\n')
    const pages = await compile(`## Chapter\n\n${chapter}\n\n## Last\n\n${paragraph('last')}`)
    expect(pages.map(({ key }) => key)).toEqual(['summary', 'chapter/alpha', 'chapter/beta', 'last'])
    expect(pages[0]?.content).toContain('- Chapter\n  - [[Alpha]]\n  - [[Beta]]\n- [[Last]]')
    expect(pages[1]?.content).toMatch(/^## Chapter\n\n### Alpha\n\n/)
  })

  test('splits what has no deeper headings between paragraphs', async () => {
    const long = Array.from({ length: 20 }, (_, index) => paragraph(`desk ${index}`, 1000)).join('\n\n')
    const pages = await compile(`## One\n\n${long}\n\n## Two\n\n${paragraph('two')}`)
    expect(pages.map(({ key, title }) => [key, title])).toEqual([
      ['summary', 'handbook'],
      ['one', 'One'],
      ['one.2', 'One (2)'],
      ['one.3', 'One (3)'],
      ['one.4', 'One (4)'],
      ['two', 'Two'],
    ])
    const plain = await compile(long, { title: 'Notes of May' })
    expect(titles(plain)).toEqual([
      'Notes of May',
      'Notes of May (1)',
      'Notes of May (2)',
      'Notes of May (3)',
      'Notes of May (4)',
    ])
  })

  test('repeats the header of a table that is longer than a part', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => `| ${index} | ${'x'.repeat(20)} |`)
    const pages = await compile(`| Id | Text |\n|---|---|\n${rows.join('\n')}`)
    expect(pages.length).toBeGreaterThan(2)
    for (const { content } of pages.slice(1)) expect(content).toMatch(/^\| Id \| Text \|\n\|---\|---\|\n\| \d+ \|/)
  })

  test('never cuts code or a list', async () => {
    const code = `\`\`\`sh\n${'# a comment\n\nrun it\n'.repeat(900)}\`\`\``
    const list = `- first\n\n  \`\`\`\n  # no heading\n\n  \`\`\`\n${'- item\n  more of it\n'.repeat(1500)}`.trim()
    const pages = await compile(`${sections('One')}\n\n${code}\n\n${sections('Two')}\n\n${list}`)
    expect(pages.some(({ content }) => content.includes(code))).toBe(true)
    expect(pages.some(({ content }) => content.includes(list))).toBe(true)
  })

  test('has a gist of its own sentences, in their order, without those of tables, code and lists', async () => {
    const prose = [
      'Refunds are paid by the refund desk within thirty days of the letter.',
      'A refund is refused where the letter came late, which the desk must prove.',
      'The desk keeps every refund letter for ten years in the archive of letters.',
    ]
    const weather = 'Rain fell upon green hills while seven sheep were sleeping under old trees.'
    const noise =
      '- A refund in a list is paid by the refund desk to the customer of the desk.\n\n    Code of the refund desk is never a sentence of the refund desk.'
    const pages = await compile(`${prose.join(' ')}\n\n${noise}\n\n${sections('One', 'Two', 'Three')}\n\n${weather}`)
    const gist =
      pages[0]?.content
        .split('\n\n')[0]
        ?.split('\n')
        .map((line) => line.slice(2)) ?? []
    expect(gist.length).toBeGreaterThanOrEqual(3)
    expect(gist.length).toBeLessThanOrEqual(5)
    const all = `${prose.join(' ')} ${sections('One', 'Two', 'Three')}`
    const places = gist.map((sentence) => all.indexOf(sentence))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThanOrEqual(0)
    expect(gist).not.toContain(weather)
  })

  test('has the tags of the upload and terms of its own', async () => {
    const text = (name: string) =>
      `## ${name} rules\n\n${`Every ${name} letter goes to the claims office. `.repeat(60)}`
    const pages = await compile(['Refund', 'Warranty', 'Repair'].map(text).join('\n\n'), {
      tags: ['Policy', 'claims-office'],
    })
    expect(pages[0]?.tags.slice(0, 2)).toEqual(['Policy', 'claims-office'])
    expect(pages[0]?.tags.length).toBeLessThanOrEqual(7)
    expect(pages[2]?.tags.slice(2).join()).toContain('warranty')
    for (const { tags } of pages)
      expect(tags.filter((tag) => linkKey(tag) === linkKey('claims-office'))).toHaveLength(1)
  })

  test('gives titles that no other part and no other Neuron has', async () => {
    const markdown = `# Care\n\n${sections('Setup guide', 'Care', 'Setup guide', 'Setup guide', 'Taken', 'C# | [[x]]: \\`a', 'cites: b')}`
    const pages = await compile(markdown, { names: [{ name: 'taken', title: 'Other' }] })
    expect(titles(pages)).toEqual([
      'Care',
      'Setup guide',
      'Care – Care',
      'Setup guide – Care',
      'Setup guide – Care (2)',
      'Taken – Care',
      'C＃ / x: `a',
      'cites： b',
    ])
    const targets = extractLinks(pages[0]?.content ?? '').map(({ target, type }) => [target, type])
    expect(targets).toEqual(titles(pages.slice(1)).map((title) => [title, undefined]))
  })

  test('of far too many sections has 500 parts at most, and says so', async () => {
    const many = Array.from({ length: 700 }, (_, index) => `# Heading ${index}\n\n${paragraph(`n${index}`, 450)}`)
    const pages = await compile(many.join('\n\n'))
    expect(pages.length).toBeLessThanOrEqual(501)
    expect(pages[0]?.content).toContain('The document has 700 sections, more than can be pages of their own')
    for (const text of many)
      expect(pages.some(({ content }) => content.includes(text.split('\n\n')[1] ?? ''))).toBe(true)
  })
})

test('a fence may be as long as a document', async () => {
  const fence = '`'.repeat(100_000)
  const pages = await compile(`# A\n\nword ${fence}\n\n${fence}\n# B\n${fence}\n`)
  expect(pages.map(({ title }) => title)).not.toContain('B')
})

describe('any document', () => {
  /** Counts each line in the text of pages, without what the compiler adds. */
  const counts = (pages: readonly CompiledPage[]) => {
    const counted = new Map<string, number>()
    const texts = pages.map(({ content }) => {
      const [opening = ''] = content.split(/\n*^## Contents\n/m)
      return opening.replace(/\n\nFrom \[\[[^\]]+\]\]\.$/, '')
    })
    for (const [line] of texts.join('\n').matchAll(/line\d+end/g)) counted.set(line, (counted.get(line) ?? 0) + 1)
    return counted
  }

  test('loses no line and doubles none but headers of tables', async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (markdown) => {
        const pages = await compile(markdown)
        const counted = counts(pages)
        const names = titles(pages).join('\n')
        for (const [whole, line = ''] of markdown.matchAll(/^.*(line\d+end).*$/gm)) {
          const count = counted.get(line) ?? 0
          if (whole.startsWith('| A ')) expect(count).toBeGreaterThanOrEqual(1)
          else if (/^#+ (?!code)/.test(whole))
            expect([line, count <= 1, count === 1 || names.includes(line)]).toEqual([line, true, true])
          else expect([line, count]).toEqual([line, 1])
        }
      }),
      { numRuns: runs(60, 10) },
    )
  })

  test('has every word on a page, or says why not', async () => {
    const remarks = fc.array(fc.constantFrom('%%a hidden remark%%', '| one row of words |\n| --- |', '| | |\n|-|-|'))
    await fc.assert(
      fc.asyncProperty(documents, remarks, async (document, more) => {
        const markdown = [document, ...more, document].join('\n\n')
        const pages = await compile(markdown)
        const out = await leftOut({ title: undefined, markdown, anchors: [], warnings: [] }, pages)
        expect(out).toMatchObject({ lost: [], running: [] })
        const known = new Set(
          [...pages.map(({ title, content }) => `${title} ${content}`), ...out.comments].join(' ').match(/\p{L}{2,}/gu),
        )
        for (const [word] of markdown.matchAll(/\p{L}{2,}/gu)) if (!known.has(word)) expect.fail(word)
      }),
      { numRuns: runs(40, 10) },
    )
  })

  test('gives the same pages again, with keys and titles of their own', async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (markdown) => {
        const pages = await compile(markdown)
        expect(await compile(markdown)).toEqual(pages)
        expect(new Set(pages.map(({ key }) => key)).size).toBe(pages.length)
        expect(new Set(titles(pages).map(linkKey)).size).toBe(pages.length)
        for (const { title } of pages) expect(title.length).toBeLessThanOrEqual(200)
      }),
      { numRuns: runs(40, 10) },
    )
  })

  test('keeps keys and titles of its sections when text is appended', async () => {
    const names = fc.array(fc.constantFrom('Refunds', 'Care', 'Setup', 'Overview', 'VIP'), {
      minLength: 3,
      maxLength: 9,
    })
    await fc.assert(
      fc.asyncProperty(names, names, async (before, after) => {
        const [old, grown] = [await compile(sections(...before)), await compile(sections(...before, ...after))]
        const known = (pages: readonly CompiledPage[]) =>
          pages.slice(0, old.length).map(({ key, title }) => [key, title])
        expect(known(grown)).toEqual(known(old))
      }),
      { numRuns: runs(30, 10) },
    )
  })

  test('that is hostile ends with pages of a bounded size', async () => {
    const hostile = [
      '# a\n',
      'x',
      'words and words. ',
      '[a](',
      '[[a',
      '- ',
      '`a\n\n',
      '| a ',
      '> ',
      '\ud800',
      '\0',
      '- a\n\n',
      '<a ',
    ]
    for (const text of hostile) {
      const pages = await compile(text.repeat(Math.ceil(200_000 / text.length)))
      for (const { content } of pages) {
        expect(content.length).toBeLessThan(60_000)
        expect(content.isWellFormed() && !content.includes('\0')).toBe(true)
      }
    }
  })
})
