import { expect, test } from 'vitest'
import { chosen, type FieldKind, ownHeadings, queryAt } from '../../../src/console/islands/completion.ts'

/** The query at `|` in a text, and what the text becomes with a choice. */
function at(marked: string, kind: FieldKind = 'text') {
  const caret = marked.indexOf('|')
  const text = marked.slice(0, caret) + marked.slice(caret + 1)
  const query = queryAt(text, caret, kind)
  const choose = (choice: string) => {
    if (query === undefined) throw new Error('no query')
    return text.slice(0, query.from) + chosen(query, kind, choice).text + text.slice(query.to)
  }
  return { query, choose }
}

test.each([
  ['See [[|', '', 'See [[Chosen]]'],
  ['See [[Old pol|', 'Old pol', 'See [[Chosen]]'],
  ['See [[Old pol|icy]] and [[More]]', 'Old pol', 'See [[Chosen]] and [[More]]'],
  ['See [[Old pol| and [[More]]', 'Old pol', 'See [[Chosen]] and [[More]]'],
  ['a\r\n[[مرح|', 'مرح', 'a\r\n[[Chosen]]'],
  ['🙂🙂 [[🙂|', '🙂', '🙂🙂 [[Chosen]]'],
  ['![[supersedes:Ol|', 'supersedes:Ol', '![[Chosen]]'],
])('the target of a link is completed: %s', (marked, q, text) => {
  const { query, choose } = at(marked)
  expect(query).toMatchObject({ kind: 'link', q })
  expect(choose('Chosen').split(' and ')[0]).toBe(text.split(' and ')[0])
})

test.each(['No link |', '[[Done]] |', '[[Target|alias', '[[a\nb|', `[[${'x'.repeat(250)}|`, '[single|', ''])(
  'nothing is completed in %j',
  (text) => {
    const caret = text.includes('|') && !text.includes('|alias') ? text.indexOf('|') : text.length
    expect(queryAt(text.replace(/\|$/, ''), caret, 'text')).toBeUndefined()
  },
)

test('a type of link goes on with its target', () => {
  const { query } = at('[[sup|')
  expect(query && chosen(query, 'text', 'supersedes:')).toEqual({ text: 'supersedes:', goesOn: true })
})

test.each([
  ['[[VIP policy#Pag|', 'VIP policy', 'Pag', '[[VIP policy#Chosen]]'],
  ['[[cites:VIP#|]]', 'VIP', '', '[[cites:VIP#Chosen]]'],
  ['[[#Pag|ing]]', '', 'Pag', '[[#Chosen]]'],
])('the heading of a link is completed: %s', (marked, target, q, text) => {
  const { query, choose } = at(marked)
  expect(query).toMatchObject({ kind: 'heading', target, q })
  expect(choose('Chosen')).toBe(text)
})

test('tags are completed between commas', () => {
  const { query, choose } = at('policy, es|c, x', 'tags')
  expect(query).toMatchObject({ kind: 'tag', q: 'es' })
  expect(choose('escalation')).toBe('policy, escalation, x')
  expect(at('|', 'tags').choose('a')).toBe('a')
})

test('relations are completed by line: a type, then a page', () => {
  const type = at('cites: A\nsup|', 'edges')
  expect(type.query).toMatchObject({ kind: 'link', q: 'sup' })
  expect(type.choose('supersedes:')).toBe('cites: A\nsupersedes: ')
  const page = at('supersedes: Old p|ol\ncites: B', 'edges')
  expect(page.query).toMatchObject({ kind: 'link', q: 'Old p' })
  expect(page.choose('Old policy')).toBe('supersedes: Old policy\ncites: B')
})

test('headings of the page itself are those of its text, outside of code', () => {
  const text = '# First\n\n```\n# Code\n```\n\n## Second part ##\n# First\n'
  expect(ownHeadings(text, '')).toEqual(['First', 'Second part'])
  expect(ownHeadings(text, 'PART')).toEqual(['Second part'])
})
