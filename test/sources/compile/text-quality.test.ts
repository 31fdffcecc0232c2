import { describe, expect, test } from 'vitest'
import { qualityDoubts } from '../../../src/sources/compile/text-quality.ts'

const prose = `The harbour office opens at eight. Ships that wish to berth must call an hour before, and say what they
carry – coal, grain or “mixed goods” – and how deep they lie. Café Müller serves the crews; naïve visitors pay twice.
Ask for form C-12 (or C++ for the R&D yard), write to office@harbour.example, and read https://harbour.example/a?b=c&d=e.
Costs: 5 % of the value, i.e. $40–$60 per m³; see §4.2, “Über die Gebühren” & [Tarife](https://t.example).`
const doubts = (markdown: string, more: Partial<Parameters<typeof qualityDoubts>[0]> = {}) =>
  qualityDoubts({ markdown, ...more })
const misread = (text: string, encoding: string) => new TextDecoder(encoding).decode(Buffer.from(text))

test('a text of words that are broken into letters is doubted', () => {
  expect(doubts(prose.replace(/(?<=\p{L})(?=\p{L})/gu, ' '))).toEqual([
    'The words of the text are broken into letters.',
  ])
})

describe('a text that speaks for itself', () => {
  test.each([
    ['prose', prose],
    ['a short note', 'Meeting at ten.'],
    ['one that mentions JavaScript', `${prose.repeat(6)} Enable JavaScript to see it.`],
    ['a table of numbers', `| a | b |\n| - | - |\n${'| 1.5 | 2.25 |\n'.repeat(500)}`],
    ['a table of one word', `| state |\n| - |\n${'| open |\n'.repeat(500)}`],
    ['a grid', `+-------+-------+\n${'| a     | b     |\n+-------+-------+\n'.repeat(200)}`],
    [
      'code',
      `# Call\n\n\`\`\`ts\n${Array.from({ length: 60 }, (_, at) => `const value${at} = await read(names[${at}]!, { deep: ${at % 2 === 0} })`).join('\n')}\n\`\`\``,
    ],
    [
      'a log',
      Array.from(
        { length: 200 },
        (_, at) => `2026-03-01T10:${at % 60}:00Z INFO request ${at * 7919} took ${at * 13} ms`,
      ).join('\n'),
    ],
    [
      'lines that differ by numbers',
      Array.from(
        { length: 270 },
        (_, at) => `On page ${at % 9}, line ${at}, the keepers write down what the animals did.`,
      ).join('\n'),
    ],
    ['Russian', 'Порт открывается в восемь часов утра, и суда должны сообщить о прибытии за час. '.repeat(3)],
    ['French', 'À l’été, l’hôtel était complet : « où dormir ? » Noël approche, ça dépend de l’élève âgé. '],
    ['Chinese', '港口办公室八点开门。希望停泊的船舶必须提前一小时通知，并说明所载货物。'],
    ['Vietnamese', 'Cảng mở cửa lúc tám giờ sáng, tàu thuyền phải báo trước một giờ đồng hồ.'],
    [
      'slides with bullets of a symbol font',
      Array.from({ length: 30 }, (_, at) => `\uf0b7 Point ${at} of the harbour plan`).join('\n'),
    ],
    ['one sign that is lost', `${prose} \ufffd`],
  ])('%s', (_, text) => expect(doubts(text)).toEqual([]))
})

describe('a text that a curator must see', () => {
  test.each([
    ['lost signs', prose.replaceAll('e', '\ufffd'), /could not be decoded/],
    [
      'private-use glyphs',
      prose.replace(/\p{L}/gu, (letter) => String.fromCharCode(0xf000 + (letter.charCodeAt(0) % 256))),
      /could not be decoded/,
    ],
    [
      'UTF-8 as Windows-1252',
      misread(`${prose} ${'Größe, Maß, „Übung“ '.repeat(5)}`, 'windows-1252'),
      /wrong encoding/,
    ],
    ['UTF-8 whose control signs were lost', 'Years 1986â1990 and 1990â1993 – in â all, 1993â1996.', /wrong encoding/],
    ['Cyrillic as Latin', 'Ïîðò îòêðûâàåòñÿ â âîñåìü ÷àñîâ óòðà, ñóäà äîëæíû ñîîáùèòü', /wrong encoding/],
    ['one word', 'spam '.repeat(200), /same few words/],
    ['three words', 'spam eggs ham '.repeat(100), /same few words/],
    ['one sentence', `${'The desk answers every letter within two days. '.repeat(300)}`, /repeats itself/],
    [
      'a form',
      `Please wait... \n\nIf this message is not eventually replaced by the proper contents of the document, your PDF viewer may not be able to display this type of document.`,
      /XFA/,
    ],
    ['an empty application', 'You need to enable JavaScript to run this app.', /JavaScript/],
    ['the same in other words', 'JavaScript is disabled in your browser. Please turn it on.', /JavaScript/],
    ['a check for robots', 'Just a moment... Checking your browser before accessing harbour.example', /robots/],
    ['an error', '# 404\n\nPage not found', /instead of a document/],
    ['no letters', '-- ++ == // .. :: ;; -- ++ == // .. :: ;; a b', /almost no letters/],
    [
      'encoded data',
      'U2hpcHMgdGhhdCB3aXNoIHRvIGJlcnRoIG11c3QgY2FsbCBhbiBob3VyIGJlZm9yZSwgYW5k\n'.repeat(9),
      /encoded data/,
    ],
    [
      'a font without meaning',
      Array.from({ length: 30 }, (_, at) => `ff¬&ff¤D ffi±ffiL o¥er${at}a¢e`).join(' '),
      /signs that belong to none/,
    ],
  ])('%s', (_, text, expected) => expect(doubts(text).join(' ')).toMatch(expected))

  test('one that was recognised badly, if that is much of it', () => {
    expect(doubts(prose, { recognised: { words: 60, confidence: 0.54 } })).toEqual([
      'The text was recognised with a confidence of only 54 %.',
    ])
    expect(doubts(prose, { recognised: { words: 60, confidence: 0.93 } })).toEqual([])
    expect(doubts(prose, { recognised: { words: 3, confidence: 0.2 } })).toEqual([])
  })

  test('one that its reader doubts', () => {
    expect(doubts(prose, { doubts: ['Its encoding was guessed.'] })).toEqual(['Its encoding was guessed.'])
  })
})

test('hostile text takes bounded work', () => {
  for (const unit of ['a$', 'é', '&', 'A', 'Ã', '\uf000', 'please wait ', '(((']) {
    expect(doubts(unit.repeat(2_000_000 / unit.length)).length).toBeGreaterThan(0)
  }
})
