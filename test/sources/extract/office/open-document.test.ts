import { strToU8, unzipSync, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { extractBytes, extractorConformance, problemOf } from '../conformance.ts'
import { odf } from '../support/package-writer.ts'

const p = (text: string, style = '') => `<text:p${style && ` text:style-name="${style}"`}>${text}</text:p>`
const cell = (text: string, attributes = '') => `<table:table-cell ${attributes}>${text && p(text)}</table:table-cell>`
const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
const table = (name: string, ...rows: string[]) => `<table:table table:name="${name}">${rows.join('')}</table:table>`

const report = odf(
  'text',
  [
    p('Bridges', 'P1'),
    '<text:h text:outline-level="2">Findings</text:h>',
    p(
      'The bridge <text:span>is</text:span><text:s text:c="2"/>sound.<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>So far.</text:p></text:note-body></text:note>',
    ),
    '<text:tracked-changes><text:deletion><text:p>Old</text:p></text:deletion></text:tracked-changes>',
    p(
      'See <text:a xlink:href="https://example.org/a">the plan</text:a><office:annotation><text:p>Secret</text:p></office:annotation>.',
    ),
    `<text:list text:style-name="L1"><text:list-item>${p('First')}<text:list><text:list-item>${p('Within')}</text:list-item></text:list></text:list-item></text:list>`,
    table('T', row(cell('Span'), cell('Tons')), row(cell('North'), cell('40'))),
    '<text:p><draw:frame><draw:image/><svg:title>A sketch</svg:title></draw:frame></text:p>',
  ].join(''),
  '<style:style style:name="P1" style:parent-style-name="Title"/><text:list-style style:name="L1"><text:list-level-style-number text:level="1"/></text:list-style>',
  'Bridge report',
)

extractorConformance({
  fileType: 'odt',
  readable: {
    report: {
      bytes: report,
      title: 'Bridge report',
      contains: [
        '# Bridges',
        '## Findings',
        'The bridge is sound.[^1]',
        '[the plan](https://example.org/a).',
        'So far.',
      ],
    },
  },
  refused: {
    'a workbook': { bytes: odf('spreadsheet', ''), problems: ['wrong-type'] },
    'one without text': { bytes: odf('text', p('')), problems: ['empty'] },
    'one of absurd depth': {
      bytes: odf('text', '<text:section>'.repeat(400) + '</text:section>'.repeat(400)),
      problems: ['too-large'],
    },
    'one of a million paragraphs': { bytes: odf('text', p('a').repeat(300_000)), problems: ['too-large'] },
    'a document type': {
      bytes: odf('text', '</office:text></office:body></office:document-content><!DOCTYPE a [<!ENTITY x "y">]>'),
      problems: ['corrupt'],
    },
  },
})

test('lists, tables and descriptions of a text are there, comments and deleted text are not', async () => {
  const { markdown } = await extractBytes('odt', report)
  expect(markdown).toMatch(/1\. First\n\n? *1\. Within/)
  expect(markdown).toContain('| Span | Tons |')
  expect(markdown).toContain('| North | 40 |')
  expect(markdown).toContain('A sketch')
  expect(markdown).not.toMatch(/Old|Secret/)
})

test('a workbook has its sheets, without what is hidden or repeated to the end of the sheet', async () => {
  const hidden = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
  const { markdown, anchors, warnings } = await extractBytes(
    'ods',
    odf(
      'spreadsheet',
      [
        table(
          'Crates',
          row(cell('Good'), cell('Weight')),
          row(cell('Salt'), cell('80')),
          row(cell('x', 'table:number-columns-repeated="2"')),
          '<table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>',
        ),
        '<table:table table:name="Secret" table:style-name="ta2"><table:table-row><table:table-cell><text:p>no</text:p></table:table-cell></table:table-row></table:table>',
      ].join(''),
      hidden,
    ),
  )
  expect(markdown).toBe('## Crates\n\n| Good | Weight |\n| --- | --- |\n| Salt | 80 |\n| x | x |')
  expect(anchors).toEqual([{ line: 1, sheet: 'Crates' }])
  expect(warnings).toEqual(['The hidden sheet "Secret" was left out.'])
})

test('a row that is repeated a million times makes no million rows', async () => {
  const bomb = `<table:table-row table:number-rows-repeated="1048576">${cell('x', 'table:number-columns-repeated="16384"')}</table:table-row>`
  const { markdown } = await extractBytes('ods', odf('spreadsheet', table('A', row(cell('h')), bomb)))
  expect(markdown.length).toBeLessThan(5_000_000)
})

test('a presentation has its slides, their notes and not what is hidden', async () => {
  const frame = (kind: string, text: string) =>
    `<draw:frame presentation:class="${kind}"><draw:text-box>${text}</draw:text-box></draw:frame>`
  const item = (text: string) => `<text:list><text:list-item>${p(text)}</text:list-item></text:list>`
  const slides = [
    `<draw:page draw:name="a">${frame('title', p('Harbour'))}${frame('outline', item('Cranes') + item('Quays'))}${frame('page-number', p('1'))}<presentation:notes>${frame('notes', p('Say more'))}</presentation:notes></draw:page>`,
    `<draw:page draw:name="b" draw:style-name="dp2">${frame('title', p('Hidden'))}</draw:page>`,
  ]
  const styles =
    '<style:style style:name="dp2"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
  const { title, markdown, anchors, warnings } = await extractBytes('odp', odf('presentation', slides.join(''), styles))
  expect(title).toBe('Harbour')
  expect(markdown).toBe('## Harbour\n\n- Cranes\n\n- Quays\n\n> **Notes**\n>\n> Say more')
  expect(anchors).toEqual([{ line: 1, slide: 1 }])
  expect(warnings).toEqual(['Hidden slides were left out: 2.'])
})

test('an encrypted document says so', async () => {
  const manifest = '<manifest><file-entry><encryption-data/></file-entry></manifest>'
  const bytes = zipSync({ ...unzipSync(report), 'META-INF/manifest.xml': strToU8(manifest) })
  expect(await problemOf(extractBytes('odt', bytes))).toBe('encrypted')
})
