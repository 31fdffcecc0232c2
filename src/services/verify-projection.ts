import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { oneLine } from '../knowledge/text.ts'
import { compareProjections, type RowSample, type TableDifference } from '../store/compare-projections.ts'
import { copyDatabase } from '../store/copy-database.ts'
import { Projection, type ProjectionHeads, projectionFile } from '../store/projection.ts'

/** A projection as it was at one moment, whoever is writing to it. */
export type StoredProjection = { file: string; heads: ProjectionHeads; lost: ProjectionHeads }

/** Copies the projection of an index folder; nothing where there is none. Throws SQLite's error for a damaged file. */
export function copyProjection(indexDir: string, scratch: string): StoredProjection | undefined {
  const stored = join(indexDir, projectionFile)
  if (!existsSync(stored)) return undefined
  const file = join(scratch, 'stored.db')
  copyDatabase(stored, file)
  const projection = new Projection(file)
  try {
    return { file, heads: projection.heads(projection.read), lost: projection.lostHeads(projection.read) }
  } finally {
    projection.close()
  }
}

/** Where the rows of a stored projection are not what git says. */
export function differences(stored: StoredProjection, rebuilt: string): string[] {
  return compareProjections(stored.file, rebuilt).map(describe)
}

function describe({ table, onlyLeft, onlyRight }: TableDifference): string {
  const side = ({ count, rows }: RowSample, whose: string) =>
    `${count} rows only in ${whose}${count === 0 ? '' : ` (${oneLine(rows.join(' '), 1000)})`}`
  return `${table} is not what git says: ${side(onlyLeft, 'the index')}, ${side(onlyRight, 'a rebuild')}`
}
