import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** A query as people type it, and its right answers: any of some pages, by their paths in the manual without `.md`. */
export type TypedQuery = { kind: string; q: string; right: readonly string[] }

const sets = new URL('./typed/', import.meta.url)
const Line = z.tuple([z.string().min(1), z.string().min(1), z.string().min(1)])

/**
 * Reads the set of queries whose right pages are all in a manual's folder.
 * @throws when there is none, or a line is not what it should be.
 */
export function readTypedSet(folder: string): { name: string; queries: TypedQuery[] } {
  for (const file of readdirSync(sets)) {
    const queries = readTsv(readFileSync(new URL(file, sets), 'utf8'))
    const isOfFolder = queries.every(({ right }) => right.every((path) => existsSync(join(folder, `${path}.md`))))
    if (isOfFolder) return { name: file.replace(/\.tsv$/, ''), queries }
  }
  throw new Error(`No set of queries is about the pages in ${folder}.`)
}

/** Lines of kind, query and right pages with tabs between, below a heading. */
export function readTsv(tsv: string): TypedQuery[] {
  const lines = tsv.split(/\r?\n/).slice(1)
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [kind, q, pages] = Line.parse(line.split('\t'))
      return { kind, q, right: pages.split(' | ') }
    })
}
