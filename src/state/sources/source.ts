import type { Kysely, Transaction } from 'kysely'
import { z } from 'zod'
import { isInternal } from '../../rules/access/audience.ts'
import { type Camel, camelCase, snakeCase } from '../database/row-values.ts'
import type { RowOf, Schema } from '../database/schema.ts'
import { findRows } from '../database/store.ts'

/** Uploaded file with the state of its ingest. */
export type Source = Omit<Camel<RowOf<'sources'>>, 'uploaderId' | 'uploaderName' | 'isForced' | 'warnings'> & {
  uploader: { id: string; name: string }
  /** Losses and fallbacks of the last ingest, for people. */
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

export type NewSource = Omit<
  Source,
  'seq' | 'attempt' | 'createdAt' | 'extractedAt' | 'archivedAt' | 'editionOf' | 'warnings'
>

/** Thrown if the knowledge base already has a Source with the same bytes. */
export class SourceExists extends Error {
  readonly existing: Source

  constructor(existing: Source) {
    super(`Source ${existing.id} has the same bytes.`)
    this.existing = existing
  }
}

export type AddOptions = {
  /** True to add the Source even if its bytes are there already. */
  force: boolean
  /** True to make it the next edition of the document with its folder and name. */
  replace: boolean
  /** Returns true for Sources that the uploader may know of. Others do not exist for the uploader. */
  isVisible: (source: Source) => boolean
}

/**
 * Adds a Source with the next number of its knowledge base. Must run in a transaction that has locked the knowledge base's row.
 * @throws {SourceExists}
 */
export async function insertSource(
  transaction: Transaction<Schema>,
  source: NewSource,
  now: Date,
  { force, replace, isVisible }: AddOptions,
): Promise<Source> {
  const duplicates = await sourcesWithBytes(transaction, source.kbId, source.contentHash)
  const existing = force ? undefined : duplicates.find(isVisible)
  if (existing !== undefined) throw new SourceExists(existing)
  const before = replace ? await editionBefore(transaction, source, isVisible) : undefined
  const last = await transaction
    .selectFrom('sources')
    .select((select) => select.fn.max<number | null>('seq').as('seq'))
    .where('kb_id', '=', source.kbId)
    .executeTakeFirst()
  const { uploader, ...rest } = source
  const row = await transaction
    .insertInto('sources')
    .values({
      ...snakeCase(rest),
      ...{ uploader_id: uploader.id, uploader_name: uploader.name, seq: (last?.seq ?? 0) + 1, attempt: 0 },
      tags: before === undefined ? source.tags : tagsOfNext(before, source),
      // A Source that the uploader does not know of is not reported as a duplicate.
      is_forced: Number(force || duplicates.length > 0),
      ...{ created_at: now.toISOString(), edition_of: before?.editionOf ?? source.id, warnings: '[]' },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toSource(row)
}

/**
 * Returns the newest edition of the document with a new Source's folder and name. Skips documents of which any edition, ingested
 * or not, is invisible to the uploader. Prefers an internal document to a visible one, which may have been added by a user who
 * does not know of the internal one.
 */
async function editionBefore(
  db: Kysely<Schema>,
  { kbId, path, filename }: NewSource,
  isVisible: (source: Source) => boolean,
): Promise<Source | undefined> {
  const rows = await findRows(db, 'sources', { kb_id: kbId, path, filename, archived_at: null }, 'seq')
  const editions = rows.reverse().map(toSource)
  const hidden = new Set(editions.filter((source) => !isVisible(source)).map(({ editionOf }) => editionOf))
  const known = editions.filter(({ editionOf }) => !hidden.has(editionOf))
  return known.find((source) => isInternal(tagsOf(source))) ?? known[0]
}

/** Returns the tags of an edition: its own, and those of the previous one that hide it from all but curators. */
function tagsOfNext(before: Pick<Source, 'tags'>, { tags }: Pick<Source, 'tags'>): string | null {
  const kept = tagsOf(before).filter((tag) => isInternal([tag]))
  const all = [...new Set([...tagsOf({ tags }), ...kept])]
  return all.length === 0 ? null : all.join(',')
}

/** Returns the Sources of a knowledge base with these bytes that are not archived, oldest first. */
export async function sourcesWithBytes(db: Kysely<Schema>, kbId: string, contentHash: string): Promise<Source[]> {
  const known = { content_hash: contentHash, kb_id: kbId, archived_at: null }
  return (await findRows(db, 'sources', known, 'seq')).map(toSource)
}
