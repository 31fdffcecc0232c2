import { describe, expect, test } from 'vitest'
import { highlight } from '../../src/search/excerpt/highlight.ts'
import { leavesOf } from '../../src/search/query/query-tree.ts'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { hostileText } from '../rules/hostile-text.ts'
import { fc, runs } from '../support/properties.ts'
import { queryOf } from './query/query-support.ts'

const english = analyserFor('en')

function highlighted(q: string, text: string, maxLength?: number): string {
  const query = queryOf(q)
  return highlight(text, query === undefined ? [] : leavesOf(query), english, maxLength)
}

describe('what is marked', () => {
  test('every inflection of a word', () => {
    expect(highlighted('escalate', 'Escalating, escalation: escalator.')).toBe(
      '<mark>Escalating</mark>, <mark>escalation</mark>: <mark>escalator</mark>.',
    )
  })

  // As SQLite FTS5's highlight() does, a phrase has one mark: https://www.sqlite.org/fts5.html#the_highlight_function
  test('a phrase as a whole, and its words only in it', () => {
    expect(highlighted('"vip ticket"', 'A ticket of a VIP; the VIP tickets.')).toBe(
      'A ticket of a VIP; the <mark>VIP tickets</mark>.',
    )
  })

  test('words that begin with a prefix', () => {
    expect(highlighted('escalati*', 'an escalation')).toBe('an <mark>escalation</mark>')
  })

  test('an identifier, whichever way it is written', () => {
    expect(highlighted('github', 'GitHub and github.com')).toBe('<mark>GitHub</mark> and <mark>github</mark>.com')
    expect(highlighted('snakecase', 'a snake_case_name, a snake_case')).toBe(
      'a snake_case_name, a <mark>snake_case</mark>',
    )
    expect(highlighted('naivete', 'naïveté-like')).toBe('<mark>naïveté</mark>-like')
  })

  test('characters of scripts without spaces, overlapping pairs in one', () => {
    expect(highlighted('中国人', '我是中国人。')).toBe('我是<mark>中国人</mark>。')
    expect(highlighted('国', '我是中国人，国')).toBe('我是中<mark>国</mark>人，<mark>国</mark>')
  })

  test('nothing that is negated', () => {
    expect(highlighted('vpn -mobile', 'mobile VPN')).toBe('mobile <mark>VPN</mark>')
  })
})

test('text is escaped', () => {
  expect(highlighted('script', `<script>alert("1" & '2')</script>`)).toBe(
    '&lt;<mark>script</mark>&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/<mark>script</mark>&gt;',
  )
})

describe('the excerpt', () => {
  const filler = 'some other words that say nothing of it '.repeat(20)

  test('is the text where that is short', () => {
    expect(highlighted('vpn', 'The VPN\nis up')).toBe('The <mark>VPN</mark>\nis up')
  })

  test('stands around the most different matches', () => {
    const text = `VPN VPN VPN ${filler}the VPN of the office ${filler}`
    expect(highlighted('vpn office', text, 60)).toMatch(
      /^…\S.*the <mark>VPN<\/mark> of the <mark>office<\/mark> .*\S…$/,
    )
  })

  test('is the beginning where nothing matches', () => {
    expect(highlighted('vpn', filler, 20)).toBe('some other words…')
  })

  test('cuts what alone is too long', () => {
    expect(highlighted('"open vpn"', `Open${' '.repeat(100)}VPN and more`, 20)).toBe('<mark>Open</mark>…')
    expect(highlighted('x', `${'a'.repeat(100)} x ${'b'.repeat(100)}`, 20)).toBe('…<mark>x</mark>…')
  })
})

const unescaped: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

test('any excerpt is a part of the text with whole marks and characters, and no other HTML', () => {
  const words = fc.constantFrom(
    'vpn',
    'VPN ',
    '<mark>',
    '</mark>',
    '&amp;',
    '…',
    '中国',
    '国',
    'snake_case',
    'GitHub',
    '😀',
    ' ',
  )
  const texts = fc.array(fc.oneof(words, hostileText)).map((parts) => parts.join(''))
  const queries = fc
    .array(fc.constantFrom('vpn', '中国', '国', '"vpn vpn"', 'snakecase', 'vp*', 'github', 'mark', 'x'))
    .map((parts) => parts.join(' '))
  fc.assert(
    fc.property(texts, queries, fc.integer({ min: 1, max: 80 }), (text, q, maxLength) => {
      const html = highlighted(q, text, maxLength)
      const outside = html.replace(/<mark>[^<>]+<\/mark>/g, '')
      expect(outside).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/)
      const plain = html.replace(/<\/?mark>/g, '').replace(/&(#?\w+);/g, (_, name: string) => unescaped[name] ?? '')
      const uncut = [/$^/, /^…/, /…$/, /^…|…$/g].map((ellipses) => plain.replace(ellipses, ''))
      const parts = uncut.filter((part) => text.includes(part) && part.length <= maxLength)
      expect(parts).not.toEqual([])
      expect(parts.every((part) => part.isWellFormed()) || !text.isWellFormed()).toBe(true)
    }),
    { numRuns: runs(2000) },
  )
})
