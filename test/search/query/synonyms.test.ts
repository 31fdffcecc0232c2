import { describe, expect, test } from 'vitest'
import { engines } from '../engine-support.ts'
import { curator, newIndex, page } from '../support.ts'

const pages = [
  page('s_1', 'Kubernetes runs in three zones.'),
  page('s_2', 'The k8s cluster is upgraded at night.'),
  page('s_3', 'A virtual private network leads to the office, and from it.'),
  page('s_4', 'The VPN is down.'),
  page('s_5', 'A private office with a virtual network.'),
]
const synonyms = [
  ['k8s', 'Kubernetes', 'container platform'],
  ['vpn', 'virtual private network'],
  ['office', 'headquarters'],
]

describe.each(engines)('%s', (engine) => {
  test.each([
    ['k8s', ['s_1', 's_2']],
    ['KUBERNETES', ['s_1', 's_2']],
    ['container platform', ['s_1', 's_2']],
    ['kubernetes zones', ['s_1']],
    ['vpn', ['s_3', 's_4']],
    ['virtual private network', ['s_3', 's_4', 's_5']],
    ['headquarters vpn', ['s_3']],
    ['the vpn office', ['s_3']],
    ['"k8s"', ['s_2']],
    ['zones OR vpn', ['s_1', 's_3', 's_4']],
    ['office -vpn', ['s_3', 's_5']],
  ])('%s finds %s', (q, keys) => {
    const { hits, total } = newIndex(engine, pages).search(q, curator, { synonyms })
    expect(hits.map(({ key }) => key).toSorted()).toEqual(keys)
    expect(total).toBe(keys.length)
  })

  test('what is written so comes first, and synonyms are marked', () => {
    const { hits } = newIndex(engine, pages).search('vpn', curator, { synonyms })
    expect(hits.map(({ key, highlight }) => [key, highlight])).toEqual([
      ['s_4', 'The <mark>VPN</mark> is down.'],
      ['s_3', 'A <mark>virtual private network</mark> leads to the office, and from it.'],
    ])
  })

  test.each([
    ['Where is k8s?', ['s_2', 's_1']],
    ['Is the vpn down?', ['s_4', 's_5', 's_3']],
    ['What is a virtual private network?', ['s_5', 's_3', 's_4']],
    ['the container platform', ['s_1', 's_2']],
  ])('a question is answered by what is called otherwise, after what is called so: %s', (question, keys) => {
    const index = newIndex(engine, pages)
    expect(index.retrieve(question, curator, { synonyms }).map(({ key }) => key)).toEqual(keys)
  })

  test('a long question of synonyms looks for 64 more terms at most', () => {
    const word = (n: number) => `w${n.toString(36)}x`
    const groups = Array.from({ length: 200 }, (_, n) => [word(n), `${word(n)}y one two three`])
    const question = Array.from({ length: 200 }, (_, n) => word(n)).join(' ')
    expect(() => newIndex(engine, pages).retrieve(question, curator, { synonyms: groups })).not.toThrow()
  })

  test('other synonyms give other answers of the same index', () => {
    const index = newIndex(engine, pages)
    const keys = (groups: string[][]) => index.search('vpn', curator, { synonyms: groups }).hits.map(({ key }) => key)
    expect(keys([])).toEqual(['s_4'])
    expect(keys([['vpn', 'k8s']]).toSorted()).toEqual(['s_2', 's_4'])
    expect(
      keys([
        ['of the', 'vpn'],
        ['...', 'vpn'],
      ]),
    ).toEqual(['s_4'])
  })

  test('a word with very many synonyms is bounded', () => {
    const groups = Array.from({ length: 200 }, (_, n) => ['vpn', ...Array.from({ length: 9 }, (_, m) => `w${n}x${m}`)])
    expect(newIndex(engine, pages).search('vpn vpn vpn', curator, { synonyms: groups }).total).toBe(1)
  })
})
