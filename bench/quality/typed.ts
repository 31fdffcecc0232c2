import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChunks } from '../../src/markdown/chunks/chunks.ts'
import { parseNeuronFile, shownContent } from '../../src/markdown/file/neuron-file.ts'
import { fileTitle, neuronTitle } from '../../src/markdown/neuron-title.ts'
import { KbIndex } from '../../src/search/kb-index.ts'
import type { IndexedDocument, Scope } from '../../src/search/search-index.ts'
import { readTypedSet } from './typed-set.ts'

const scope: Scope = { audience: 'curator', defaultAudience: [], limit: 10 }

/** Counts the queries of each kind that find a right page first, among the first three and the first ten, and lists the others. */
export function benchTyped(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => [...found(folder), ''])
}

function found(folder: string): string[] {
  const { name, queries } = readTypedSet(folder)
  const index = indexOf(folder)
  const byKind = Map.groupBy(
    queries.map((query) => ({ ...query, place: placeOf(query.q, query.right, index) })),
    ({ kind }) => kind,
  )
  index.close()
  const rows = [...byKind, ['all', [...byKind.values()].flat()] as const].map(([kind, asked]) => {
    const within = (limit: number) => asked.filter(({ place }) => place < limit).length
    return `| ${kind} | ${asked.length} | ${within(1)} | ${within(3)} | ${within(10)} |`
  })
  const missed = [...byKind.values()].flat().filter(({ place }) => place >= 3)
  return [
    `${name}, ${folder}:`,
    '',
    '| kind | queries | first | in the top three | in the top ten |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    'Not in the top three:',
    '',
    ...missed.map(
      ({ kind, q, place }) => `- ${kind}: ${q} (${Number.isFinite(place) ? place + 1 : 'not in the top ten'})`,
    ),
  ]
}

/** Returns the number of hits before the first right page; infinity if it is not among the first ten. */
function placeOf(q: string, right: readonly string[], index: KbIndex): number {
  const at = index.search(q, scope).hits.findIndex(({ key }) => right.includes(key))
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

function indexOf(folder: string): KbIndex {
  const directory = mkdtempSync(join(tmpdir(), 'ganglion-typed-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const index = new KbIndex(directory, { language: 'en', engine: 'minisearch' })
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))
  index.apply({ put: paths.map((path) => pageOf(path, readFileSync(join(folder, path), 'utf8'))), remove: [] })
  return index
}

/** A page as an import of the manual would give it to the index. */
function pageOf(path: string, text: string): IndexedDocument {
  const file = parseNeuronFile(text)
  const title = neuronTitle(file, path)
  const name = fileTitle(path)
  return {
    key: path.replace(/\.md$/, ''),
    kind: 'wiki',
    version: '1',
    title,
    aliases: name === title ? file.fields.aliases : [...file.fields.aliases, name],
    tags: file.fields.tags,
    audience: undefined,
    note: undefined,
    chunks: findChunks(shownContent(file)).chunks,
  }
}
