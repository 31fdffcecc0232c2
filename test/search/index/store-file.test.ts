import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { isDamage, openSound } from '../../../src/search/index/store-file.ts'
import { tempDir } from '../../support/temp.ts'

/** A file with a small table, and a big one of which the pages in the middle are zeros. */
function damagedFile(): string {
  const file = join(tempDir(), 'some.db')
  const db = new DatabaseSync(file)
  db.exec('CREATE TABLE small (x); INSERT INTO small VALUES (1); CREATE TABLE big (x)')
  const insert = db.prepare('INSERT INTO big VALUES (?)')
  for (let n = 0; n < 100; n++) insert.run('x'.repeat(1000))
  db.close()
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0, 5 * 4096, 15 * 4096))
  return file
}

test('a damaged table of a small file is found when the file is opened', () => {
  expect(() => openSound(damagedFile(), { bigTables: ['big'] })).toThrow()
})

test('a damaged table of a big file is found when it is read', () => {
  const db = openSound(damagedFile(), { bigTables: ['big'], limit: 10_000 })
  expect(db.prepare('SELECT x FROM small').get()).toEqual({ x: 1 })
  expect(() => db.prepare('SELECT sum(length(x)) FROM big').get()).toThrow(expect.toSatisfy(isDamage))
  db.close()
})

test('a damaged table that does not grow is found in a big file, too', () => {
  expect(() => openSound(damagedFile(), { limit: 10_000 })).toThrow()
})
