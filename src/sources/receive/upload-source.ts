import { rm } from 'node:fs/promises'
import { v7 as uuidv7 } from 'uuid'
import { maxUploadBytes, SourceAnswer, type UploadQuery } from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { FileType } from '../../rules/kb-settings.ts'
import { receiveFile, TooManyBytes } from '../../state/blobs/receive-file.ts'
import { runIdempotent } from '../../state/run-idempotent.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import { findKb, sourceTypes } from '../find-source.ts'
import { toSourceAnswer } from '../read-source.ts'
import { readFilename, readPath, readSourceMetadata, type SourceDraft } from '../source-draft.ts'
import { storeSource } from './store-source.ts'

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
