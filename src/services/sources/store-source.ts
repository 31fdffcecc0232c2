import type { Transaction } from 'kysely'
import { textFileTypes } from '../../contract/documents.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { ReceivedFile } from '../../files/received-file.ts'
import type { Schema } from '../../store/database/schema.ts'
import { SourceExists } from '../../store/sources/insert-source.ts'
import type { Source } from '../../store/sources/source.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { formatProblem } from './format-problem.ts'
import type { SourceDraft } from './source-draft.ts'
import { sourceSight } from './source-sight.ts'

export type StoreOptions = {
  /** For the Source. */
  id: string
  kbId: string
  /** Also where the knowledge base has the bytes. */
  force: boolean
  /** As the next edition of what stands at its place under its name. */
  replace: boolean
  /** Written together with the Source. */
  together?: (transaction: Transaction<Schema>) => Promise<void>
}

const textTypes: ReadonlySet<string> = new Set(textFileTypes)

/**
 * Makes a Source of a file that was received, tells of it and puts its ingest into the queue, all of it or nothing; a Source that
 * cannot be read as what its name says has failed, and stays out of the queue. The file is the caller's to remove.
 * @throws {GanglionError} `duplicate_source`
 */
export async function storeSource(
  ganglion: Ganglion,
  caller: Caller,
  file: ReceivedFile,
  draft: SourceDraft,
  { id, kbId, force, replace, together }: StoreOptions,
): Promise<Source> {
  const { blobs, sources, jobs, now } = ganglion
  const errorMessage = (await formatProblem(file.path, draft.fileType)) ?? null
  const whenReadable = textTypes.has(draft.fileType) ? 'ready' : 'pending'
  const status = errorMessage === null ? whenReadable : 'failed'
  const { tenantId } = caller
  const uploader = actorOf(caller)
  const content = { fileSize: file.size, contentHash: file.sha256 }
  const source = { ...draft, ...content, id, tenantId, kbId, status, errorMessage, uploader } as const
  const sees = await sourceSight(ganglion, caller, kbId)
  // Its own may have been made by another node.
  const isVisible = (other: Source) => other.id !== id && sees(other)
  if (!force) await refuseDuplicate(ganglion, { kbId, sha256: file.sha256, isVisible })
  return blobs.keep(file, async (note) => {
    try {
      return await sources.add(source, now(), {
        force,
        replace,
        isVisible,
        async together(transaction) {
          if (status !== 'failed') await jobs.within(transaction).enqueue({ documentId: id, tenantId, kbId }, now())
          await together?.(transaction)
          await note(transaction)
        },
      })
    } catch (error) {
      throw error instanceof SourceExists ? duplicateSource(error.existing) : error
    }
  })
}

/** @throws {GanglionError} `duplicate_source` if the knowledge base has these bytes in a visible Source that is not archived. */
export async function refuseDuplicate(
  { sources }: Ganglion,
  { kbId, sha256, isVisible }: { kbId: string; sha256: string; isVisible: (source: Source) => boolean },
): Promise<void> {
  const existing = await sources.findDuplicate(kbId, sha256, isVisible)
  if (existing !== undefined) throw duplicateSource(existing)
}

function duplicateSource({ id, filename, path, createdAt }: Source): GanglionError {
  return new GanglionError('duplicate_source', `The same bytes were uploaded as ${filename}.`, {
    existingDocumentId: id,
    existingFilename: filename,
    existingPath: path,
    existingCreatedAt: createdAt,
    hint: 'Append ?force=true to upload it anyway, as a separate Source.',
  })
}
