import { expect, test } from 'vitest'
import { extractBytes, extractorConformance } from './conformance.ts'
import { docx, p, rows, xlsx } from './support/office-writer.ts'

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

test('a letter that a program cuts in two, and a subject without its end, are read', async () => {
  const bytes = message('Text').replace(
    /=\?utf-8.*?\?=/,
    '=?utf-8?B?QnI=?=\r\n =?utf-8?B?w7w=?= =?utf-8?B?Y2s=?= =?utf-8?Q?e_=C3',
  )
  expect((await extractBytes('eml', bytes.replace('w7w=?= =', 'ww==?= =?utf-8?B?vA==?= ='))).title).toBe('Brücke')
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
