import { rm } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { maxUploadBytes, SourceAnswer, type UploadQuery, unreadStatus } from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { sourceSight } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import type { FileType } from '../../rules/kb-settings.ts'
import { receiveFile, TooManyBytes } from '../../state/blobs/receive-file.ts'
import type { Schema } from '../../state/database/schema.ts'
import { runIdempotent } from '../../state/run-idempotent.ts'
import { type Source, SourceExists } from '../../state/sources/source.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import { findKb, sourceTypes } from '../find-source.ts'
import { toSourceAnswer } from '../read-source.ts'
import { readFilename, readPath, readSourceMetadata, type SourceDraft } from '../source-draft.ts'

/** A part of a form. The bytes of a file must be read before the next part. */
export type FormPart =
  | { name: 'file'; filename: string; bytes: AsyncIterable<Uint8Array> }
  | { name: 'path' | 'metadata'; value: unknown }

type Form = { file: ReceivedFile; draft: SourceDraft }

/**
 * Receives a file from a form whose parts may be in any order. A rejected file leaves nothing behind.
 * @throws {GanglionError} `not_found`, `no_file`, `file_type_not_allowed`, `payload_too_large`, `duplicate_source`,
 *   `idempotency_key_reused`, and whatever the form throws
 * @throws {ValidationError}
 */
export async function uploadSource(
  ctx: Context,
  caller: Caller,
  kbName: string,
  form: AsyncIterable<FormPart>,
  { force, replace, idempotencyKey }: UploadQuery & { idempotencyKey?: string },
): Promise<SourceAnswer> {
  const { id: kbId } = await findKb(ctx, caller, kbName)
  const types = await sourceTypes(ctx, caller, kbId)
  return receiveForm(ctx.directory.incoming, form, types, ({ file, draft }) => {
    const request = {
      route: 'POST /api/v1/knowledge-bases/{kbId}/documents/upload',
      body: { kbId, force, replace, sha256: file.sha256, ...draft },
      idempotencyKey,
      newId: () => uuidv7(),
      parse: (answer: unknown) => SourceAnswer.parse(answer),
      committed: async (id: string) => {
        const stored = await ctx.sources.find(caller.tenantId, id)
        return stored && toSourceAnswer(stored)
      },
    }
    return runIdempotent(ctx, caller, request, async (id) =>
      toSourceAnswer(await storeSource(ctx, caller, file, draft, { id, kbId, force, replace })),
    )
  })
}

/** Receives a form's file into a folder for as long as `use` takes. */
async function receiveForm<Result>(
  directory: string,
  form: AsyncIterable<FormPart>,
  types: ReadonlySet<FileType>,
  use: (form: Form) => Promise<Result>,
): Promise<Result> {
  let file: ReceivedFile | undefined
  const values = new Map<FormPart['name'], unknown>()
  let named: ReturnType<typeof readFilename> | undefined
  try {
    for await (const part of form) {
      if (values.has(part.name)) throw new ValidationError({ [part.name]: ['must be given once'] })
      if (part.name === 'file') {
        values.set('file', part.filename)
        named = readFilename(part.filename, 'file', types)
        file = await receiveFile(part.bytes, directory, { maxBytes: maxUploadBytes })
      } else values.set(part.name, part.value)
    }
    if (file === undefined || named === undefined) throw new GanglionError('no_file')
    const path = readPath(values.get('path') ?? '/')
    const draft = { ...named, path, ...readSourceMetadata(values.get('metadata') ?? null) }
    return await use({ file, draft })
  } catch (error) {
    throw error instanceof TooManyBytes
      ? new GanglionError('payload_too_large', 'The file is larger than 100 MB: upload it in chunks.')
      : error
  } finally {
    if (file !== undefined) await rm(file.path, { force: true })
  }
}

type StoreOptions = {
  /** Id of the new Source. */
  id: string
  kbId: string
  /** Accepts bytes that the knowledge base already has. */
  force: boolean
  /** Makes it the next edition of the document with its folder and name. */
  replace: boolean
  /** Written together with the Source. */
  together?: (transaction: Transaction<Schema>) => Promise<void>
}

/**
 * Makes a Source from a received file, writes its event and enqueues its ingest, all or nothing. The caller removes the file.
 * @throws {GanglionError} `duplicate_source`, `quota_exceeded`, `not_found`
 */
export async function storeSource(
  ctx: Context,
  caller: Caller,
  file: ReceivedFile,
  draft: SourceDraft,
  { id, kbId, force, replace, together }: StoreOptions,
): Promise<Source> {
  const { blobs, sources, jobs, now } = ctx
  const status = unreadStatus(draft.fileType)
  const { tenantId } = caller
  const uploader = actorOf(caller)
  const content = { fileSize: file.size, contentHash: file.sha256 }
  const source = { ...draft, ...content, id, tenantId, kbId, status, errorMessage: null, uploader } as const
  const sees = await sourceSight(ctx, caller, kbId)
  // Another node may have made this very Source.
  const isVisible = (other: Source) => other.id !== id && sees(other)
  if (!force) await refuseDuplicate(ctx, { kbId, sha256: file.sha256, isVisible })
  await sources.requireRoom(tenantId, file.size)
  return blobs.keep(file, async (note) => {
    try {
      return await sources.add(source, now(), {
        force,
        replace,
        isVisible,
        async together(transaction) {
          await jobs.inTransaction(transaction).enqueue({ documentId: id, tenantId, kbId }, now())
          await together?.(transaction)
          await note(transaction)
        },
      })
    } catch (error) {
      throw error instanceof SourceExists ? duplicateSource(error.existing) : error
    }
  })
}

/** Rejects a duplicate. @throws {GanglionError} `duplicate_source` if a visible Source that is not archived has the same bytes */
export async function refuseDuplicate(
  { sources }: Context,
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
