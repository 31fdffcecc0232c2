import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { DataDirectory } from '../../../../src/state/directory/data-directory.ts'

export const SourceRow = z.object({
  id: z.string(),
  content_hash: z.string(),
  status: z.string(),
  error_message: z.string().nullable(),
  is_forced: z.number(),
  attempt: z.number(),
  created_at: z.string(),
  archived_at: z.string().nullable(),
})
export type SourceRow = z.infer<typeof SourceRow>

/** Queries the database of a data directory, whoever else uses it. */
export function readRows(dataDir: string, query: string): Record<string, unknown>[] {
  const database = new DatabaseSync(DataDirectory.open(dataDir).database, { readOnly: true })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

/** The Sources, in the order in which they came. */
export function sourceRows(dataDir: string): SourceRow[] {
  return z.array(SourceRow).parse(readRows(dataDir, 'SELECT * FROM sources ORDER BY seq'))
}
