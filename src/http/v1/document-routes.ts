import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import {
  DocumentPath,
  FileBytes,
  IngestReceipt,
  SourceDetail,
  SourcePage,
  SourceQuery,
} from '../../contract/documents.ts'
import { KbPath } from '../../contract/search.ts'
import { archiveSource } from '../../sources/ingest/archive-source.ts'
import { ingestDocument } from '../../sources/ingest/ingest-document.ts'
import { listSources, readSource, sourceContent } from '../../sources/read-source.ts'
import { answerFile } from '../response/file-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function documentRoutes(app: ZodFastify, ctx: AppContext): void {
  const forCurators = operationsOf(app, ctx, 'Sources', { roles: ['curator'] })
  const forReaders = operationsOf(app, ctx, 'Sources', { roles: ['curator'], people: 'reader' })
  const forWriters = operationsOf(app, ctx, 'Sources', { roles: ['app', 'curator'] })

  forCurators.get('/knowledge-bases/:kbId/documents', {
    operationId: 'listSources',
    summary: 'List the Sources',
    description:
      'Returns a page of the Sources of a knowledge base. Fails with `not_found` if the knowledge base does not ' +
      'exist, and with 400 if no response had this `cursor`.',
    params: KbPath,
    querystring: SourceQuery,
    answers: { 200: SourcePage },
    run: ({ ctx, caller, params, query }) => listSources(ctx, caller, params.kbId, query),
  })

  forReaders.get('/documents/:docId', {
    operationId: 'readSource',
    summary: 'Read a Source',
    description:
      'Returns a Source with its status and its origin, also if it is archived. Fails with `not_found` if it does not ' +
      'exist or the caller may not see it.',
    params: DocumentPath,
    answers: { 200: SourceDetail },
    run: ({ ctx, caller, params }) => readSource(ctx, caller, params.docId),
  })

  forCurators.get('/documents/:docId/content', {
    operationId: 'readSourceContent',
    summary: 'Download a Source',
    description:
      'Returns the bytes as uploaded, or one range of them with the header `Range`. A browser saves the file and does ' +
      'not show it. Fails with `not_found` if the Source does not exist, and with `range_not_satisfiable` if the ' +
      'range does not fit the file.',
    params: DocumentPath,
    answers: {
      200: { description: 'The whole file.', content: { 'application/octet-stream': { schema: FileBytes } } },
      206: { description: 'The requested range.', content: { 'application/octet-stream': { schema: FileBytes } } },
    },
    errors: ['range_not_satisfiable'],
    run: async ({ ctx, caller, params, request, reply }) =>
      answerFile(request, reply, await sourceContent(ctx, caller, params.docId)),
  })

  forCurators.delete('/documents/:docId', {
    operationId: 'archiveSource',
    summary: 'Archive a Source',
    description:
      'Archives a Source and cancels its waiting ingest. Its Neurons stay, and its bytes can be uploaded again. ' +
      'Idempotent: archiving an archived Source changes nothing. Fails with `already_processing` while an ingest runs, and with `not_found` if the Source does ' +
      'not exist.',
    params: DocumentPath,
    answers: {
      204: z.null().describe('The Source is archived.'),
    },
    errors: ['already_processing'],
    run: ({ ctx, caller, params }) => archiveSource(ctx, caller, params.docId),
  })

  forWriters.post('/documents/:docId/ingest', {
    operationId: 'ingestSource',
    summary: 'Ingest a Source again',
    description:
      'Queues another ingest of a Source whose last one has ended. An upload queues the first one, so that a Source ' +
      'that is `ready` is accepted as it is. Not idempotent: fails with `already_processing` while the file of a ' +
      '`pending` Source is read, or an ingest runs. Fails with `not_a_source` for a Neuron, and ' +
      'with `not_found` if the Source does not exist or is archived.',
    params: DocumentPath,
    answers: {
      202: IngestReceipt,
    },
    errors: ['not_a_source', 'already_processing'],
    run: ({ ctx, caller, params }) => ingestDocument(ctx, caller, params.docId),
  })
}
