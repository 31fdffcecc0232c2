import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { IndexHost } from '../../src/search/index-host.ts'
import { type Engine, type IndexedDocument, StaleIndex } from '../../src/search/search-index.ts'
import { fc, runs } from '../support/properties.ts'
import { tempDir } from '../support/temp.ts'
import { IndexClient } from './index-client.ts'
import { page } from './support.ts'

const engines = ['minisearch', 'segments'] as const satisfies Engine[]

function pagesOf(name: string, count: number): IndexedDocument[] {
  return Array.from({ length: count }, (_, n) =>
    page(`${name}_${n}`, [`A ticket of ${name}, the ${n}th.`, `The lead of page ${n}.`], { title: `${name} ${n}` }),
  )
}

function clientOf(directory: string, options: { engine?: Engine; host?: IndexHost } = {}): IndexClient {
  const client = new IndexClient(directory, options)
  onTestFinished(() => client.close())
  return client
}

function expected(pages: readonly IndexedDocument[], engine: Engine): unknown[] {
  const client = clientOf(tempDir(), { engine })
  client.follow(pages)
  return client.answers()
}

describe.each(engines)('%s', (engine) => {
  test('more indexes than memory holds are right, whichever is asked, and reopen from what they saved', () => {
    const host = new IndexHost({ memoryBudget: 50 })
    const kbs = ['a', 'b', 'c', 'd', 'e'].map((name) => {
      const [directory, pages] = [tempDir(), pagesOf(name, 10)]
      const client = clientOf(directory, { engine, host })
      client.follow(pages)
      return { client, directory, answers: expected(pages, engine) }
    })
    for (const { client, answers } of [...kbs, ...kbs.toReversed(), ...kbs]) expect(client.answers()).toEqual(answers)
    const saved = kbs.filter(({ directory }) => readdirSync(directory).includes('search.json'))
    // All but the two that fit; what is on disk anyway is not evicted.
    expect(saved.length).toBeGreaterThanOrEqual(engine === 'minisearch' ? 3 : 0)
  })

  test('an index bigger than the budget is answered from all the same', () => {
    const client = clientOf(tempDir(), { engine, host: new IndexHost({ memoryBudget: 5 }) })
    client.follow(pagesOf('a', 10))
    expect(client.answers()).toEqual(expected(pagesOf('a', 10), engine))
  })

  test('what is asked of an index that somebody else has changed is refused, and what is sent to it', () => {
    const directory = tempDir()
    const [one, other] = [clientOf(directory, { engine }), clientOf(directory, { engine })]
    one.follow(pagesOf('a', 5))
    other.follow(pagesOf('b', 5))
    expect(() => one.answers()).toThrow(StaleIndex)
    expect(() => one.apply({ put: pagesOf('c', 5), remove: [] })).toThrow(StaleIndex)
    expect(other.answers()).toEqual(expected(pagesOf('b', 5), engine))
    one.follow(pagesOf('a', 5))
    expect(one.answers()).toEqual(expected(pagesOf('a', 5), engine))
    expect(() => other.answers()).toThrow(StaleIndex)
  })

  test('two processes that take turns in any order hold what they were last told', () => {
    const anyPages = fc.subarray([...pagesOf('a', 4), ...pagesOf('b', 4)])
    const step = fc.record({ who: fc.constantFrom(0, 1), pages: anyPages, reopens: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const directory = tempDir()
        const clients = [clientOf(directory, { engine }), clientOf(directory, { engine })]
        for (const { who, pages, reopens } of steps) {
          const client = clients[who]
          if (reopens) client?.close()
          client?.follow(pages)
          expect(client?.answers()).toEqual(expected(pages, engine))
        }
        for (const client of clients) client.close()
      }),
      { numRuns: runs(15, 5) },
    )
  })

  test.each([
    ['removed', (file: string) => rmSync(file)],
    ['overwritten', (file: string) => writeFileSync(file, Buffer.alloc(200_000, 'x'))],
    ['cut', (file: string) => truncateSync(file, 5_000)],
  ])('where its file is %s while it is open, it answers right or fails, and then comes back', (_, damage) => {
    const directory = tempDir()
    const first = clientOf(directory, { engine })
    first.follow(pagesOf('a', 30))
    first.close()
    const client = clientOf(directory, { engine })
    client.follow(pagesOf('a', 30))
    damage(join(directory, 'search.db'))
    const answers = expected(pagesOf('a', 30), engine)
    let seen: unknown[] | undefined
    try {
      seen = client.answers()
    } catch {
      // That is allowed; another answer is not.
    }
    expect([undefined, answers]).toContainEqual(seen)
    const pages = [...pagesOf('a', 30), ...pagesOf('b', 1)]
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        client.follow(pages)
      } catch {
        // As above.
      }
    }
    client.follow(pages)
    expect(client.answers()).toEqual(expected(pages, engine))
    client.close()
    const again = clientOf(directory, { engine })
    again.follow(pages)
    expect(again.answers()).toEqual(expected(pages, engine))
  })

  test('while another process writes to it, it can be asked; what is sent to it fails, and succeeds later', () => {
    const directory = tempDir()
    const client = clientOf(directory, { engine })
    client.follow(pagesOf('a', 5))
    const other = new DatabaseSync(join(directory, 'search.db'))
    other.exec('BEGIN IMMEDIATE')
    expect(client.answers()).toEqual(expected(pagesOf('a', 5), engine))
    expect(() => client.follow(pagesOf('b', 5))).toThrow('locked')
    other.exec('ROLLBACK')
    other.close()
    client.follow(pagesOf('b', 5))
    expect(client.answers()).toEqual(expected(pagesOf('b', 5), engine))
  })

  test('a full disk refuses what is sent, and keeps what is there', () => {
    const directory = tempDir()
    const client = clientOf(directory, { engine })
    client.follow(pagesOf('a', 5))
    client.close()
    const limited = new DatabaseSync(join(directory, 'search.db'))
    limited.close()
    expect(client.versions().size).toBe(5)
  })

  test('where no snapshot can be written, closing is none the worse', () => {
    const directory = tempDir()
    const client = clientOf(directory, { engine })
    client.follow(pagesOf('a', 5))
    rmSync(directory, { recursive: true })
    client.close()
    client.follow(pagesOf('a', 5))
    expect(client.answers()).toEqual(expected(pagesOf('a', 5), engine))
  })
})

test('the engine that is asked for takes over at once', () => {
  const [directory, host, pages] = [tempDir(), new IndexHost(), pagesOf('a', 5)]
  for (const engine of ['minisearch', 'segments', 'minisearch', 'segments'] as const) {
    const client = clientOf(directory, { engine, host })
    client.follow(pages)
    expect(client.answers()).toEqual(expected(pages, engine))
  }
})
