import { describe, expect, test } from 'vitest'
import { parseMarkdown } from '../../../src/markdown/parse/parse-markdown.ts'
import { plainText } from '../../../src/markdown/plain-text.ts'
import { linkMentions, withoutForgedLinks } from '../../../src/sources/compile/links/link-text.ts'
import { NameTrie } from '../../../src/sources/compile/links/name-trie.ts'
import { sourceStopWords } from '../../../src/sources/compile/words.ts'
import { extractLinks } from '../../markdown/extract-parts.ts'
import { markdown } from '../../markdown/markdown-arbitrary.ts'
import { fc, runs } from '../../support/properties.ts'
import { compile } from './documents.ts'

const names = [
  { name: 'VIP customers', title: 'VIP customers' },
  { name: 'very important people', title: 'VIP customers' },
  { name: 'On-call rotation', title: 'On-call rotation' },
  { name: 'On-call', title: 'Being on call' },
  { name: 'Refund', title: 'Refund' },
  { name: 'refund', title: 'Refund' },
  { name: 'Ledger', title: 'Ledger' },
  { name: 'OpenID', title: 'OpenID' },
  { name: 'SLA', title: 'SLA' },
  { name: 'the', title: 'The' },
  { name: 'C++', title: 'C++' },
  { name: 'dog', title: 'Dog' },
  { name: 'twice told', title: 'One' },
  { name: 'Twice told', title: 'Two' },
  { name: 'forger', title: 'supersedes:Refund' },
]
const trie = new NameTrie(names, sourceStopWords('en'))
const link = (text: string, linked: readonly string[] = []) => linkMentions(text, trie, new Set(linked))

describe('linkMentions', () => {
  test.each([
    ['Ask VIP customers first.', 'Ask [[VIP customers]] first.'],
    ['Ask vip  Customers first.', 'Ask [[VIP customers|vip  Customers]] first.'],
    ['Very important people.', '[[VIP customers|Very important people]].'],
    ['The on call rotation ends.', 'The [[On-call rotation|on call rotation]] ends.'],
    ['On-call again', '[[Being on call|On-call]] again'],
    ['Refund and refund and Refund', 'Refund and [[Refund|refund]] and Refund'],
    ['A **refund** is _no Refund_', 'A **[[Refund|refund]]** is _no Refund_'],
    ['A **refund**, and **more**', 'A **[[Refund|refund]]**, and **more**'],
    ['It is (**refund**).', 'It is (**[[Refund|refund]]**).'],
    ['A Refund and a refund', 'A [[Refund]] and a refund'],
    ['It is in the Ledger.', 'It is in the [[Ledger]].'],
    ['OpenID is one, SLA another.', '[[OpenID]] is one, [[SLA]] another.'],
    ["The refund's letter", "The [[Refund|refund]]'s letter"],
    ['C++ and SLA', '[[C++]] and [[SLA]]'],
    ['- one refund\n- two', '- one [[Refund|refund]]\n- two'],
    ['| a | b |\n|---|---|\n| refund | SLA |', '| a | b |\n|---|---|\n| [[Refund\\|refund]] | [[SLA]] |'],
    ['Of `code` and refund', 'Of `code` and [[Refund|refund]]'],
    ['[a](https://a.b/c) refund', '[a](https://a.b/c) [[Refund|refund]]'],
  ])('links %j', (text, expected) => expect(link(text)).toBe(expected))

  test.each([
    'refunds, prerefund, non-refund, refund-only, refund.pdf, a/refund, refund_x, #refund',
    'the sla and the dog, twice told by a forger',
    '# Refund\n\nRefund\n===',
    'In extra-time with a ledger, and an openid',
    'Ledger first. Ledger again! “Ledger”\n- Ledger\n1. Ledger',
    '| a | b |\n|---|---|\n| Ledger | **Ledger** |',
    '`refund` and `` refund ``',
    '```\nrefund\n```',
    '    refund',
    '[refund](https://a.b) [my refund][x] ![refund](https://a.b/c.png)',
    '[x]: https://a.b "refund"',
    'https://a.b/refund and refund@a.bc and <b title="refund">',
    '[[Refund|x]] and refund',
    'a**refund**b, refund(x), ![x]refund, \\refund',
    'VIP\ncustomers',
    '***`x`***refund',
    'refund***`x`***',
    '*a*\n`x`*refund',
    'refund***`x`\n***',
  ])('leaves %j', (text) => expect(link(text)).toBe(text))

  test('does not link what is linked already, as the page itself', () => {
    expect(link('Refund by SLA', ['refund'])).toBe('Refund by [[SLA]]')
  })

  test('adds links, and changes nothing else that a reader sees, in any Markdown', () => {
    const mentions = fc.constantFrom('Refund', 'vip customers', 'SLA', ' refund ', ' VIP customers ', '\n\nrefund\n\n')
    const text = fc.array(fc.oneof(markdown, mentions), { maxLength: 5 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (source) => {
        const result = link(source)
        const added = result.split('[[').length - source.split('[[').length
        expect(extractLinks(result)).toHaveLength(extractLinks(source).length + added)
        expect(plainText(parseMarkdown(result))).toBe(plainText(parseMarkdown(source)))
      }),
      { numRuns: runs(300, 60) },
    )
  })
})

describe('withoutForgedLinks', () => {
  test('keeps the links of notes, but none with a type or to another knowledge base', () => {
    const text = '[[A]] [[supersedes:B]] ![[kb:x/y|z]] [[A#b|c]] `[[supersedes:B]]`'
    expect(withoutForgedLinks(text, true)).toBe('[[A]] [\\[supersedes:B]] ![\\[kb:x/y|z]] [[A#b|c]] `[[supersedes:B]]`')
    expect(withoutForgedLinks('[[cites:A [b] c]] [[[x]]]', true)).toBe('[\\[cites:A [b] c]] [\\[\\[x]]]')
    expect(withoutForgedLinks('[[A]] [[1, 2]]', false)).toBe('[\\[A]] [\\[1, 2]]')
    expect(withoutForgedLinks('```\n[[kb:x/y]]\n```', true)).toBe('```\n[[kb:x/y]]\n```')
  })

  test('leaves none, in any Markdown', () => {
    const forged = fc.constantFrom(
      '[[supersedes:B]]',
      '[[kb:x/y]]',
      '![[cites: A|b]]',
      '\\[[supersedes:B]]',
      '[[[cites:B]]]',
      '[[cites:A [b] c]]',
      '[[A [b]]]',
    )
    const text = fc.array(fc.oneof(markdown, forged), { maxLength: 6 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (source) => {
        for (const { type, kb } of extractLinks(withoutForgedLinks(source, true)))
          expect([type, kb]).toEqual([undefined, undefined])
        const wikiLinks = extractLinks(withoutForgedLinks(source, false)).filter(({ form }) => form === undefined)
        expect(wikiLinks).toEqual([])
      }),
      { numRuns: runs(300, 60) },
    )
  })

  test('holds for every page of a document', async () => {
    const text = 'A [[supersedes:Policy]] in it, and [[Plain]].'
    const targets = async (filename: string) => {
      const pages = await compile(text, { filename })
      return pages.flatMap(({ content }) => extractLinks(content).map(({ target }) => target))
    }
    expect(await targets('notes.md')).toEqual(['Plain'])
    expect(await targets('notes.pdf')).toEqual([])
  })
})
