import { describe, expect, test } from 'vitest'
import type { IndexedDocument } from '../../src/search/search-index.ts'
import { keysOf, newIndex, page, tool } from './support.ts'

const hidden = { audience: ['curator'] }

/** A generator of numbers in [0, 1) by mulberry32, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const words = 'alert alarm almond rota rotor roster page pager lead leader ticket ticker desk night shift plan'.split(
  ' ',
)

function pagesOf(name: string, count: number, seed: number, changes: Partial<IndexedDocument> = {}): IndexedDocument[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, index) => {
    const length = 3 + Math.floor(random() * 30)
    const text = Array.from({ length }, () => words[Math.floor(random() ** 2 * words.length)]).join(' ')
    return page(`${name}_${String(index).padStart(4, '0')}`, text, changes)
  })
}

describe.each(['minisearch', 'segments'] as const)('%s', (engine) => {
  test('a prefix stands for words of visible pages, however many hidden ones begin with it', () => {
    const secrets = Array.from({ length: 300 }, (_, index) => `zqa${index.toString(36).padStart(3, 'x')}`)
    const index = newIndex(engine, [
      page('open', 'The zqavisible word.'),
      ...['a', 'b', 'c'].map((key) => page(key, secrets.join(' '), hidden)),
    ])
    expect(keysOf(index, 'zqa*', tool)).toEqual(['open'])
  })

  test('words that fill the limit of a prefix do not show which others are hidden', () => {
    const fillers = Array.from({ length: 199 }, (_, index) => `zqa${String.fromCharCode(97 + (index % 26))}${index}`)
    const pages = [page('fillers', fillers.join(' ')), page('canary', 'zqazzz')]
    for (const secret of ['zqab', 'nothing']) {
      const index = newIndex(engine, [...pages, page('secret', secret, hidden)])
      expect(keysOf(index, 'zqa*', tool).sort()).toEqual(['canary', 'fillers'])
    }
  })

  test('hidden pages do not decide which of many pages are found', () => {
    const common = Array.from({ length: 150 }, (_, index) => page(`common_${index}`, 'rota'))
    const rare = Array.from({ length: 149 }, (_, index) => page(`rare_${index}`, 'desk'))
    const secret = Array.from({ length: 200 }, (_, index) => page(`secret_${index}`, 'desk', hidden))
    const index = newIndex(engine, [...common, ...rare, ...secret])
    const [first] = index.search('rota OR desk', { ...tool, limit: 1 }).hits
    expect(first?.key).toMatch(/^rare_/)
    expect(index.retrieve('rota desk', { ...tool, limit: 1 })[0]?.key).toMatch(/^rare_/)
  })

  test('answers are the same whatever hidden pages hold', () => {
    const visible = [...pagesOf('open', 250, 1), ...pagesOf('student', 40, 2, { audience: ['tool', 'student'] })]
    const answers = [3, 4].map((seed) => {
      const secret = pagesOf(
        'secret',
        120,
        seed,
        seed === 3 ? hidden : { tags: ['internal'], title: 'rota night plan' },
      )
      const index = newIndex(engine, [...visible.slice(0, 100), ...secret, ...visible.slice(100)])
      const scope = { ...tool, limit: 5 }
      const queries = ['alert', 'rota OR night', 'pa* lead', 'ro* -desk', '"ticket desk"', 'le* OR shift OR plan']
      return {
        found: queries.map((q) => index.search(q, scope)),
        retrieved: ['who is the night lead?', 'rota plan for the desk', 'almond'].map((question) =>
          index.retrieve(question, scope),
        ),
      }
    })
    expect(answers[0]?.found.every(({ hits }) => hits.length > 0)).toBe(true)
    expect(answers[1]).toEqual(answers[0])
  })
})
