import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Projection, type ProjectionHeads, projectionFile } from '../kb/projection/projection.ts'
import { copyDatabase } from '../state/database/engines/sqlite.ts'

/** Projection at one moment, independent of its writers. */
export type StoredProjection = { file: string; heads: ProjectionHeads; lost: ProjectionHeads }

/** Copies the projection of an index folder into another; undefined if there is none. Throws SQLite's error for a damaged file. */
export function copyProjection(indexDir: string, targetDir: string): StoredProjection | undefined {
  const stored = join(indexDir, projectionFile)
  if (!existsSync(stored)) return undefined
  const file = join(targetDir, projectionFile)
  copyDatabase(stored, file)
  const projection = new Projection(file)
  try {
    return { file, heads: projection.heads(projection.read), lost: projection.lostHeads(projection.read) }
  } finally {
    projection.close()
  }
}
