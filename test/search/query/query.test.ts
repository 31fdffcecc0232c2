import { describe, expect, test } from 'vitest'
import { matchesNote } from '../../../src/search/answer/answer-query.ts'
import { everyLeafOf, leavesOf, QueryError } from '../../../src/search/query/query-tree.ts'
import { finds, queryOf, read, written } from './query-support.ts'

describe('words', () => {
  // As FTS5's implicit AND: https://www.sqlite.org/fts5.html#fts5_boolean_operators
  test('must all match, in any inflection', () => {
    expect(read('escalated tickets')).toBe('((escal | escalatedticket) & (ticket | escalatedticket))')
    expect(finds('policy escalation', 'We escalate by these policies')).toBe(true)
  })

  test('that stand side by side are looked for as one word, too', () => {
    expect(read('web site')).toBe('((web | websit) & (site | websit))')
    expect(finds('web site admin', 'the admin of the website')).toBe(true)
    expect(finds('site web', 'a website')).toBe(false)
    expect(read('web OR site')).toBe('(web | site)')
    expect(read('web -site')).toBe('(web & !site)')
    expect(read('"web site"')).toBe('"web site"')
    expect(read('the site')).toBe('site')
    expect(read('中国 人')).toBe('(中国 & 人*)')
  })

  test('of a verb and its particle are one noun, and the noun is both', () => {
    expect(read('back up')).toBe('(back | backup)')
    expect(read('login')).toBe('(login | "log in")')
    expect(finds('back up', 'nightly backups')).toBe(true)
    expect(finds('backup', 'how to back up a server')).toBe(true)
    expect(read('admin')).toBe('admin')
    expect(read('backup', 'de')).toBe('backup')
  })

  test('count once, and stop words not at all', () => {
    expect(read('the ticket of a TICKET, tickets')).toBe('ticket')
    expect(read("don't panic")).toBe('panic')
  })

  test('are operators only in capitals', () => {
    expect(read('door or not door')).toBe('door')
    expect(read('or "not a" and', 'pl')).toBe('(or & "not a" & and)')
  })

  test('are of the language', () => {
    expect(read('die Häuser', 'de')).toBe('haus')
  })

  test('of punctuation are nothing', () => {
    expect(read('ticket - & ... →')).toBe('ticket')
  })

  test('that say little need not match beside others', () => {
    expect(read('🎉')).toBe('🎉')
    expect(read('dont')).toBe('dont')
    expect(read('dont 🎉 ticket call')).toBe('(((ticket | ticketcal) | dont+ | 🎉+) & (call | ticketcal))')
  })
})

describe('phrases', () => {
  // https://help.obsidian.md/Plugins/Search#Search+terms
  test('have their words one after the other, stop words too', () => {
    expect(read('"to be or not" question')).toBe('("to be or not" & question)')
    expect(finds('"page of the day"', 'the pages of the day')).toBe(true)
    expect(finds('"page of the day"', 'the page of this day')).toBe(false)
  })

  test('of one word are that word', () => {
    expect(read('"the"')).toBe('the')
  })

  test('may stand in typographic quotes', () => {
    expect(read('“vip ticket” „on page“')).toBe('("vip ticket" & "on page")')
  })

  test('of no word are nothing', () => {
    expect(read('"" "..." ticket')).toBe('ticket')
  })

  // FTS5 and Lucene refuse them; PostgreSQL's websearch_to_tsquery reads anything, and so do we:
  // https://www.postgresql.org/docs/current/textsearch-controls.html#TEXTSEARCH-PARSING-QUERIES
  test('that are not closed are words, and a quote in a word is punctuation', () => {
    expect(read('"vip ticket')).toBe('(vip & ticket)')
    expect(read('vip "')).toBe('vip')
    expect(read('5"10 "a vip"')).toBe('("5 10" & "a vip")')
  })
})

describe('OR', () => {
  // https://developers.google.com/custom-search/docs/query_syntax#OR: capitals, and tighter than the words beside it.
  test('binds tighter than words beside each other', () => {
    expect(read('vpn "front door" OR access OR "single sign on" guide')).toBe(
      '(vpn & ("front door" | access | "singl sign on") & guid)',
    )
  })

  test('with nothing on one side is nothing', () => {
    expect(read('OR vpn OR')).toBe('vpn')
    expect(read('vpn OR OR door')).toBe('(vpn | door)')
    expect(read('vpn OR the')).toBe('vpn')
    expect(read('the OR vpn "a door"')).toBe('(vpn & "a door")')
  })

  test('is what groups, since parentheses are punctuation', () => {
    expect(read('(vpn OR door) "the guide"')).toBe('((vpn | door) & "the guid")')
    expect(read('vpn AND (door)')).toBe('(vpn & door)')
  })
})

describe('negation', () => {
  test('excludes a word or a phrase', () => {
    expect(read('vpn -mobile')).toBe('(vpn & !mobil)')
    expect(read('-"mobile app" vpn')).toBe('(vpn & !"mobil app")')
    expect(read('vpn NOT mobile')).toBe('(vpn & !mobil)')
    expect(read('vpn NOT -mobile')).toBe('(vpn & !mobil)')
    expect(read('vpn (-mobile)')).toBe('(vpn & !mobil)')
  })

  test('takes a dash right before what it negates', () => {
    expect(read('vpn - mobile')).toBe('(vpn & mobil)')
    expect(read('run --force')).toBe('(run & forc)')
    expect(finds('well-known', 'a well-known port')).toBe(true)
  })

  test('of a stop word is nothing', () => {
    expect(read('vpn -the')).toBe('vpn')
  })

  // As in Lucene's BooleanQuery, where `a OR NOT b` has the clauses SHOULD a, MUST_NOT b:
  // https://lucene.apache.org/core/9_0_0/queryparser/org/apache/lucene/queryparser/classic/package-summary.html
  test('excludes beside OR as well', () => {
    expect(read('vpn OR -mobile OR door')).toBe('((vpn | door) & !mobil)')
    expect(read('-mobile OR vpn')).toBe('(vpn & !mobil)')
    expect(read('vpn OR NOT mobile')).toBe('(vpn & !mobil)')
    expect(read('vpn -mobile OR door')).toBe('(vpn & door & !mobil)')
  })
})

describe('a prefix', () => {
  test('is of what is typed, not of its stem', () => {
    expect(read('vpn*')).toBe('vpn*')
    expect(read('Éco*', 'fr')).toBe('eco*')
    expect(read('the*')).toBe('the*')
  })

  test('finds every word that begins so, though the index holds stems', () => {
    const words = [
      'escalation',
      'organizations',
      'policies',
      'happily',
      'running',
      'relational',
      'skies',
      'GitHub',
      'usefulness',
    ]
    for (const word of words) {
      for (let length = 2; length <= word.length; length++) {
        expect(finds(`${word.slice(0, length)}*`, word), word.slice(0, length)).toBe(true)
      }
    }
  })

  test('may be in the last part of a word', () => {
    expect(read('foo-bar-px*')).toBe('(("foo bar" & px*) | foobarpx*)')
    expect(finds('foo-ba*', 'a foo-bar')).toBe(true)
  })

  test('has two characters, of scripts without spaces one', () => {
    expect(() => queryOf('v*')).toThrow(QueryError)
    expect(() => queryOf('vpn -é*')).toThrow(QueryError)
    expect(read('中*')).toBe('中*')
    expect(finds('国*', '我是中国人')).toBe(true)
  })

  test('ends its word: an asterisk elsewhere is punctuation', () => {
    expect(read('** **vpn** log*in')).toBe('(vpn & "log in")')
  })
})

describe('a word that divides', () => {
  test('is a phrase of its parts, or the whole in one', () => {
    expect(read('GitHub')).toBe('("git hub" | github)')
    expect(read('on-call')).toBe('("on call" | oncal)')
    expect(read('"GitHub actions"')).toBe('("git hub action" | "github action")')
    expect(read('and/or')).toBeUndefined()
  })

  test('is found however it is written', () => {
    for (const spellings of [
      ['GitHub', 'github'],
      ['e-mail', 'email'],
      ['snake_case', 'snakeCase', 'snakecase'],
      ['10,000', '10000'],
    ]) {
      for (const q of spellings) for (const text of spellings) expect(finds(q, text), `${q} in ${text}`).toBe(true)
    }
    expect(finds('educacion', 'educación', 'es') && finds('educación', 'educacion', 'es')).toBe(true)
  })

  // As Lucene's CJKAnalyzer: a run of characters is a phrase of its pairs.
  test('is found inside a run of characters', () => {
    expect(read('中国人')).toBe('"中国 国人"')
    for (const q of ['中国', '中国人', '我', '是', '人', '我是中国人']) expect(finds(q, '我是中国人'), q).toBe(true)
    expect(finds('国中', '我是中国人')).toBe(false)
    for (const q of ['第3章', '第3', '3章', '章']) expect(finds(q, '看第3章节'), q).toBe(true)
  })
})

test('a query of only stop words, operators or negations asks for nothing', () => {
  for (const q of ['', ' ', 'the of a', 'OR', 'NOT AND OR', '-vpn', 'NOT vpn', '-vpn OR -login', '"', '*', '-', '()']) {
    expect(read(q), q).toBeUndefined()
  }
})

describe('limits', () => {
  const words = Array.from({ length: 33 }, (_, index) => `w${index}`)

  test('32 different words, wherever they stand', () => {
    expect(queryOf([...words.slice(1), ...words.slice(1)].join(' '))).toBeDefined()
    expect(() => queryOf(words.join(' '))).toThrow('A query has at most 32 different words.')
    expect(() => queryOf(words.join(' OR '))).toThrow(QueryError)
    expect(() => queryOf(`"${words.join(' ')}"`)).toThrow(QueryError)
    expect(() => queryOf(words.join(' -'))).toThrow(QueryError)
  })

  test('a run of characters is one word', () => {
    expect(queryOf('中国人民共和国'.repeat(20))?.type).toBe('phrase')
  })
})

test('leaves are those that may be found, or every one', () => {
  const query = queryOf('"vip ticket" OR vpn -mobile')
  if (query === undefined) throw new Error('It asks for something.')
  expect(leavesOf(query).map(written)).toEqual(['"vip ticket"', 'vpn'])
  expect(everyLeafOf(query).map(written)).toEqual(['"vip ticket"', 'vpn', 'mobil'])
})

describe('a note', () => {
  function noted(q: string, note: string): boolean {
    const query = queryOf(q)
    return query !== undefined && matchesNote(query, note)
  }

  test('is matched by what is typed, as a part of its text', () => {
    expect(noted('escal', 'see Deescalation')).toBe(true)
    expect(noted('escalated', 'see escalation')).toBe(false)
    expect(noted('CAFÉ', 'the cafe')).toBe(true)
    expect(noted('esca*', 'deescalate')).toBe(true)
    expect(noted("don’t “don't panic”", "Don't  panic")).toBe(true)
  })

  test('is matched by phrases over its lines', () => {
    expect(noted('"vip  ticket"', 'a VIP\nticket')).toBe(true)
    expect(noted('"vip ticket"', 'a vip, ticket')).toBe(false)
  })

  test('is matched by the whole query', () => {
    expect(noted('vip ticket', 'a vip')).toBe(false)
    expect(noted('vip OR ticket', 'a vip')).toBe(true)
    expect(noted('vip -ticket', 'a vip ticket')).toBe(false)
    expect(noted('foo-bar', 'foo bar')).toBe(false)
    expect(noted('foo-bar', 'foo-bars')).toBe(true)
  })
})
