import { expect, test } from 'vitest'
import { extractBytes, extractorConformance } from '../conformance.ts'
import { docx, officeDocument, p, pptx, shape } from '../support/office-writer.ts'

const frame = (data: string) =>
  `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="f"/></p:nvGraphicFramePr><a:graphic><a:graphicData>${data}</a:graphicData></a:graphic></p:graphicFrame>`

extractorConformance({
  fileType: 'pptx',
  readable: {
    talk: {
      bytes: pptx(
        [
          { shapes: shape('Welcome', 'ctrTitle') + shape('by Ann', 'subTitle') },
          { shapes: shape('Why', 'title') + shape('first\n inner\nsecond', ''), notes: 'Speak slowly.' },
        ],
        'The talk',
      ),
      title: 'The talk',
      contains: ['## Welcome', 'by Ann', '## Why', '- first\n  - inner\n- second', '> **Notes**', '> Speak slowly.'],
    },
  },
  refused: {
    'a text document': { bytes: docx(p('a')), problems: ['wrong-type'] },
    'one without slides': { bytes: pptx([]), problems: ['empty'] },
    'groups of absurd depth': {
      bytes: pptx([{ shapes: `${'<p:grpSp>'.repeat(5000)}${'</p:grpSp>'.repeat(5000)}` }]),
      problems: ['too-large'],
    },
    'a document type': {
      bytes: officeDocument('ppt/presentation.xml', {
        'ppt/presentation.xml': '<!DOCTYPE p [<!ENTITY e "e">]><p:presentation/>',
      }),
      problems: ['corrupt'],
    },
  },
})

test('slides are in the order of the show, with anchors; hidden ones are left out and told of', async () => {
  const { markdown, anchors, warnings, title } = await extractBytes(
    'pptx',
    pptx([
      { shapes: shape('One', 'title') },
      { shapes: shape('Two', 'title'), hidden: true },
      { shapes: shape('', 'title') + shape('text') },
    ]),
  )
  expect(markdown).toBe('## One\n\n## Slide 3\n\ntext')
  expect(anchors).toEqual([
    { line: 1, slide: 1 },
    { line: 3, slide: 3 },
  ])
  expect(warnings).toEqual(['Hidden slides were left out: 2.'])
  expect(title).toBe('One')
})

test('tables, descriptions, groups, charts and diagrams have their text; numbers and dates of slides do not', async () => {
  const cell = (text: string, merged = '') =>
    `<a:tc${merged}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`
  const table = `<a:tbl><a:tr>${cell('Year')}${cell('Sum | all')}</a:tr><a:tr>${cell('2024', ' gridSpan="2"')}${cell('lost', ' hMerge="1"')}</a:tr></a:tbl>`
  const picture = '<p:pic><p:nvPicPr><p:cNvPr id="4" name="x" descr="A red bridge"/></p:nvPicPr></p:pic>'
  const values = (kind: string, ...list: string[]) =>
    `<c:${kind}><c:x>${list.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')}</c:x></c:${kind}>`
  const chart = `<c:chartSpace XMLNS><c:chart><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:plotArea><c:ser>${values('tx', 'Oslo')}${values('cat', 'Q1', 'Q2')}${values('val', '3', '5')}</c:ser></c:plotArea></c:chart></c:chartSpace>`
  const diagram =
    '<dgm:dataModel xmlns:dgm="d" XMLNS><dgm:pt><a:p><a:r><a:t>Step</a:t></a:r></a:p></dgm:pt></dgm:dataModel>'
  const slide = {
    shapes: [
      shape('Data', 'title'),
      frame(table),
      `<p:grpSp>${picture}</p:grpSp>`,
      frame('<c:chart r:id="rIdChart"/>'),
      frame('<dgm:relIds xmlns:dgm="d" r:dm="rIdDiagram"/>'),
      shape('12', 'sldNum'),
      shape('1 May', 'dt'),
    ].join(''),
    links: [
      { id: 'rIdChart', type: 'chart', target: '../charts/chart1.xml' },
      { id: 'rIdDiagram', type: 'diagramData', target: '../diagrams/data1.xml' },
    ],
    parts: { 'charts/chart1.xml': chart, 'diagrams/data1.xml': diagram },
  }
  const { markdown } = await extractBytes('pptx', pptx([slide]))
  expect(markdown).toBe(
    [
      '## Data',
      '| Year | Sum \\| all |\n| --- | --- |\n| 2024 |  |',
      'A red bridge',
      'Sales',
      '|  | Oslo |\n| --- | --- |\n| Q1 | 3 |\n| Q2 | 5 |',
      '- Step',
    ].join('\n\n'),
  )
})

test('links lead outwards or nowhere, and what looks like Markdown is text', async () => {
  const linked = (id: string, text: string) =>
    `<a:r><a:rPr><a:hlinkClick r:id="${id}"/></a:rPr><a:t>${text}</a:t></a:r>`
  const slide = {
    shapes: `${shape('# 1. *Not* a [list]', 'title')}<p:sp><p:txBody><a:p>${linked('rIdGood', 'good')}<a:r><a:t> and </a:t></a:r>${linked('rIdBad', 'bad')}</a:p></p:txBody></p:sp>${shape('&lt;img src=x onerror=alert(1)&gt;')}`,
    links: [
      { id: 'rIdGood', type: 'hyperlink', target: 'https://example.org/(a)', external: true as const },
      { id: 'rIdBad', type: 'hyperlink', target: 'javascript:alert(1)', external: true as const },
    ],
  }
  const { markdown } = await extractBytes('pptx', pptx([slide]))
  expect(markdown.split('\n\n')).toEqual([
    '## \\# 1. \\*Not\\* a \\[list\\]',
    '[good](https://example.org/%28a%29) and bad',
    '\\<img src=x onerror=alert(1)>',
  ])
})

test('of alternatives, what newer programs show is read', async () => {
  const shapes = `<mc:AlternateContent><mc:Choice Requires="x">${shape('new')}</mc:Choice><mc:Fallback>${shape('old')}</mc:Fallback></mc:AlternateContent>`
  expect((await extractBytes('pptx', pptx([{ shapes }]))).markdown).toBe('## Slide 1\n\nnew')
})

test('superscripts and subscripts are kept', async () => {
  const run = (text: string, baseline = '0') => `<a:r><a:rPr baseline="${baseline}"/><a:t>${text}</a:t></a:r>`
  const text = `<a:p>${run('10')}${run('6', '30000')}${run(' of CO')}${run('2', '-25000')}</a:p>`
  const slide = { shapes: `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/></p:nvSpPr><p:txBody>${text}</p:txBody></p:sp>` }
  expect((await extractBytes('pptx', pptx([slide]))).markdown).toContain('10⁶ of CO₂')
})
