import { strToU8, unzipSync, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { extractBytes } from './conformance.ts'
import { docx, p, pptx, rows, shape, xlsx } from './support/office-writer.ts'

const sentence = 'The clerk keeps the ledger in the archive room and checks it each morning. '
/** A drawing of another program within the document, whose text no extractor reads. */
const canvas = `<a:graphicData xmlns:a="a"><lc:lockedCanvas xmlns:lc="lc"><a:sp><a:txSp><a:txBody><a:p><a:r><a:t>${sentence.repeat(2)}</a:t></a:r></a:p></a:txBody></a:txSp></a:sp></lc:lockedCanvas></a:graphicData>`
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

function workbook(drawing: string): Uint8Array {
  const link = `<Relationships><Relationship Id="r1" Type="${office}/drawing" Target="../drawings/drawing1.xml"/></Relationships>`
  return zipSync({
    ...unzipSync(xlsx([{ name: 'Stock', xml: rows(sentence.split('. ').map((text) => [text, 1])) }])),
    'xl/worksheets/_rels/s0.xml.rels': strToU8(link),
    'xl/drawings/drawing1.xml': strToU8(`<wsDr xmlns:a="a"><twoCellAnchor>${drawing}</twoCellAnchor></wsDr>`),
  })
}

function message(html: string): string {
  return `From: ann@example.org\r\nSubject: Ledger\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}`
}

const link = `<a href="https://x.org/">${'terms '.repeat(60)}</a>`

test.for<[string, () => Uint8Array | string]>([
  ['docx', () => docx(p(sentence.repeat(3)) + p(`<w:r><w:drawing>${canvas}</w:drawing></w:r>`))],
  [
    'pptx',
    () =>
      pptx([
        { shapes: `${shape(sentence.repeat(3))}<p:graphicFrame><a:graphic>${canvas}</a:graphic></p:graphicFrame>` },
      ]),
  ],
  ['xlsx', () => workbook(`<graphicFrame><a:graphic>${canvas}</a:graphic></graphicFrame>`)],
  ['eml', () => message(`<p>${sentence.repeat(3)}</p><footer>${sentence.repeat(2)}${link}</footer>`)],
  ['html', () => `<main><p>${sentence.repeat(3)}</p></main><aside>${sentence.repeat(2)}</aside>`],
])('a curator decides on a .%s of whose words a tenth is not in its text', async ([fileType, bytes]) => {
  const { doubts = [] } = await extractBytes(fileType, bytes())
  expect(doubts).toHaveLength(1)
  expect(doubts[0]).toMatch(/^Of the \d+ words that the file shows, 2\d are not in its text\.$/)
})

test('what a format declares to be hidden, repeated or deleted is not missed', async () => {
  const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`
  const body = [
    p(sentence),
    p(sentence, '<w:pStyle w:val="TOC1"/>'),
    p(`<w:del>${run(sentence)}</w:del><w:moveFrom>${run(sentence)}</w:moveFrom>${run(sentence, '<w:vanish/>')}`),
    `<w:tbl><w:tr><w:tc>${p('Kept')}</w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr><w:tc>${p(sentence)}</w:tc></w:tr></w:tbl>`,
    p('<m:oMath><m:f><m:num><m:r><m:t>ab</m:t></m:r></m:num><m:den><m:r><m:t>cd</m:t></m:r></m:den></m:f></m:oMath>'),
  ].join('')
  const styles = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
  const footnotes = `<w:footnote w:id="2">${p('A note.')}</w:footnote>`
  const document = await extractBytes(
    'docx',
    docx(`${body}${p('<w:r><w:footnoteReference w:id="2"/></w:r>')}`, { styles, footnotes }),
  )
  expect([document.warnings, document.doubts]).toEqual([[], undefined])
  const hidden = shape(sentence).replace('name="x"', 'name="x" hidden="1"')
  const slides = await extractBytes(
    'pptx',
    pptx([
      { shapes: shape('Kept', 'title') + hidden + shape(sentence, 'ftr'), notes: 'A note.' },
      { shapes: shape(sentence), hidden: true },
    ]),
  )
  expect([slides.warnings, slides.doubts]).toEqual([['Hidden slides were left out: 2.'], undefined])
})

test('text boxes of a sheet are below its cells', async () => {
  const box = (name: string) => `<sp>${`<txBody><a:p><a:r><a:t>${name}</a:t></a:r></a:p></txBody>`}</sp>`
  const { markdown } = await extractBytes('xlsx', workbook(`${box('Counted in May.')}<grpSp>${box('By Ada.')}</grpSp>`))
  expect(markdown.endsWith('\n\nCounted in May.\n\nBy Ada.')).toBe(true)
})
