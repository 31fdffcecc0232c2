import { expect, test } from 'vitest'
import { extractBytes, extractConfined, extractorConformance, problemOf } from './conformance.ts'
import { docx, p, rows, xlsx } from './support/office-writer.ts'
import { epub } from './support/package-writer.ts'

const message = (body: string, type = 'text/plain; charset=utf-8') =>
  `From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Br=C3=BCcke?=\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}`

extractorConformance({
  fileType: 'eml',
  readable: {
    'a message with an attachment': {
      bytes: message(
        '--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>The <b>bridge</b> is <a href="https://example.org/x">sound</a>.</p><script>x</script>\r\n--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="plan.pdf"\r\n\r\nx\r\n--b--',
        'multipart/mixed; boundary=b',
      ),
      title: 'Brücke',
      contains: [
        '- From: Ann (ann@example.org)',
        '- Subject: Brücke',
        '- Attachments: plan.pdf',
        '[sound](https://example.org/x)',
      ],
    },
  },
  refused: {
    'a page': { bytes: '<!doctype html><p>From here</p>', problems: ['wrong-type'] },
    'parts within parts within parts': {
      bytes: message(
        Array.from(
          { length: 2_000 },
          (_, at) => `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`,
        ).join(''),
        'multipart/mixed; boundary=b0',
      ),
      problems: ['corrupt'],
    },
  },
})

extractorConformance({
  fileType: 'epub',
  readable: {
    'a book': {
      bytes: epub([
        '<h1>One</h1><p>The first.</p>',
        '<h1>Two</h1><p onclick="x">The second. <a href="1.xhtml">Back</a></p>',
      ]),
      title: 'A book',
      contains: ['# One', 'The first.', '# Two', 'The second. Back'],
    },
  },
  refused: {
    'a protected one': {
      bytes: epub(['<p>x</p>'], {
        encryption:
          '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></EncryptedData></encryption>',
      }),
      problems: ['encrypted'],
    },
    'a text document': { bytes: docx(p('a')), problems: ['wrong-type'] },
    'one that unpacks to very much': { bytes: epub([' '.repeat(30_000_000)]), problems: ['too-large'] },
  },
})

test('subtitles are paragraphs with times, each speaker is named where that changes, and captions that roll are read once', async () => {
  const srt =
    '1\r\n00:00:01,000 --> 00:00:02,000\r\nHello <i>there</i>.\r\n\r\n2\r\n00:01:05,000 --> 00:01:06,000\r\nMore &amp; more.\r\n'
  expect(await extractBytes('srt', srt)).toMatchObject({
    markdown: '[00:01] Hello there.\n\n[01:05] More & more.',
    anchors: [
      { line: 1, time: 1 },
      { line: 3, time: 65 },
    ],
  })
  const cue = (second: number, text: string) => `00:0${second}.000 --> 00:0${second + 1}.000\n${text}\n`
  const vtt = ['WEBVTT\n', cue(1, '<v Ann>Good'), cue(2, '<v Ann>Good morning'), cue(3, '<v Bob>Hi')].join('\n')
  expect((await extractBytes('vtt', vtt)).markdown).toBe('[00:01] Ann: Good morning Bob: Hi')
  expect(await problemOf(extractBytes('vtt', srt))).toBe('wrong-type')
  expect(await problemOf(extractBytes('srt', 'no subtitles'))).toBe('empty')
})

test('a notebook has its text, its code and its outputs', async () => {
  const notebook = {
    nbformat: 4,
    metadata: { language_info: { name: 'python' } },
    cells: [
      { cell_type: 'markdown', source: ['# Tides\n', 'Seen <b>daily</b>.'] },
      { cell_type: 'code', source: 'print("```")', outputs: [{ output_type: 'stream', text: ['```\n'] }] },
      { cell_type: 'code', source: '', outputs: [{ data: { 'image/png': 'AAAA', 'text/plain': 'x'.repeat(20_000) } }] },
    ],
  }
  const { title, markdown, warnings } = await extractBytes('ipynb', JSON.stringify(notebook))
  expect(title).toBe('Tides')
  expect(markdown).toMatch(/^# Tides\nSeen daily\.\n\n````python\nprint\("```"\)\n````\n\nOutput:\n\n````\n```\n````\n/)
  expect(warnings).toEqual(['Outputs were cut to 10000 characters.'])
  expect(await problemOf(extractBytes('ipynb', '{"a": 1}'))).toBe('wrong-type')
})

test('JSON and XML are the text that they are, and nothing of it is loaded', async () => {
  expect((await extractBytes('json', '{"a":[1]}')).markdown).toBe('```json\n{\n  "a": [\n    1\n  ]\n}\n```')
  expect((await extractBytes('json', '{"a":1}\n{"a":2}\n')).warnings).toEqual([
    expect.stringContaining('not valid JSON'),
  ])
  const xml = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'
  expect((await extractBytes('xml', xml)).markdown).toBe(`\`\`\`xml\n${xml}\n\`\`\``)
  expect(await problemOf(extractConfined('json', '['.repeat(10_000_000)))).not.toBe('crashed')
})

test('values between tabs are a table', async () => {
  expect((await extractBytes('tsv', 'name\tnote\nAnn\ta, b\n')).markdown).toBe(
    '| name | note |\n| --- | --- |\n| Ann | a, b |',
  )
})

test('documents with macros are read like those without', async () => {
  expect((await extractBytes('docm', docx(p('Kept')))).markdown).toBe('Kept')
  expect(
    (
      await extractBytes(
        'xlsm',
        xlsx([
          {
            name: 'A',
            xml: rows([
              ['a', 'b'],
              ['c', 'd'],
            ]),
          },
        ]),
      )
    ).markdown,
  ).toContain('| c | d |')
})
