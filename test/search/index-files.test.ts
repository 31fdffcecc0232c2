import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, test } from 'vitest'
import { checkIndex } from '../../src/search/check-index.ts'
import type { Engine, IndexedDocument } from '../../src/search/search-index.ts'
import { tempDir } from '../support/temp.ts'
import { IndexClient } from './index-client.ts'
import { page } from './support.ts'

const words = ['ticket', 'lead', 'calendar', 'office', 'café', '東京', 'on-call', 'rotation']
const before: IndexedDocument[] = Array.from({ length: 40 }, (_, n) => {
  const text = Array.from({ length: 40 }, (_, m) => `${words[(n * 7 + m * m) % words.length]} w${(n * m) % 97}`)
  const audience = n % 5 === 0 ? ['board'] : undefined
  return page(`h_${n}`, [text.join(' '), `The end of page ${n}.`], { title: `Page ${n}`, audience })
})
const now = [
  ...before.filter(({ key }) => key !== 'h_3' && key !== 'h_4'),
  page('h_3', 'A later text of ticket and lead.', { title: 'Later' }),
]

/** The answers of an index that was made in one go. */
function expected(engine: Engine): unknown[] {
  const client = new IndexClient(tempDir(), { engine })
  client.follow(now)
  const answers = client.answers()
  client.close()
  return answers
}

/** The folder of an index as its process left it, the last changes made after the snapshot: when it closed, or was killed. */
function left(engine: Engine, end: 'closed' | 'killed'): string {
  const [directory, copy] = [tempDir(), tempDir()]
  const client = new IndexClient(directory, { engine })
  client.follow(before)
  client.close()
  client.follow(now)
  cpSync(directory, copy, { recursive: true })
  client.close()
  return end === 'closed' ? directory : copy
}

const overwrite = (file: string, at: number, bytes: Uint8Array) => {
  const content = readFileSync(file)
  content.set(bytes.subarray(0, Math.max(0, content.length - at)), Math.min(at, content.length))
  writeFileSync(file, content)
}
const garbage = (length: number) => Uint8Array.from({ length }, (_, n) => (n * 193 + 71) % 256)
const sql = (statement: string) => (directory: string) => {
  const db = new DatabaseSync(join(directory, 'search.db'))
  db.exec(statement)
  db.close()
}
const inFile = (name: string, damage: (file: string) => void) => (directory: string) => damage(join(directory, name))
/** Damages a file of an engine that has segments. */
const inSegments = (damage: (file: string) => void) => (directory: string) => {
  for (const name of readdirSync(directory)) if (name.endsWith('.segment')) damage(join(directory, name))
}

const damages: [string, (directory: string) => void][] = [
  ['search.db is gone', inFile('search.db', (file) => rmSync(file))],
  ['search.db is empty', inFile('search.db', (file) => truncateSync(file))],
  ['search.db is cut in the middle', inFile('search.db', (file) => truncateSync(file, 20_000))],
  ['search.db is cut inside its header', inFile('search.db', (file) => truncateSync(file, 50))],
  ['search.db is garbage', inFile('search.db', (file) => writeFileSync(file, garbage(50_000)))],
  ['search.db has garbage in the middle', inFile('search.db', (file) => overwrite(file, 8192, garbage(40_000)))],
  ['search.db has zeros in the middle', inFile('search.db', (file) => overwrite(file, 4096, new Uint8Array(30_000)))],
  ['search.db has garbage behind its end', inFile('search.db', (file) => appendFileSync(file, garbage(10_000)))],
  ['search.db is another database', sql('DROP TABLE pages; DROP TABLE chunks; CREATE TABLE chunks (x)')],
  ['search.db has a table less', sql('DROP TABLE removed')],
  ['search.db has an index less', sql('DROP INDEX noted_pages')],
  ['search.db is of another version', sql("UPDATE meta SET value = '0 other' WHERE key = 'made'")],
  ['search.db has forgotten what it is', sql('DELETE FROM meta')],
  ['search.db holds what is no audience', sql("UPDATE classes SET audience = '{'")],
  ['search.db has a catalog of zeros', sql('UPDATE catalog SET pages = zeroblob(length(pages))')],
  ['search.db has no catalog', sql('DELETE FROM catalog')],
  ['search.db has a foreign log', inFile('search.db-wal', (file) => writeFileSync(file, garbage(5_000)))],
  ['a segment is gone', inSegments((file) => rmSync(file))],
  ['a segment is empty', inSegments((file) => truncateSync(file))],
  ['a segment is cut', inSegments((file) => truncateSync(file, 3_000))],
  ['a segment is garbage at its beginning', inSegments((file) => overwrite(file, 0, garbage(50)))],
  ['a segment is garbage in the middle', inSegments((file) => overwrite(file, 4_000, garbage(2_000)))],
  ['a segment is a folder', inSegments((file) => rmSync(file) ?? mkdirSync(file))],
  ['there are segments that do not count', inFile('other.segment', (file) => writeFileSync(file, garbage(5_000)))],
  ['the names of segments are lost', sql('DELETE FROM segments')],
  ['checksums of segments are lost', sql("UPDATE segments SET sums = x''")],
  ['search.json is gone', inFile('search.json', (file) => rmSync(file, { force: true }))],
  ['search.json is empty', inFile('search.json', (file) => writeFileSync(file, ''))],
  ['search.json is half written', inFile('search.json', (file) => existsSync(file) && truncateSync(file, 3_000))],
  ['search.json is garbage', inFile('search.json', (file) => writeFileSync(file, garbage(5_000)))],
  ['search.json is a folder', inFile('search.json', (file) => rmSync(file, { force: true }) ?? mkdirSync(file))],
  [
    'search.json says other numbers',
    inFile('search.json', (file) => {
      if (existsSync(file)) writeFileSync(file, readFileSync(file, 'utf8').replaceAll(':1', ':2'))
    }),
  ],
  [
    'search.json is of another version of MiniSearch',
    inFile('search.json', (file) => {
      if (!existsSync(file)) return
      writeFileSync(file, readFileSync(file, 'utf8').replace(/"serializationVersion":\d+/, '"serializationVersion":1'))
    }),
  ],
]

describe.each(['minisearch', 'segments'] as const)('%s', (engine) => {
  let answers: unknown[]
  beforeEach(() => {
    answers ??= expected(engine)
  })

  test.each(damages)('where %s, the index is made whole again', (_, damage) => {
    for (const end of ['closed', 'killed'] as const) {
      const directory = left(engine, end)
      damage(directory)
      for (const round of ['made whole', 'opened again']) {
        const client = new IndexClient(directory, { engine })
        client.follow(now)
        expect(client.answers(), `${end}, ${round}`).toEqual(answers)
        client.close()
      }
    }
  })
})

const seen =
  /^(?:a segment is|checksums|search\.db (?:is garbage|has garbage in|has zeros|has a catalog|has no catalog))/
test.each(damages.filter(([name]) => seen.test(name)))('where %s, a check says so and removes nothing', (_, damage) => {
  const directory = left('segments', 'closed')
  const { problems, versions } = checkIndex(directory) ?? {}
  expect([problems, versions?.size]).toEqual([[], now.length])
  damage(directory)
  const files = readdirSync(directory)
  expect(checkIndex(directory)?.problems).not.toEqual([])
  expect(readdirSync(directory)).toEqual(expect.arrayContaining(files))
})
