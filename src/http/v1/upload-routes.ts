import multipart from '@fastify/multipart'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import {
  ContentRange,
  DuplicateSource,
  maxChunkBytes,
  SourceAnswer,
  UploadForm,
  UploadInput,
  UploadPath,
  UploadProgress,
  UploadQuery,
  UploadStatus,
  UploadTicket,
} from '../../contract/documents.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { KbPath } from '../../contract/search.ts'
import {
  abandonUpload,
  beginUpload,
  type ChunkRange,
  finalizeUpload,
  readUpload,
  receiveChunk,
} from '../../sources/receive/chunked-upload.ts'
import { uploadSource } from '../../sources/receive/upload-source.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency-header.ts'
import { formOptions, maxFormBytes, readForm } from '../request/upload-form.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

const roles = ['app', 'curator'] as const

export async function uploadRoutes(app: ZodFastify, ctx: AppContext): Promise<void> {
  wholeUploads(app, ctx)
  await app.register(async (forms: ZodFastify) => {
    await forms.register(multipart, formOptions)
    formUpload(forms, ctx)
  })
  await app.register(async (chunks: ZodFastify) => {
    chunks.removeAllContentTypeParsers()
    chunks.addContentTypeParser('*', (_request, _payload, done) => done(null))
    chunkUpload(chunks, ctx)
  })
}

function formUpload(app: ZodFastify, ctx: AppContext): void {
  operationsOf(app, ctx, 'Sources', { roles, upload: true }).post('/knowledge-bases/:kbId/documents/upload', {
    operationId: 'uploadSource',
    summary: 'Upload a Source',
    description:
      'Stores a file as a Source and queues its ingest. Upload a file of more than 100 MB in chunks. Idempotent with ' +
      'an `Idempotency-Key`. Fails with `no_file` without the part `file`, with `file_type_not_allowed` if the ' +
      'knowledge base does not accept the extension, with `payload_too_large` above the limit, with ' +
      '`duplicate_source` if the knowledge base already has these bytes and `force` is not set, and with ' +
      '`idempotency_key_reused` if the key was used for another request. A rejected file is not stored.',
    consumes: ['multipart/form-data'],
    params: KbPath,
    querystring: UploadQuery,
    headers: IdempotencyHeader,
    body: UploadForm,
    unchecked: ['body'],
    bodyLimit: maxFormBytes,
    answers: {
      201: SourceAnswer,
      409: DuplicateSource,
    },
    errors: ['no_file', 'file_type_not_allowed', 'idempotency_key_reused'],
    run: ({ ctx, caller, params, query, headers, request }) =>
      uploadSource(ctx, caller, params.kbId, readForm(request), { ...query, ...idempotencyOf(headers) }),
  })
}

function chunkUpload(app: ZodFastify, ctx: AppContext): void {
  operationsOf(app, ctx, 'Sources', { roles, upload: true }).patch('/uploads/:uploadId/chunk', {
    operationId: 'uploadChunk',
    summary: 'Upload a chunk',
    description:
      'Appends bytes to an upload; if the connection breaks, the received bytes are kept. Idempotent: a chunk that ' +
      'was received may be sent again with the same bytes. Fails with `offset_mismatch` if the chunk begins after ' +
      '`bytesReceived`, with `chunk_differs` if it repeats other bytes, with `range_not_satisfiable` if ' +
      '`Content-Range` does not fit the file, with `payload_too_large` above 8 MB, with `upload_finalized`, and with ' +
      '`upload_expired` after 24 hours.',
    consumes: ['application/octet-stream'],
    params: UploadPath,
    headers: ContentRange,
    body: z.string().meta({ description: 'The bytes; at most 8 MB.', examples: ['Open from nine to five.'] }),
    unchecked: ['body', 'headers'],
    bodyLimit: maxChunkBytes,
    answers: {
      200: UploadProgress,
    },
    errors: ['offset_mismatch', 'chunk_differs', 'upload_finalized', 'upload_expired', 'range_not_satisfiable'],
    run: async ({ ctx, caller, params, request }) => {
      const range = readContentRange(request.raw.headers['content-range'])
      if (range instanceof Error) {
        // A hidden upload is `not_found` also if the header is invalid.
        await readUpload(ctx, caller, params.uploadId)
        throw range
      }
      // Keeps the connection open for the response.
      const bytes = request.raw.iterator({ destroyOnReturn: false })
      return receiveChunk(ctx, caller, params.uploadId, range, bytes)
    },
  })
}

function wholeUploads(app: ZodFastify, ctx: AppContext): void {
  const forWriters = operationsOf(app, ctx, 'Sources', { roles })

  forWriters.post('/knowledge-bases/:kbId/documents/upload/init', {
    operationId: 'beginUpload',
    summary: 'Begin an upload in chunks',
    description:
      'Registers a file of at most 2 GB whose bytes follow in chunks within 24 hours. Idempotent with an ' +
      '`Idempotency-Key`. Fails with `file_type_not_allowed` if the knowledge base does not accept the extension, ' +
      'with `payload_too_large` above the limit, with `too_many_uploads` if 10 uploads of the tenant are active, with ' +
      '`duplicate_source` if the knowledge base already has these bytes and `force` is not set (with `contentHash`), ' +
      'and with `idempotency_key_reused` if the key was used for another request.',
    params: KbPath,
    querystring: UploadQuery,
    headers: IdempotencyHeader,
    body: UploadInput,
    answers: {
      201: UploadTicket,
      409: DuplicateSource,
    },
    errors: ['file_type_not_allowed', 'too_many_uploads', 'idempotency_key_reused'],
    run: ({ ctx, caller, params, query, headers, body }) =>
      beginUpload(ctx, caller, params.kbId, body, { ...query, ...idempotencyOf(headers) }),
  })

  forWriters.post('/uploads/:uploadId/finalize', {
    operationId: 'finalizeUpload',
    summary: 'Finalize an upload',
    description:
      'Makes a Source of the chunks and queues its ingest. Idempotent: finalizing again returns the same Source. ' +
      'Fails with `incomplete` if bytes are missing, with `hash_mismatch` if the bytes do not have `contentHash`, ' +
      'with `duplicate_source` if the knowledge base already has these bytes and `force` is not set, and with ' +
      '`upload_expired` after 24 hours.',
    params: UploadPath,
    querystring: UploadQuery,
    answers: {
      201: SourceAnswer,
      409: DuplicateSource,
    },
    errors: ['upload_expired', 'incomplete', 'hash_mismatch'],
    run: ({ ctx, caller, params, query }) => finalizeUpload(ctx, caller, params.uploadId, query),
  })

  forWriters.get('/uploads/:uploadId', {
    operationId: 'readUpload',
    summary: 'Read the progress of an upload',
    description:
      'Returns the number of received bytes and the status of an upload. Fails with `not_found` if it does not exist ' +
      'or another caller began it, and with `upload_expired` after 24 hours.',
    params: UploadPath,
    answers: { 200: UploadStatus },
    errors: ['upload_expired'],
    run: ({ ctx, caller, params }) => readUpload(ctx, caller, params.uploadId),
  })

  forWriters.delete('/uploads/:uploadId', {
    operationId: 'abandonUpload',
    summary: 'Abandon an upload',
    description:
      'Removes an upload and its bytes. A Source that it has become stays. Not idempotent: a second request fails ' +
      'with `not_found`. Fails with `upload_expired` after 24 hours.',
    params: UploadPath,
    answers: {
      204: z.null().describe('The upload is removed.'),
    },
    errors: ['upload_expired'],
    run: ({ ctx, caller, params }) => abandonUpload(ctx, caller, params.uploadId),
  })
}

function readContentRange(header: string | undefined): ChunkRange | Error {
  if (header === undefined) return new ValidationError({ 'content-range': ['is required'] })
  const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(header) ?? []
  if (total === undefined) return new GanglionError('range_not_satisfiable')
  return { first: Number(first), last: Number(last), total: Number(total) }
}
