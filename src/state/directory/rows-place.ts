import { existsSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readIfThere } from '../../system/read-if-there.ts'
import { isPostgresAddress, nameOfAddress } from '../database/engines/postgres-address.ts'
import type { KbRecord, KnowledgeBases } from '../kb-store.ts'
import type { DataDirectory } from './data-directory.ts'

/** Location of the rows that belong to a data directory. `address`: of a PostgreSQL database; undefined: a file in the directory. */
type RowsPlace = { directory: DataDirectory; address: string | undefined }

/** Rules for a data directory. `isCache`: true if the directory contains only copies of data that nodes share in a bucket, so that any directory will do. */
type Required = { mayCreate: boolean; isCache: boolean }

/**
 * Rejects a data directory whose rows are in a PostgreSQL database that the settings do not name, or in a file although they name one, and
 * one without rows or repositories unless they may be created: a command would work on nothing, and report success.
 * @throws {Error} with a sentence for a person
 */
export function requireRows({ directory, address }: RowsPlace, { mayCreate, isCache }: Required): void {
  const { root, database, repositories, rowsMark } = directory
  const elsewhere = readIfThere(rowsMark)
  const missing = address === undefined ? database : repositories
  if (address !== undefined && elsewhere === undefined && existsSync(database)) {
    throw new Error(
      `The rows of ${root} are in its ganglion.db, but GANGLION_DATABASE is set: run the command without it. If a restore was cut off, ` +
        'run "ganglion restore" again with the same backup and settings. To move the rows to PostgreSQL, restore a backup into an empty data ' +
        'directory. If ganglion.db is left from before that, move it away.',
    )
  }
  if (address === undefined && elsewhere !== undefined) {
    throw new Error(
      `The rows of ${root} are in the PostgreSQL database ${elsewhere.trim()}, and GANGLION_DATABASE is not set: run the command with the ` +
        "server's settings.",
    )
  }
  if (mayCreate || isCache || existsSync(missing)) return
  throw new Error(
    existsSync(root)
      ? `${root} is no data directory: it has no ${basename(missing)}. Name the one of the server with --data.`
      : `There is no data directory ${root}: make one with "ganglion serve" or "ganglion kb create".`,
  )
}

/**
 * Rejects a data directory without any repository of the knowledge bases in a PostgreSQL database: it belongs to another server.
 * @returns knowledge bases whose repositories are missing although others are there
 * @throws {Error} with a sentence for a person
 */
export async function requireRepositories(
  { directory, address }: RowsPlace,
  knowledgeBases: KnowledgeBases,
): Promise<KbRecord[]> {
  if (address === undefined || !isPostgresAddress(address)) return []
  const known = await knowledgeBases.all()
  const missing = known.filter(({ id }) => !existsSync(directory.repository(id)))
  if (missing.length < known.length || known.length === 0) return missing
  throw new Error(
    `The PostgreSQL database ${nameOfAddress(address)} has knowledge bases (${known.length}), and ${directory.repositories} has the repository ` +
      'of none of them: they are in the data directory of another server. Name that directory with --data or GANGLION_DATA, once its server ' +
      'has ended. Several servers share a database only with GANGLION_OBJECTS: make a backup, and restore it with that setting. If the ' +
      'repositories are lost, restore a backup into an empty database and an empty data directory.',
  )
}

/** Records in a data directory that its rows are in a PostgreSQL database. */
export function noteRowsPlace({ directory, address }: RowsPlace): void {
  if (address === undefined || !isPostgresAddress(address)) return
  const text = `${nameOfAddress(address)}\n`
  if (readIfThere(directory.rowsMark) !== text) writeFileSync(directory.rowsMark, text, { mode: 0o600 })
}
