import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { IndexHost } from '../../../src/search/index-host.ts'
import { tempDir } from '../../support/temp.ts'
import { engines } from '../engine-support.ts'
import { curator, newIndex, page } from '../support.ts'

const lead = Array.from({ length: 300 }, (_, n) => page(`a_${n}`, [`The lead of team${n}.`, `A ticket of team${n}.`]))
const late = Array.from({ length: 20 }, (_, n) => page(`b_${n}`, `A late ticket of group${n}.`, { note: `noted${n}` }))

/** Changes an index, which may be open, as if very many pages had come and gone. */
function useUp(directory: string): void {
  const db = new DatabaseSync(join(directory, 'search.db'))
  db.exec(
    "INSERT OR REPLACE INTO sqlite_sequence (rowid, name, seq) SELECT rowid, name, 300000 FROM sqlite_sequence WHERE name = 'pages'",
  )
  db.close()
}

/** Returns the highest ids. Also checks that each chunk has its hash, and no hash is left. */
function highestIds(directory: string): unknown {
  const db = new DatabaseSync(join(directory, 'search.db'))
  const unpaired = db.prepare(
    'SELECT count(*) AS count FROM chunks FULL JOIN hashes ON chunk = chunks.id WHERE chunk IS NULL OR chunks.id IS NULL',
  )
  expect(unpaired.get()).toMatchObject({ count: 0 })
  const ids = db.prepare('SELECT (SELECT max(id) FROM pages) AS page, (SELECT max(id) FROM chunks) AS chunk').get()
  db.close()
  return { ...ids }
}

test.each(engines)(
  '%s: an index whose ids are mostly gone has new ones when it is opened, and the same answers',
  (engine) => {
    const directory = tempDir()
    const first = newIndex(engine, lead, directory)
    first.apply({ put: [], remove: lead.slice(0, 100).map(({ key }) => key) })
    first.save()
    first.close()
    useUp(directory)
    const second = newIndex(engine, late, directory)
    const queries = ['ticket', '"late ticket"', 'team250', 'team50', 'noted7', 'gro*']
    const answers = queries.map((q) => second.search(q, curator))
    const passages = second.retrieve('late ticket of group3', curator)
    const { stamp } = second
    expect(second.isSparse).toBe(true)
    second.close()
    expect(highestIds(directory)).toEqual({ page: 300_020, chunk: 620 })

    const third = newIndex(engine, [], directory)
    expect(third.isSparse).toBe(false)
    expect(third.stamp).not.toBe(stamp)
    expect(queries.map((q) => third.search(q, curator))).toEqual(answers)
    expect(third.retrieve('late ticket of group3', curator)).toEqual(passages)
    expect(highestIds(directory)).toEqual({ page: 220, chunk: 420 })
    third.apply({ put: [page('c_1', ['A late ticket.', 'And more.'])], remove: ['b_1'] })
    expect(third.search('ticket', curator).total).toBe(220)
    expect(highestIds(directory)).toEqual({ page: 221, chunk: 422 })
    third.close()
    const all = [...lead.slice(100), ...late.toSpliced(1, 1), page('c_1', ['A late ticket.', 'And more.'])]
    const anew = newIndex(engine, all)
    const again = newIndex(engine, [], directory)
    for (const q of queries) expect(again.search(q, curator)).toEqual(anew.search(q, curator))
  },
)

test('a page that is taken in, part by part, keeps its ids until it is whole', () => {
  const directory = tempDir()
  const index = newIndex('auto', lead.slice(0, 1), directory)
  useUp(directory)
  index.apply({ put: late, remove: ['a_0'] })
  const big = page('big', ['One.', 'Two.', 'Three.'])
  const part = (start: number) => ({
    ...big,
    chunks: big.chunks.slice(start, start + 1),
    fingerprint: 'f',
    start,
    total: 3,
  })
  index.grow(part(0))
  index.close()
  const again = newIndex('auto', [], directory)
  expect(highestIds(directory)).toEqual({ page: 300_021, chunk: 23 })
  expect([again.grow(part(1)), again.grow(part(2))]).toEqual([2, 3])
  expect(again.search('three', curator).total).toBe(1)
  again.close()
  expect(newIndex('auto', [], directory).search('three', curator).total).toBe(1)
  expect(highestIds(directory)).toEqual({ page: 21, chunk: 23 })
})

test('a host gives an index new ids while nobody asks', async () => {
  const directory = tempDir()
  newIndex('auto', lead.slice(0, 1), directory).close()
  const host = new IndexHost({ quietTime: 1 })
  const address = { directory, language: 'en', engine: 'auto' as const }
  const { stamp } = host.handle({ address, method: 'versions', argument: { after: '' } }) as { stamp: string }
  useUp(directory)
  host.handle({ address, method: 'apply', argument: { stamp, newStamp: 'new', put: late, remove: ['a_0'] } })
  expect(highestIds(directory)).toEqual({ page: 300_020, chunk: 22 })
  await expect.poll(() => highestIds(directory)).toEqual({ page: 20, chunk: 20 })
  const again = host.handle({ address, method: 'versions', argument: { after: '' } }) as { stamp: string }
  const asked = { stamp: again.stamp, q: 'ticket', scope: curator }
  expect(host.handle({ address, method: 'search', argument: asked })).toMatchObject({ total: 20 })
  host.handle({ address, method: 'close', argument: undefined })
})
