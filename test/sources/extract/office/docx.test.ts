import { strToU8, unzipSync, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { extractBytes, extractorConformance, problemOf } from '../conformance.ts'
import { docx, officeDocument, p, rows, xlsx } from '../support/office-writer.ts'

const heading = (level: number, text: string) => p(text, `<w:pStyle w:val="Heading${level}"/>`)
const row = (...cells: string[]) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join('')}</w:tr>`
const markdownOf = async (bytes: Uint8Array) => (await extractBytes('docx', bytes)).markdown

const report = docx(
  [
    heading(1, 'Findings'),
    p('The bridge is sound.'),
    heading(2, 'Load'),
    `<w:tbl>${row(p('Span'), p('Tons'))}${row(p('North'), p('40'))}</w:tbl>`,
  ].join(''),
  {},
  { title: 'Bridge report' },
)

extractorConformance({
  fileType: 'docx',
  readable: {
    report: {
      bytes: report,
      title: 'Bridge report',
      contains: ['# Findings', 'The bridge is sound.', '## Load', '| Span | Tons |', '| North | 40 |'],
    },
  },
  refused: {
    'a workbook': { bytes: xlsx([{ name: 'A', xml: rows([['a']]) }]), problems: ['wrong-type'] },
    'one without text': { bytes: docx(p('')), problems: ['empty'] },
    'one of a million paragraphs': { bytes: docx(p('a').repeat(260_000)), problems: ['too-large'] },
    'one of absurd depth': {
      bytes: docx(`${'<w:tbl><w:tr><w:tc>'.repeat(400)}${p('a')}${'</w:tc></w:tr></w:tbl>'.repeat(400)}`),
      problems: ['too-large'],
    },
    'a document type': {
      bytes: officeDocument('word/document.xml', {
        'word/document.xml': '<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document>&e;</w:document>',
      }),
      problems: ['corrupt'],
    },
    'a package without its main part': { bytes: officeDocument('word/document.xml', {}), problems: ['wrong-type'] },
  },
})

test('without a title of its own, the first heading is it', async () => {
  expect((await extractBytes('docx', docx(p('Before') + heading(2, 'Small') + heading(1, 'Great')))).title).toBe(
    'Great',
  )
})

test('a style that is based on a heading, an outline level and the title are headings; a table of contents is not there', async () => {
  const styles = [
    '<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>',
    '<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style>',
    '<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>',
    '<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>',
  ]
  const body = [
    p('All', '<w:pStyle w:val="Titel"/>'),
    p('One … 7', '<w:pStyle w:val="Verzeichnis1"/>'),
    p('One', '<w:pStyle w:val="Mine"/>'),
    p('Two', '<w:outlineLvl w:val="2"/>'),
  ]
  expect(await markdownOf(docx(body.join(''), { styles: styles.join('') }))).toBe('# All\n\n## One\n\n### Two')
})

test('a change of style under review is read as accepted', async () => {
  const change = '<w:pPrChange><w:pPr><w:pStyle w:val="Quote"/><w:outlineLvl w:val="3"/></w:pPr></w:pPrChange>'
  expect(await markdownOf(docx(p('Title', `<w:outlineLvl w:val="0"/>${change}`)))).toBe('# Title')
})

test('lists keep their kind and their levels', async () => {
  const level = (depth: number, format: string) => `<w:lvl w:ilvl="${depth}"><w:numFmt w:val="${format}"/></w:lvl>`
  const numbering = `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal')}${level(1, 'bullet')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`
  const item = (text: string, depth: number) =>
    p(text, `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="1"/></w:numPr>`)
  const body = item('one', 0) + item('inner', 1) + item('two', 0)
  expect(await markdownOf(docx(body, { numbering }))).toMatch(/^1\. one\n\s*- inner\n2\. two$/)
})

test('a list begins where it says, goes on behind other text, and begins anew where it says so', async () => {
  const level = (depth: number, start: number) =>
    `<w:lvl w:ilvl="${depth}"><w:start w:val="${start}"/><w:numFmt w:val="decimal"/></w:lvl>`
  const num = (id: number, more = '') => `<w:num w:numId="${id}"><w:abstractNumId w:val="0"/>${more}</w:num>`
  const restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="3"/></w:lvlOverride>'
  const numbering = `<w:abstractNum w:abstractNumId="0">${level(0, 7)}${level(1, 2)}</w:abstractNum>${num(1)}${num(2, restart)}`
  const item = (text: string, depth: number, list = 1) =>
    p(text, `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr>`)
  const body = [item('a', 0), item('b', 1), item('c', 0), p('Text.'), item('d', 0), p('More.'), item('e', 0, 2)]
  expect((await markdownOf(docx(body.join(''), { numbering }))).replace(/\n\s*/g, ' ')).toBe(
    '7. a 2. b 8. c Text. 9. d More. 3. e',
  )
})

test('footnotes and endnotes become notes', async () => {
  const note = (kind: string, id: number, text: string) => `<w:${kind} w:id="${id}">${p(text)}</w:${kind}>`
  const reference = (kind: string, id: number) => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`
  const body = `<w:p><w:r><w:t>Sure</w:t></w:r>${reference('footnote', 2)}${reference('endnote', 3)}</w:p>`
  const parts = { footnotes: note('footnote', 2, 'Says Ann.'), endnotes: note('endnote', 3, 'Says Bob.') }
  const markdown = await markdownOf(docx(body, parts))
  const [, first, second] = /^Sure\[\^([^\]]+)\]\[\^([^\]]+)\]/.exec(markdown) ?? []
  expect(markdown).toContain(`[^${first}]: Says Ann.`)
  expect(markdown).toContain(`[^${second}]: Says Bob.`)
})

test('tracked changes are read as accepted, comments and hidden text not at all', async () => {
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
  const body = `<w:p>${run('We ')}<w:del><w:r><w:delText>may </w:delText></w:r></w:del><w:ins>${run('must ')}</w:ins><w:moveFrom>${run('not ')}</w:moveFrom>${run('go')}${run(' secretly', '<w:vanish/>')}<w:r><w:commentReference w:id="1"/></w:r></w:p>`
  expect(await markdownOf(docx(body, { comments: `<w:comment w:id="1">${p('Really?')}</w:comment>` }))).toBe(
    'We must go',
  )
})

test('heads, feet and comments are counted', async () => {
  const bytes = docx(p('Text.'), {
    header: p('Draft of the harbour office, 2026'),
    comments: '<w:comment/><w:comment/>',
  })
  const { markdown, warnings } = await extractBytes('docx', bytes)
  expect(markdown).toBe('Text.')
  expect(warnings).toEqual(['Headers and footers were left out: 5 words.', 'Comments were left out: 2.'])
})

test('runs that look the same are one, others keep their look', async () => {
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}<w:sz w:val="2"/></w:rPr><w:t>${text}</w:t></w:r>`
  const body = `<w:p>${run('un')}${run('believ')}${run('able', '<w:b/>')}</w:p>`
  expect(await markdownOf(docx(body))).toBe('unbeliev**able**')
})

test('links lead outwards or nowhere, and nothing outside is loaded', async () => {
  const links = [
    { id: 'rIdGood', type: 'hyperlink', target: 'https://example.org/a', external: true as const },
    { id: 'rIdBad', type: 'hyperlink', target: 'javascript:alert(1)', external: true as const },
    { id: 'rIdFile', type: 'image', target: 'file:///etc/passwd', external: true as const },
  ]
  const link = (id: string, text: string) => `<w:hyperlink r:id="${id}"><w:r><w:t>${text}</w:t></w:r></w:hyperlink>`
  const body = `<w:p>${link('rIdGood', 'good')}<w:r><w:t xml:space="preserve"> </w:t></w:r>${link('rIdBad', 'bad')}</w:p>`
  expect(await markdownOf(docx(body, {}, { links }))).toBe('[good](https://example.org/a) bad')
})

test('pictures are their descriptions, text boxes and equations their text', async () => {
  const picture = '<w:drawing><wp:inline><wp:docPr id="1" name="x" descr="A red bridge"/></wp:inline></w:drawing>'
  const box = `<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><w:txbxContent>${p('In a box')}</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>${p('In a box')}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent>`
  const text = (value: string) => `<m:r><m:t>${value}</m:t></m:r>`
  const equation = `<m:oMath><m:f><m:num>${text('a+b')}</m:num><m:den>${text('c')}</m:den></m:f></m:oMath>`
  const body = `<w:p><w:r>${picture}</w:r></w:p><w:p><w:r>${box}</w:r></w:p><w:p>${equation}</w:p>`
  expect((await markdownOf(docx(body))).split('\n\n')).toEqual(['A red bridge', 'In a box', '(a+b)/c'])
})

test('an equation on a line means what it does on the page', async () => {
  const text = (value: string) => `<m:r><m:t>${value}</m:t></m:r>`
  const tag = (name: string, ...content: string[]) => `<m:${name}>${content.join('')}</m:${name}>`
  const e = (...content: string[]) => tag('e', ...content)
  const fraction = (above: string, below: string, type = 'bar') =>
    tag('f', `<m:fPr><m:type m:val="${type}"/></m:fPr>`, tag('num', text(above)), tag('den', text(below)))
  const power = (base: string, of: string) => tag('sSup', e(base), tag('sup', text(of)))
  const sub = (base: string, of: string) => tag('sSub', e(text(base)), tag('sub', text(of)))
  const cosine = (of: string) => tag('func', tag('fName', text('cos')), e(of))
  const equations = {
    'f(x)=a_0': text('f') + tag('d', e(text('x'))) + text('=') + sub('a', '0'),
    'cos((nπx)/L)': cosine(fraction('nπx', 'L')),
    'cos(x)': cosine(tag('d', e(text('x')))),
    '∑_(k=0)^n C(n,k)x^k a^(n-k)':
      `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>${tag('sub', text('k=0'))}${tag('sup', text('n'))}` +
      `${e(tag('d', e(fraction('n', 'k', 'noBar'))), power(text('x'), 'k'), power(text('a'), 'n-k'))}</m:nary>`,
    '∫x dx': tag('nary', '<m:naryPr/>', tag('sub'), tag('sup'), e(text('x dx'))),
    '2 1/z dz': text('2') + fraction('1', 'z') + text('dz'),
    '(1/n)^2': power(fraction('1', 'n'), '2'),
    '{x|y}': `<m:d><m:dPr><m:begChr m:val="{"/><m:endChr m:val="}"/></m:dPr>${e(text('x'))}${e(text('y'))}</m:d>`,
    '√2+x^(1/3)':
      tag('rad', '<m:radPr><m:degHide m:val="1"/></m:radPr>', tag('deg'), e(text('2'))) +
      text('+') +
      tag('rad', tag('deg', text('3')), e(text('x'))),
    '(1, 0; 0, 1)': tag('d', e(tag('m', tag('mr', e(text('1')), e(text('0'))), tag('mr', e(text('0')), e(text('1')))))),
    'lim_n(x)': tag('func', tag('fName', tag('limLow', e(text('lim')), tag('lim', text('n')))), e(text('x'))),
  }
  const body = Object.values(equations).map((equation) => `<w:p><m:oMath>${equation}</m:oMath></w:p>`)
  const shown = (await markdownOf(docx(body.join('')))).replaceAll('\\', '').split('\n\n')
  expect(shown).toEqual(Object.keys(equations))
})

test('cells that are merged are one, also downwards', async () => {
  const cell = (text: string, properties: string) => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`
  const body = `<w:tbl>${row(p('a'), p('b'), p('c'))}<w:tr>${cell('wide', '<w:gridSpan w:val="2"/>')}${cell('tall', '<w:vMerge w:val="restart"/>')}</w:tr><w:tr>${cell('d', '')}${cell('e', '')}${cell('', '<w:vMerge/>')}</w:tr></w:tbl>`
  const lines = (await markdownOf(docx(body))).split('\n')
  expect(
    lines.map((line) =>
      line
        .split('|')
        .map((part) => part.trim())
        .slice(1, -1),
    ),
  ).toEqual([
    ['a', 'b', 'c'],
    ['-', '-', '-'],
    ['wide', '', 'tall'],
    ['d', 'e', ''],
  ])
})

test('a long document is as whole as a short one', async () => {
  const body = Array.from({ length: 3000 }, (_, at) =>
    p(`Paragraph ${at} of a long document, of which nothing is lost.`),
  )
  const markdown = await markdownOf(docx(body.join('')))
  expect(markdown.split('\n\n')).toHaveLength(3000)
})

test('the container of old formats and of encryption is told', async () => {
  const container = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2048)])
  expect(await problemOf(extractBytes('docx', container))).toBe('encrypted')
})

test('boxes and lists of older forms have what was chosen', async () => {
  const field = (data: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText> FORM </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
  const box = (state: string) => field(`<w:name w:val="a"/><w:checkBox><w:default w:val="0"/>${state}</w:checkBox>`)
  const list = field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="Salt"/><w:listEntry w:val="Wool"/></w:ddList>')
  const body = [
    p(`${box('<w:checked/>')}<w:r><w:t xml:space="preserve"> Heavy</w:t></w:r>`),
    p(`${box('')}<w:r><w:t xml:space="preserve"> Light</w:t></w:r>`),
    p(list),
  ]
  expect(await markdownOf(docx(body.join('')))).toBe('☒ Heavy\n\n☐ Light\n\nWool')
})

test('a chart is a table of its values', async () => {
  const points = (values: readonly string[]) =>
    values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')
  const chart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><a:p><a:r><a:t>Crates</a:t></a:r></a:p></c:title><c:plotArea><c:ser><c:tx>${points(['2025'])}</c:tx><c:cat>${points(['May', 'June'])}</c:cat><c:val>${points(['7', '9'])}</c:val></c:ser></c:plotArea></c:chart></c:chartSpace>`
  const drawing =
    '<w:r><w:drawing><a:graphic xmlns:a="a"><a:graphicData><c:chart xmlns:c="c" r:id="rId9"/></a:graphicData></a:graphic></w:drawing></w:r>'
  const links = [{ id: 'rId9', type: 'chart', target: 'charts/chart1.xml' }]
  const bytes = docx(p('Above') + p(drawing), {}, { links })
  const whole = zipSync({ ...unzipSync(bytes), 'word/charts/chart1.xml': strToU8(chart) })
  expect(await markdownOf(whole)).toBe('Above\n\nCrates\n\n| | 2025 |\n| - | - |\n| May | 7 |\n| June | 9 |')
})

test('superscripts and subscripts are kept, also those of a style', async () => {
  const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`
  const body = `<w:p>${run('10')}${run('-6', '<w:vertAlign w:val="superscript"/>')}${run(' of CO')}${run('2', '<w:rStyle w:val="Low"/>')}</w:p>`
  const styles =
    '<w:style w:type="character" w:styleId="Low"><w:name w:val="Low"/><w:rPr><w:vertAlign w:val="subscript"/></w:rPr></w:style>'
  expect(await markdownOf(docx(body, { styles }))).toBe('10⁻⁶ of CO₂')
})

test('a diagram is its texts', async () => {
  const data = `<dgm:dataModel xmlns:dgm="d" xmlns:a="a">${['Plan', 'Do'].map((text) => `<dgm:pt><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:pt>`).join('')}</dgm:dataModel>`
  const drawing =
    '<w:r><w:drawing><a:graphic xmlns:a="a"><a:graphicData><dgm:relIds xmlns:dgm="d" r:dm="rId9" r:lo="rId8"/></a:graphicData></a:graphic></w:drawing></w:r>'
  const links = [{ id: 'rId9', type: 'diagramData', target: 'diagrams/data1.xml' }]
  const parts = { ...unzipSync(docx(p('Above') + p(drawing), {}, { links })), 'word/diagrams/data1.xml': strToU8(data) }
  expect(await markdownOf(zipSync(parts))).toBe('Above\n\nPlan\n\nDo')
})

describe('documents within a document', () => {
  const message =
    'MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>K=C3=A4se</p>'
  async function extracted(chunk: Uint8Array | undefined, target = 'afchunk.dat') {
    const links = [{ id: 'rId9', type: 'aFChunk', target }]
    const bytes = docx(`${p('Above')}<w:altChunk r:id="rId9"/>${p('Below')}`, {}, { links })
    return extractBytes('docx', zipSync({ ...unzipSync(bytes), ...(chunk && { [`word/${target}`]: chunk }) }))
  }

  test.for([
    [
      'HTML',
      strToU8('<html><head><style>p {}</style></head><body><h2>In</h2><p>5<sup>2</sup></p></body></html>'),
      '## In\n\n5²',
    ],
    ['HTML in a message', strToU8(message), 'Käse'],
    ['plain text', strToU8('# one'), '\\# one'],
    ['a text document', docx(p('Nested')), 'Nested'],
  ] as const)('%s is read where it stands', async ([, chunk, markdown]) => {
    const { markdown: whole, doubts } = await extracted(chunk)
    expect(whole).toBe(`Above\n\n${markdown}\n\nBelow`)
    expect(doubts ?? []).toEqual([])
  })

  test.for([
    ['RTF', strToU8('{\\rtf1 lost}')],
    ['a damaged archive', strToU8('PK nothing')],
    ['what is missing', undefined],
    [
      'more levels than people write',
      Array.from({ length: 5 }).reduce<Uint8Array>(
        (inner) => {
          const bytes = docx(
            '<w:altChunk r:id="rId9"/>',
            {},
            { links: [{ id: 'rId9', type: 'aFChunk', target: 'a.docx' }] },
          )
          return zipSync({ ...unzipSync(bytes), 'word/a.docx': inner })
        },
        docx(p('Deep')),
      ),
    ],
  ] as const)('%s is reported to a curator', async ([name, chunk]) => {
    const { markdown, doubts } = await extracted(chunk)
    expect(markdown).toBe('Above\n\nBelow')
    expect(doubts, name).toEqual([
      'A document within the document could not be read: open it in Word, and save it anew.',
    ])
  })
})

test('bytes behind the archive do no harm', async () => {
  const bytes = Buffer.concat([docx(p('Kept')), Buffer.from('\r\n--boundary--\r\n')])
  expect(await markdownOf(bytes)).toBe('Kept')
  const twice = Buffer.concat([docx(p('Kept')), Buffer.from('PK\x05\x06'), Buffer.alloc(100, 255)])
  expect(await markdownOf(twice)).toBe('Kept')
})
