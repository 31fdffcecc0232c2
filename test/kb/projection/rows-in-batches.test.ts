import { expect, test } from 'vitest'
import { filesInFolder, neuronsBeside, neuronsInFolder } from '../../../src/kb/projection/file-queries.ts'
import {
  everyLink,
  everyName,
  linksByBareKey,
  linksByKey,
  namesThatBegin,
  namesWithWord,
} from '../../../src/kb/projection/link-queries.ts'
import { versionsBetween } from '../../../src/kb/projection/main-changes.ts'
import { everyTreeRow, neuronsInOrder } from '../../../src/kb/projection/neuron-queries.ts'
import { rowsInBatches } from '../../../src/kb/projection/sql-query.ts'
import { fc, runs } from '../../support/properties.ts'
import { neuronText, writtenBed } from '../support/written-neurons.ts'

const pages = 400

test('rows in batches are all rows, each once and in order', () => {
  const holds = fc.property(fc.integer({ min: 0, max: 5_000 }), (count) => {
    const all = Array.from({ length: count }, (_, at) => at)
    const read = (last = -1, limit: number) => all.slice(last + 1, last + 1 + limit)
    expect([...rowsInBatches<number>(read)]).toEqual(all)
  })
  fc.assert(holds, { numRuns: runs(100) })
})

test('every query in batches gives the rows that one statement counts, also where many have one key', async () => {
  const text = (number: number) =>
    neuronText(
      number,
      { title: 'Same title', aliases: ['Same', `Other ${number % 3}`] },
      '[[Same]] [[./neurons/p0001]]',
    )
  const numbers = Array.from({ length: pages }, (_, at) => at + 1)
  const { ctx, curator, write } = await writtenBed(
    Object.fromEntries(numbers.map((number) => [`p${String(number).padStart(4, '0')}.md`, text(number)])),
  )
  write(Object.fromEntries(numbers.map((number) => [`f${number}.txt`, 'File.'])))
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  await kb.sync()
  const { read: sql } = kb.projection
  const counted = (row: Record<string, unknown> | undefined) => Number(row?.count)
  const distinct = (rows: Iterable<unknown>) => new Set(Array.from(rows, (row) => JSON.stringify(row))).size
  const links = counted(sql.get`SELECT count(*) AS count FROM links`)
  const { key: bareKey, count: bare } =
    sql.get`SELECT bare_key AS key, count(*) AS count FROM links WHERE bare_key IS NOT NULL` ?? {}
  expect([links, bare]).toEqual([2 * pages, pages])
  expect(Array.from(everyLink(sql))).toHaveLength(links)
  expect(distinct(linksByKey(sql, 'same'))).toBe(pages)
  expect(distinct(linksByBareKey(sql, String(bareKey)))).toBe(bare)
  expect(distinct(everyName(sql))).toBe(counted(sql.get`SELECT count(*) AS count FROM names`))
  expect(distinct(namesThatBegin(sql, 'same'))).toBe(2 * pages)
  expect(distinct(namesWithWord(sql, 'title'))).toBe(pages)
  for (const sort of ['seqId', 'updatedAt', '-updatedAt'] as const) {
    expect(distinct(neuronsInOrder(sql, { sort }))).toBe(pages)
  }
  for (const query of [everyTreeRow(sql), neuronsInFolder(sql, 'neurons/'), neuronsBeside(sql, 'neurons/')]) {
    expect(distinct(query)).toBe(pages)
  }
  expect(distinct(filesInFolder(sql, 'neurons/'))).toBe(pages)
  const versions = counted(sql.get`SELECT count(*) AS count FROM versions`)
  expect(Array.from(versionsBetween(sql, 0, 1_000))).toHaveLength(versions)
})
