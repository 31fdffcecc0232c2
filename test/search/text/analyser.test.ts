import { describe, expect, test } from 'vitest'
import { analyserFor } from '../../../src/search/text/analyser.ts'
import { hostileText } from '../../rules/hostile-text.ts'
import { fc, runs } from '../../support/properties.ts'

const english = analyserFor('en')

function terms(text: string, language = 'en'): string[] {
  return analyserFor(language)
    .tokens(text)
    .map(({ term }) => term)
}

/** Each token as the text has it, its term, and after a comma what else it is found by. */
function read(text: string, language = 'en'): string[] {
  return analyserFor(language)
    .tokens(text)
    .map(({ start, end, term, also }) => `${text.slice(start, end)}=${[term, ...also].join()}`)
}

describe('words', () => {
  test('are folded and stemmed', () => {
    expect(read('Escalating POLICIES')).toEqual(['Escalating=escal', 'POLICIES=polici'])
    expect(terms('Łódź ﬁle Straße Ａｂｃ')).toEqual(['lodz', 'file', 'strass', 'abc'])
  })

  // https://snowballstem.org/algorithms/english/stemmer.html: the older Porter stemmer gives `gener` and `sky`, `ski`.
  test('of English have the stems of Porter2', () => {
    expect(terms('generically skies dying news')).toEqual(['generic', 'sky', 'die', 'news'])
  })

  test('are the same however their accents are encoded', () => {
    expect(terms('cafe\u0301')).toEqual(terms('café'))
  })

  test('keep ranges of the text as given, though folding changes lengths', () => {
    expect(read('ﬃ İstanbul\u0307 😀 end')).toEqual(['ﬃ=ffi', 'İstanbul\u0307=istanbul', '😀=😀', 'end=end'])
  })

  test('keep their apostrophes, but no possessive', () => {
    expect(terms("the user's, the users', don't, O’Reilly’s")).toEqual([
      'the',
      'user',
      'the',
      'user',
      "don't",
      "o'reilli",
    ])
  })

  test('go on over soft hyphens and joiners', () => {
    expect(terms('co\u00adoperate')).toEqual(terms('cooperate'))
  })

  test('of more than 64 characters are cut, and cost little however long', () => {
    const [token, ...others] = english.tokens('x'.repeat(1_000_000))
    expect(others).toEqual([])
    expect(token?.term).toBe('x'.repeat(64))
    expect(english.tokens(`a${'\u0301'.repeat(1_000_000)}`)).toHaveLength(1)
    expect(english.tokens('aB'.repeat(10_000_000))).toHaveLength(1)
  })

  test('are none in punctuation', () => {
    expect(terms('--- … *** () "" ™ → ↔ © \u0301')).toEqual([])
  })

  test('of pictures are one each, however they are shown', () => {
    expect(terms('👍🏽 ❤️ 👩\u200d💻!🇩🇪🇫🇷')).toEqual(['👍', '❤', '👩\u200d💻', '🇩🇪', '🇫🇷'])
  })

  test('with an apostrophe are found without it, and without an article of another language', () => {
    expect(read('don’t I’ll L’équipe O’Reilly').slice(0, 4)).toEqual([
      "don’t=don't,dont",
      "I’ll=i'll",
      "L’équipe=l'equip,equip,lequip",
      "O’Reilly=o'reilli,oreilli",
    ])
  })
})

describe('identifiers', () => {
  test('give their parts, and at the first the whole', () => {
    expect(read('snake_case')).toEqual(['snake=snake,snakecas', 'case=case'])
    expect(read('camelCase')).toEqual(['camel=camel,camelcas', 'Case=case'])
    expect(read('HTTPServer2')).toEqual(['HTTP=http,httpserver2', 'Server2=server2'])
    expect(read('HTTP2Server')).toEqual(['HTTP2=http2,http2server', 'Server=server'])
    expect(read('on-call')).toEqual(['on=on,oncal', 'call=call'])
    expect(read('__init__')).toEqual(['init=init'])
  })

  test('that are encoded data stay whole', () => {
    expect(read('aB3xK9pQz7Lm2Rt5Vw8Yc1')).toHaveLength(1)
    expect(read('convertUtf8ToUtf16String')).toHaveLength(5)
  })

  test('are found by the whole as a word of its own', () => {
    for (const [identifier, word] of [
      ['snake_case', 'snakecase'],
      ['GitHub', 'github'],
      ['e-mail', 'email'],
      ['COVID-19', 'covid19'],
    ] as const) {
      expect(english.tokens(identifier)[0]?.also).toEqual(terms(word))
    }
  })

  test('with dots between letters give their parts and the whole, numbers too', () => {
    expect(read('Node.js')).toEqual(['Node=node,nodej', 'js=js'])
    expect(read('U.S.A.')).toEqual(['U=u,usa', 'S=s', 'A=a'])
    expect(read('a.1 1.a 1.5')).toEqual(['a=a', '1=1', '1=1', 'a=a', '1=1,1.5', '5=5'])
    expect(read('end. Start…now')).toEqual(['end=end', 'Start=start', 'now=now'])
  })

  test('keep the signs of their names', () => {
    expect(read('C++ C++11 C# c C+ C+++')).toEqual(['C++=c++', 'C++=c++', '11=11', 'C#=c#', 'c=c', 'C=c', 'C=c'])
    expect(read('Notepad++ issue#12 C#7 # heading')).toEqual([
      'Notepad++=notepad++,notepad',
      'issue=issu',
      '12=12',
      'C=c',
      '7=7',
      'heading=head',
    ])
  })

  test('stay whole where a capital is no beginning of a word', () => {
    expect(read('IDs URLs B2B p53 PDF')).toEqual(['IDs=id', 'URLs=url', 'B2B=b2b', 'p53=p53', 'PDF=pdf'])
  })
})

test('a number and its unit are two words, and the first number of a version has no v', () => {
  expect(read('5GB 5 GB 2nd p53 4x4 0x1F')).toEqual([
    '5=5',
    'GB=gb',
    '5=5',
    'GB=gb',
    '2=2',
    'nd=nd',
    'p53=p53',
    '4x4=4x4',
    '0x1F=0x1f',
  ])
  expect(read('V1.29 v2 dev1.2')).toEqual(['V1=1,v1,1.29', '29=29', 'v2=v2', 'dev1=dev1', '2=2'])
})

test('numbers lose what sets their thousands apart; versions and dates are several', () => {
  expect(terms('10,000 1,234,567 1,2345 1,2,3')).toEqual(['10000', '1234567', '1', '2345', '1', '2', '3'])
  expect(terms('10,000人 10,000km')).toEqual(['10000', '人', '10', '000', 'km'])
  expect(read('v1.2.3')).toEqual(['v1=1,v1,1.2.3', '2=2', '3=3'])
  expect(read('2024-01-02')).toEqual(['2024=2024', '01=01', '02=02'])
})

// https://lucene.apache.org/core/9_0_0/analysis/common/org/apache/lucene/analysis/cjk/CJKBigramFilter.html: overlapping pairs
// of Han, Hiragana, Katakana and Hangul characters, and a character alone where it has no neighbour.
describe('scripts without spaces', () => {
  test('give overlapping pairs, and the last character alone', () => {
    expect(read('我是中国人')).toEqual(['我是=我是', '是中=是中', '中国=中国', '国人=国人', '人=人'])
    expect(terms('ひらがな、カタカナー')).toEqual(['ひら', 'らが', 'がな', 'な', 'かた', 'たか', 'かな', 'な'])
    expect(terms('한국어')).toEqual(['한국', '국어', '어'])
    expect(terms('中')).toEqual(['中'])
  })

  test('are the same in either kind of kana, and of Chinese', () => {
    expect(terms('サーバーのウェブ')).toEqual(terms('さーばのウエブ'))
    expect(read('サーバーの').slice(1, 3)).toEqual(['ーバ=ーば', 'バーの=ばの'])
    expect(terms('コピー')).not.toEqual(terms('コピ'))
    expect(terms('電腦數據庫')).toEqual(terms('电脑数据库'))
  })

  test('divide from Latin words', () => {
    expect(terms('使用iPhone版')).toEqual(['使用', '用', 'i', 'phone', '版'])
  })

  test('are the same in every width and encoding', () => {
    expect(terms('ｶﾞﾝﾀﾞﾑ')).toEqual(terms('ガンダム'))
    expect(terms('한국어'.normalize('NFD'))).toEqual(terms('한국어'))
  })

  test('pair characters as readers see them', () => {
    expect(terms('𠮷野家')).toEqual(['𠮷野', '野家', '家'])
    expect(terms('ครับ')).toEqual(['ครั', 'รับ', 'บ'])
  })
})

describe('languages', () => {
  test('have their own stemmer, by any tag of the language', () => {
    expect(terms('Häusern', 'de-CH')).toEqual(['haus'])
    expect(terms('новыми', 'ru')).toEqual(['нов'])
    expect(terms('running', 'eng')).toEqual(['run'])
  })

  test('have one spelling for several of one word', () => {
    for (const words of [
      'colour color colours',
      'organise organize',
      'organisation organization',
      'analyse analyze analysing',
      'centre center centred centered',
      'catalogue catalog cataloguing cataloging',
      'defence defense',
      'practise practice',
      'travelled traveled travelling',
      'modelling modeling',
      'anaemia anemia',
      'oestrogen estrogen',
      'manoeuvred maneuvered',
      'enrolment enrollment',
      'behavioural behavioral',
      'grey gray',
    ]) {
      expect(new Set(terms(words)), words).toHaveProperty('size', 1)
    }
    // Words that look so and are no British spelling keep their relatives.
    expect(terms('precise precision revise revision otherwise supervise four hour')).toEqual(
      terms('precise precision revise revision').concat(['otherwis', 'supervis', 'four', 'hour']),
    )
    expect(new Set(terms('precise precision'))).toHaveProperty('size', 1)
    expect(terms('colour', 'fr')).toEqual(['colour'])
    expect(new Set(terms('Müller Mueller MUELLER', 'de'))).toHaveProperty('size', 1)
    expect(terms('neue Quelle', 'de')).toEqual(['neu', 'quell'])
    expect(read('Müller Århus')).toEqual(['Müller=muller,mueller', 'Århus=arhus,aarhus'])
  })

  test('written with points are the same without', () => {
    expect(terms('שָׁלוֹם', 'he')).toEqual(['שלום'])
    expect(terms('الكِتَابُ كـــتاب', 'ar')).toEqual(terms('الكتاب كتاب', 'ar'))
    expect(terms('کتاب', 'fa')).toEqual(terms('كتاب', 'fa'))
    expect(terms('ガ か\u3099 कि')).toEqual(['が', 'が', 'कि'])
  })

  test('have one spelling for a nasal of Hindi, and one stem for regular plurals of Arabic', () => {
    expect(terms('हिन्दी चाँद अङ्क')).toEqual(terms('हिंदी चांद अंक'))
    expect(terms('अन्न जन्म')).toEqual(['अन्न', 'जन्म'])
    for (const [one, many] of ['قناة والقنوات', 'مستوى المستويات', 'مستشفى للمستشفيات', 'كتاب الكتاب'].map((words) =>
      words.split(' '),
    )) {
      const found = analyserFor('en')
        .tokens(`${one} ${many}`)
        .map(({ term, also }) => also[0] ?? term)
      expect(found[0]).toBe(found[1])
    }
  })

  test('without a stemmer keep their words', () => {
    expect(terms('Running policies', 'pl')).toEqual(['running', 'policies'])
    expect(terms('Running policies', 'not a tag')).toEqual(['running', 'policies'])
  })

  test('stem by the spelling, and find the word without its diacritics too', () => {
    expect(read('educación', 'es')).toEqual(['educación=educ,educacion'])
    expect(terms('educacion', 'es')).toEqual(['educacion'])
  })

  test('leave out what stands elided before a word', () => {
    expect(read('L’école qu’il aujourd’hui', 'fr')).toEqual([
      'école=ecol',
      'il=il',
      "aujourd’hui=aujourd'hui,aujourdhui",
    ])
    expect(terms("dell'acqua", 'it')).toEqual(['acqua'])
  })

  test('have one analyser each, whose version names it', () => {
    expect(analyserFor('en-GB')).toBe(english)
    expect(analyserFor('de').version).not.toBe(english.version)
  })
})

describe('stop words', () => {
  test('are function words and their contractions', () => {
    for (const word of ['the', 'is', 'how', 'does', 'what', "don't", 'don’t', "it's"]) {
      expect(english.isStopWord(word), word).toBe(true)
    }
  })

  test('are no words that people search for', () => {
    for (const word of ['make', 'like', 'well', 'way', 'under', 'over', 'off', 'down', 'get', 'take', 'same']) {
      expect(english.isStopWord(word), word).toBe(false)
    }
    expect(analyserFor('de').isStopWord('jahr')).toBe(false)
  })

  test('are of the language, folded', () => {
    expect(analyserFor('de').isStopWord('fur')).toBe(true)
    expect(analyserFor('fr').isStopWord('meme')).toBe(true)
    expect(english.isStopWord('fur')).toBe(false)
  })
})

/** Texts of which every version of the analyser keeps the terms: where they change, `revision` has to as well. */
test('the revision stands for these terms', () => {
  const text = "The user's snake_case HTTPServer2 cost 10,000 in v1.2.3; naïveté, 我是中国人 and generically IDs"
  const found = english.tokens(text).flatMap(({ term, also }) => [term, ...also])
  expect(`${english.version.split(' ')[0]}: ${found.join(' ')}`).toBe(
    '5: the user snake snakecas case http httpserver2 server2 cost 10000 in 1 v1 1.2.3 2 3 naivete naivet 我是 是中 中国 国人 人 and generic id',
  )
})

const languages = [
  'en',
  'ar',
  'cs',
  'de',
  'fi',
  'fr',
  'hu',
  'hy',
  'it',
  'nl',
  'ro',
  'ru',
  'sl',
  'ta',
  'tr',
  'ja',
  'th',
  'und',
]

test('any text gives terms of at most 64 characters, in order, inside the text, and the same ones again', () => {
  fc.assert(
    fc.property(
      fc.oneof(hostileText, fc.string({ unit: 'grapheme' })),
      fc.constantFrom(...languages),
      (text, language) => {
        const tokens = analyserFor(language).tokens(text)
        let last = 0
        for (const { start, end, term, also } of tokens) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(text.length)
          for (const found of [term, ...also])
            expect(found).toMatch(/^(?:[\p{L}\p{N}\p{M}.']+(?:\+\+|#)?|\p{RI}{2}|[\p{Emoji}\p{ExtPict}\u200d]+)$/u)
          expect(also).not.toContain(term)
          last = start
        }
        expect(analyserFor(language).tokens(text)).toEqual(tokens)
      },
    ),
    { numRuns: runs(2000) },
  )
})
