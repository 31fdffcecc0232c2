import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DataDirectory } from '../../../../src/state/directory/data-directory.ts'
import { sha256Of } from './ingest-documents.ts'
import { readRows } from './ingest-rows.ts'

/** Ids of the processes that read documents of a data directory. */
export function extractorsOf(dataDir: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      const line = /^\d+$/.test(name) ? readFileSync(join('/proc', name, 'cmdline'), 'utf8') : ''
      return line.includes(dataDir) && line.includes('/ingest/extract/confined/child.')
    } catch {
      return false
    }
  })
}

/** Returns files that a killed server has left unfinished: none may exist once the next one has started. */
export function remains(dataDir: string, scratch: string): string[] {
  const { incoming, uploads, extracts } = DataDirectory.open(dataDir)
  const open = new Set(readRows(dataDir, 'SELECT id FROM uploads WHERE finalized_at IS NULL').map(({ id }) => id))
  const inside = (folder: string) => readdirSync(folder).map((name) => join(folder, name))
  return [
    ...inside(incoming),
    ...inside(scratch),
    ...inside(uploads).filter((path) => !open.has(basename(path))),
    ...inside(extracts).filter((path) => !path.endsWith('.json')),
  ]
}

/** The hashes of the blobs that are there, and those whose bytes are others. */
export function blobsOf(dataDir: string): { hashes: Set<string>; damaged: string[] } {
  const paths = blobPaths(dataDir)
  const damaged = paths.filter((path) => !path.endsWith(sha256Of(readFileSync(path))))
  return { hashes: new Set(paths.map((path) => path.slice(-64))), damaged }
}

/** Puts one more blob there that no Source names, and makes all of them as old as those of such that go. */
export function ageBlobs(dataDir: string): void {
  const bytes = Buffer.from('Nobody named this.')
  const hash = sha256Of(bytes)
  const folder = join(DataDirectory.open(dataDir).blobs, hash.slice(0, 2), hash.slice(2, 4))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, hash), bytes)
  const longAgo = Date.now() / 1000 - 25 * 60 * 60
  for (const path of blobPaths(dataDir)) utimesSync(path, longAgo, longAgo)
}

function blobPaths(dataDir: string): string[] {
  const { blobs } = DataDirectory.open(dataDir)
  const names = readdirSync(blobs, { recursive: true, encoding: 'utf8' })
  return names.map((name) => join(blobs, name)).filter((path) => statSync(path).isFile())
}
