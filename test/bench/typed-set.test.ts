import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { benchTyped } from '../../bench/quality/typed.ts'
import { readTsv, readTypedSet } from '../../bench/quality/typed-set.ts'
import { tempDir } from '../support/temp.ts'

test('a line is a kind, a query and its right pages', () => {
  expect(readTsv('kind\tquery\tpages\nword\ttags\ta | b/c\n\n')).toEqual([
    { kind: 'word', q: 'tags', right: ['a', 'b/c'] },
  ])
  expect(() => readTsv('kind\tquery\tpages\nword\ttags\n')).toThrow()
})

test('a folder gets the set whose right pages it has, and every query is judged', () => {
  const folder = tempDir()
  expect(() => readTypedSet(folder)).toThrow(`No set of queries is about the pages in ${folder}.`)
  const set = new URL('../../bench/quality/typed/obsidian.tsv', import.meta.url)
  const queries = readTsv(readFileSync(set, 'utf8'))
  for (const path of new Set(queries.flatMap(({ right }) => right))) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, `${path}.md`), `About ${path}.`)
  }
  expect(readTypedSet(folder)).toEqual({ name: 'obsidian', queries })
  const lines = benchTyped([folder])
  const [, , count] = /^\| all \| (\d+) \| (\d+) \|/m.exec(lines.join('\n')) ?? []
  expect(lines.find((line) => line.startsWith('| all |'))).toContain(`| ${queries.length} |`)
  expect(Number(count)).toBeGreaterThan(0)
})
