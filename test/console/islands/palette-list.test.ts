import { expect, test } from 'vitest'
import { addressOf, moved, offered, readVisited, remember } from '../../../src/console/islands/palette-list.ts'

const page = (href: string) => ({ title: href, href })

test('the pages that were visited last are kept, each once', () => {
  const visited = ['/a', '/b', '/a', '/c'].reduce<ReturnType<typeof page>[]>(
    (all, href) => remember(all, page(href)),
    [],
  )
  expect(visited.map(({ href }) => href)).toEqual(['/c', '/a', '/b'])
  const many = Array.from({ length: 20 }, (_, at) => page(`/${at}`)).reduce<ReturnType<typeof page>[]>(remember, [])
  expect(many.map(({ href }) => href)).toEqual(['/19', '/18', '/17', '/16', '/15', '/14', '/13', '/12'])
})

test.each([
  [null, []],
  ['broken', []],
  ['{"title":"a","href":"/a"}', []],
  [
    '[{"title":"a","href":"javascript:alert(1)"},{"title":"b","href":"//evil.example"},{"title":"c","href":"/c"},7,null]',
    [{ title: 'c', href: '/c' }],
  ],
])('of %s only pages of this server are read', (text, visited) => {
  expect(readVisited(text)).toEqual(visited)
})

test('recent pages are offered, but not the one that is open, and only where nothing is typed', () => {
  const found = [{ group: 'Go to', label: 'Home', detail: '', href: '/' }]
  const visited = [page('/here'), page('/there')]
  expect(offered(found, visited, ' ', '/here').map(({ group, href }) => [group, href])).toEqual([
    ['Recent', '/there'],
    ['Go to', '/'],
  ])
  expect(offered(found, visited, 'ho', '/here')).toEqual(found)
})

test('arrows go round a list', () => {
  expect(['ArrowDown', 'ArrowUp', 'x'].map((key) => moved(key, 0, 3))).toEqual([1, 2, undefined])
  expect([moved('ArrowDown', 2, 3), moved('ArrowDown', -1, 3), moved('ArrowUp', -1, 3)]).toEqual([0, 0, 2])
  expect(moved('ArrowDown', 0, 0)).toBeUndefined()
})

test('an address holds what a form says', () => {
  expect(
    addressOf('/s', [
      ['q', ''],
      ['kind', 'all'],
    ]),
  ).toBe('/s')
  expect(
    addressOf('/s', [
      ['q', 'a&b #1'],
      ['kind', 'wiki'],
    ]),
  ).toBe('/s?q=a%26b+%231&kind=wiki')
})
