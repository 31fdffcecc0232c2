import { z } from 'zod'
import { type Camel, camelCase } from '../database/row-names.ts'
import type { RowOf } from '../database/schema.ts'

/** An uploaded file and the state of its ingest. */
export type Source = Omit<Camel<RowOf<'sources'>>, 'uploaderId' | 'uploaderName' | 'isForced' | 'warnings'> & {
  uploader: { id: string; name: string }
  /** Losses and fallbacks of its last ingest, for people. */
  warnings: string[]
}

export function tagsOf({ tags }: Pick<Source, 'tags'>): string[] {
  return tags === null ? [] : tags.split(',').filter((tag) => tag !== '')
}

/** Returns the Source of a row. */
export function toSource({ uploader_id: id, uploader_name: name, ...row }: RowOf<'sources'>): Source {
  const { isForced: _, warnings, ...source } = camelCase(row)
  return { ...source, uploader: { id, name }, warnings: z.array(z.string()).parse(JSON.parse(warnings)) }
}
