import { strToU8, unzipSync, zipSync } from 'fflate'
import { writeXlsx } from 'hucre/xlsx'
import { expect, test } from 'vitest'
import { extractBytes, extractorConformance } from '../conformance.ts'
import { docx, officeDocument, p, rows, xlsx } from '../support/office-writer.ts'

const markdownOf = async (xml: string, options: Parameters<typeof xlsx>[1] = {}) =>
  (await extractBytes('xlsx', xlsx([{ name: 'A', xml }], options))).markdown
const cells = (...list: string[]) => `<sheetData><row>${list.join('')}</row></sheetData>`

extractorConformance({
  fileType: 'xlsx',
  readable: {
    'a workbook of another program': {
      bytes: writeXlsx({
        sheets: [
          {
            name: 'Spans',
            rows: [
              ['Name', 'Built'],
              ['North', new Date(Date.UTC(1931, 4, 2))],
            ],
          },
          {
            name: 'Costs',
            rows: [
              ['Year', 'Sum'],
              [2024, 1.5],
            ],
          },
        ],
        properties: { title: 'Bridges' },
      }),
      title: 'Bridges',
      contains: ['## Spans', '| Name | Built |', '| North | 1931-05-02 |', '## Costs', '| 2024 | 1.5 |'],
    },
  },
  refused: {
    'an encrypted workbook': {
      bytes: writeXlsx({ sheets: [{ name: 'A', rows: [['a']] }], encryption: { password: 'x', spinCount: 10 } }),
      problems: ['encrypted'],
    },
    'a text document': { bytes: docx(p('a')), problems: ['wrong-type'] },
    'one without values': { bytes: xlsx([{ name: 'A', xml: '<sheetData/>' }]), problems: ['empty'] },
    'a document type': {
      bytes: officeDocument('xl/workbook.xml', { 'xl/workbook.xml': '<!DOCTYPE w [<!ENTITY e "e">]><workbook/>' }),
      problems: ['corrupt'],
    },
    'shared texts without end': {
      bytes: xlsx([{ name: 'A', xml: '<sheetData/>' }], { strings: '<si/>'.repeat(3_000_001) }),
      problems: ['too-large'],
    },
  },
})

test('numbers, dates, shares, truth, errors and the values of formulas read as a sheet shows them', async () => {
  const shown = await markdownOf(
    cells(
      '<c t="s"><v>0</v></c>',
      '<c><v>0.30000000000000004</v></c>',
      '<c s="1"><v>45000</v></c>',
      '<c s="1"><v>45000.5</v></c>',
      '<c s="2"><v>0.125</v></c>',
      '<c t="b"><v>1</v></c>',
      '<c t="e"><v>#N/A</v></c>',
      '<c t="str"><f>A1&amp;"!"</f><v>sum!</v></c>',
    ),
    { strings: '<si><r><t>To</t></r><r><t>tal</t></r><rPh><t>loud</t></rPh></si>' },
  )
  expect(shown.split('\n')[2]).toBe('| Total | 0.3 | 2023-03-15 | 2023-03-15T12:00 | 12.50% | TRUE | #N/A | sum! |')
})

test.for([
  ['00000', 1067, '01067'],
  ['[$USD] #,##0.00', 1250.5, 'USD 1,250.50'],
  ['"DE-"0000000', 4711, 'DE-0004711'],
  ['#,##0.00 [$€-407]', 1234.5, '1,234.50 €'],
  ['_("$"* #,##0.00_);_("$"* (#,##0.00)', -1234.5, '$(1,234.50)'],
  ['0.00', 1.005, '1.01'],
  ['0.00', -0.001, '0.00'],
  ['000-00-0000', 123456789, '123-45-6789'],
  ['#,##0,,"M"', 12345678, '12M'],
  ['0.00E+00', 0.00012, '1.20E-04'],
  ['0;(0);"none"', 0, 'none'],
  ['[>100]"big "0;0', 150, 'big 150'],
  ['[>100]"big "0;0', -50, '-50'],
  ['General" units"', 5.5, '5.5 units'],
  ['"a;b"0', 7, 'a;b7'],
  ['0 \\%', 12, '12 %'],
  ['# ?/?', 1.5, '1.5'],
  ['0" days"', 3, '3 days'],
  ['#,##0', 1e22, '1e+22'],
] as const)('a number of the format %s: %s is shown as %s', async ([format, value, shown]) => {
  const xml = cells('<c t="str"><v>n</v></c>', `<c s="3"><v>${value}</v></c>`)
  expect(await markdownOf(xml, { formats: [format] })).toContain(`| n | ${shown} |`)
})

test('statistics of a large table take numbers whatever their format adds', async () => {
  const row = (at: number) => `<row><c s="3"><v>${at}.5</v></c><c t="str"><v>r${at}</v></c></row>`
  const head = '<row><c t="str"><v>Fee</v></c><c t="str"><v>Row</v></c></row>'
  const xml = `<sheetData>${head}${Array.from({ length: 5001 }, (_, at) => row(at)).join('')}</sheetData>`
  const markdown = await markdownOf(xml, { formats: ['[$USD] #,##0.00'] })
  expect(markdown).toContain('| Fee | 5001 | over 1000 | 0.5 | 5000.5 | 2500.5 |')
  expect(markdown).toContain('| USD 0.50 | r0 |')
})

test('superscripts of shared texts and of cells are kept', async () => {
  const run = (text: string, align: string) => `<r><rPr><vertAlign val="${align}"/></rPr><t>${text}</t></r>`
  const text = `<r><t>10</t></r>${run('6', 'superscript')}<r><t> of CO</t></r>${run('2', 'subscript')}`
  const xml = cells('<c t="s"><v>0</v></c>', `<c t="inlineStr"><is>${text}</is></c>`)
  expect(await markdownOf(xml, { strings: `<si>${text}</si>` })).toContain('| 10⁶ of CO₂ | 10⁶ of CO₂ |')
})

test.each([
  [1, undefined, '1900-01-01'],
  [59, undefined, '1900-02-28'],
  [61, undefined, '1900-03-01'],
  [0, true as const, '1904-01-01'],
  [2_958_466, undefined, '2958466'],
])('day %s (since 1904: %s) is %s', async (day, is1904, date) => {
  const xml = cells(`<c t="str"><v>d</v></c>`, `<c s="1"><v>${day}</v></c>`)
  expect(await markdownOf(xml, is1904 ? { is1904 } : {})).toContain(`| d | ${date} |`)
})

test('hidden sheets, rows and columns are left out and told of', async () => {
  const xml = `<cols><col min="2" max="2" hidden="1"/></cols><sheetData><row><c t="str"><v>a</v></c><c t="str"><v>salary</v></c><c t="str"><v>b</v></c></row><row hidden="1"><c><v>666</v></c></row></sheetData>`
  const { markdown, anchors, warnings } = await extractBytes(
    'xlsx',
    xlsx([
      { name: 'Secret', xml: rows([['secret']]), state: 'veryHidden' },
      { name: 'Open', xml },
    ]),
  )
  expect(markdown).toBe('## Open\n\n| a | b |\n| --- | --- |')
  expect(anchors).toEqual([{ line: 1, sheet: 'Open' }])
  expect(warnings).toEqual([
    'The hidden sheet "Secret" was left out.',
    '1 hidden rows of the sheet "Open" were left out.',
    '1 hidden columns of the sheet "Open" were left out.',
  ])
})

test('lines above a table are text, regions with blank rows between are tables of their own', async () => {
  const xml = rows([['Ducks of 2024'], ['Kind', 'Count'], ['Mallard', 3], [], [], ['Year', 'Sum'], [2024, 7]])
  expect((await markdownOf(xml)).split('\n\n')).toEqual([
    '## A',
    'Ducks of 2024',
    '| Kind | Count |\n| --- | --- |\n| Mallard | 3 |',
    '| Year | Sum |\n| --- | --- |\n| 2024 | 7 |',
  ])
})

test('a blank row below a header does not part it from its table', async () => {
  const xml = rows([['Kind', 'Count'], [], ['Mallard', 3]])
  expect(await markdownOf(xml)).toContain('| Kind | Count |\n| --- | --- |\n| Mallard | 3 |')
})

test('cells that are merged downwards all have the text', async () => {
  const xml = `${rows([
    ['Land', 'City'],
    ['Norway', 'Oslo'],
    [undefined, 'Bergen'],
    ['Italy', 'Rome'],
  ])}<mergeCells><mergeCell ref="A2:A3"/></mergeCells>`
  expect(await markdownOf(xml)).toContain('| Norway | Oslo |\n| Norway | Bergen |\n| Italy | Rome |')
})

test('a long table says its header again each 100 rows', async () => {
  const xml = rows([['n', 'square'], ...Array.from({ length: 250 }, (_, at) => [at, at * at])])
  expect((await markdownOf(xml)).match(/\| n \| square \|/g)).toHaveLength(3)
})

test('a huge table is statistics, its first rows and a warning', async () => {
  const body = Array.from({ length: 6000 }, (_, at) => [at, ['Oslo', 'Rome', 'Rome'][at % 3], `t${at}`])
  const { markdown, warnings } = await extractBytes(
    'xlsx',
    xlsx([{ name: 'Log', xml: rows([['n', 'city', 't'], ...body]) }]),
  )
  expect(markdown).toContain('| n | 6000 | over 1000 | 0 | 5999 | 2999.5 |  |')
  expect(markdown).toContain('| city | 6000 | 2 |  |  |  | Rome (4000), Oslo (2000) |')
  expect(markdown).toContain('| 99 | Oslo | t99 |')
  expect(markdown).not.toContain('t100 |')
  expect(warnings).toEqual([
    'A table of the sheet "Log" has 6000 rows: its page has statistics and the first 100; search finds all of them.',
  ])
})

test('the rows of a huge table are for search alone, below all sheets', async () => {
  const body = Array.from({ length: 6000 }, (_, at) => [at, `t${at}`])
  const { markdown, searchOnlyFrom = 0 } = await extractBytes(
    'xlsx',
    xlsx([
      { name: 'Log', xml: rows([['n', 't'], ...body]) },
      { name: 'Notes', xml: rows([['One']]) },
    ]),
  )
  const lines = markdown.split('\n')
  expect(lines.slice(0, searchOnlyFrom - 1)).toContain('## Notes')
  expect(lines[searchOnlyFrom - 1]).toBe('## Log: rows 101–6000')
  for (const row of [100, 4999, 5999]) expect(lines.slice(searchOnlyFrom)).toContain(`${row}; t${row}`)
})

test('what would be a formula, HTML or Markdown is text', async () => {
  const xml = rows([
    ['=1+1', '@SUM(A1)'],
    ['&lt;b&gt;', '[x](javascript:y) | *z*'],
  ])
  expect((await markdownOf(xml)).split('\n').slice(2)).toEqual([
    '| =1+1 | @SUM(A1) |',
    '| --- | --- |',
    '| \\<b> | \\[x\\](javascript:y) \\| \\*z\\* |',
  ])
})

test('a sheet that claims to be as large as can be costs what it holds', async () => {
  const xml = `<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>`
  const { markdown, searchOnlyFrom, warnings } = await extractBytes('xlsx', xlsx([{ name: 'A', xml }]))
  expect(markdown).toBe('## A\n\n1\n\n## A: columns beyond IV\n\n2')
  expect(searchOnlyFrom).toBe(5)
  expect(warnings).toEqual(['The columns beyond IV of the sheet "A" are on no page: search finds them.'])
})

test('comments on cells that are shown are kept with their cell and author, threads too', async () => {
  const comment = (ref: string, author: number, text: string) =>
    `<comment ref="${ref}" authorId="${author}"><text><r><t>${text}</t></r></text></comment>`
  const thread = '[Threaded comment]\n\nYour version of Excel shows them.\n\nComment:\n    Why?\nReply:\n    Because.'
  const list = [comment('A1', 0, 'Ada:\nLast *year*'), comment('B1', 0, 'secret'), comment('A2', 1, thread)]
  const xml = `<cols><col min="2" max="2" hidden="1"/></cols>${rows([['Sum', 'x'], [7]])}`
  const link = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments'
  const book = zipSync({
    ...unzipSync(xlsx([{ name: 'A', xml }])),
    'xl/worksheets/_rels/s0.xml.rels': strToU8(
      `<Relationships><Relationship Id="r1" Type="${link}" Target="../comments1.xml"/></Relationships>`,
    ),
    'xl/comments1.xml': strToU8(
      `<comments><authors><author>Ada</author><author>tc={1}</author></authors><commentList>${list.join('')}</commentList></comments>`,
    ),
  })
  const { markdown } = await extractBytes('xlsx', book)
  expect(markdown.split('\n\n').slice(-2)).toEqual([
    '**Comments**',
    '- A1, Ada: Last \\*year\\*\n- A2: Why? Reply: Because.',
  ])
})

test('formulas that were saved without a value are told of', async () => {
  const xml = cells(
    '<c t="str"><v>Sum</v></c>',
    '<c><f>1+1</f><v/></c>',
    '<c><f>2+2</f></c>',
    '<c t="str"><f>""</f><v></v></c>',
  )
  const { warnings } = await extractBytes('xlsx', xlsx([{ name: 'A', xml }]))
  expect(warnings).toEqual([
    '2 formulas of the sheet "A" have no value: save the file in a program that calculates them.',
  ])
})

test('a chart has its title, and its values where no sheet shows them', async () => {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const link = (type: string, target: string) =>
    `<Relationships><Relationship Id="r1" Type="${office}/${type}" Target="${target}"/></Relationships>`
  const points = (values: readonly string[]) =>
    values.map((value, at) => `<pt idx="${at}"><v>${value}</v></pt>`).join('')
  const chartOf = (sheet: string, values = ['7']) =>
    `<chartSpace><chart><title><p><r><t>Crates</t></r></p></title><plotArea><ser><tx>${points(['2025'])}</tx><cat>${points(['May'])}</cat><val><numRef><f>'${sheet}'!$B$2</f><numCache>${points(values)}</numCache></numRef></val></ser></plotArea></chart></chartSpace>`
  const book = xlsx([
    { name: 'Shown', xml: rows([['a', 'b']]) },
    { name: 'Data', xml: rows([['c', 'd']]), state: 'hidden' },
  ])
  const withChart = (sheet: string, values?: string[]) =>
    zipSync({
      ...unzipSync(book),
      'xl/worksheets/_rels/s0.xml.rels': strToU8(link('drawing', '../drawings/drawing1.xml')),
      'xl/drawings/_rels/drawing1.xml.rels': strToU8(link('chart', '../charts/chart1.xml')),
      'xl/charts/chart1.xml': strToU8(chartOf(sheet, values)),
    })
  const table = '\n\n|  | 2025 |\n| --- | --- |\n| May | 7 |'
  expect((await extractBytes('xlsx', withChart('Data'))).markdown.endsWith(`Crates${table}`)).toBe(true)
  expect((await extractBytes('xlsx', withChart('Shown'))).markdown.endsWith('Crates')).toBe(true)
  const long = await extractBytes('xlsx', withChart('Data', new Array(1203).fill('8')))
  expect(long.markdown.split('\n').slice(-2)).toEqual(['|  | 8 |', '| … and 1004 more points |  |'])
})
