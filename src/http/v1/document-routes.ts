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
import { listSources } from '../../sources/list-sources.ts'
import { readSource, sourceContent } from '../../sources/read-source.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/error-answer.ts'
import { answerFile } from '../response/file-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forCurators = describing('Sources', { roles: ['curator'] })
const forReaders = describing('Sources', { roles: ['curator'], people: 'reader' })
const forWriters = describing('Sources', { roles: ['app', 'curator'] })

export function documentRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/documents',
    forCurators({
      operationId: 'listSources',
      summary: 'List the Sources',
      description:
        'Returns a page of the Sources of a knowledge base. Fails with `not_found` if the knowledge base does not ' +
        'exist, and with 400 if no response had this `cursor`.',
      params: KbPath,
      querystring: SourceQuery,
      response: { 200: SourcePage, ...readErrors('insufficient_role') },
    }),
    (request) => listSources(ctx, callerOf(request), request.params.kbId, request.query),
  )

  app.get(
    '/documents/:docId',
    forReaders({
      operationId: 'readSource',
      summary: 'Read a Source',
      description:
        'Returns a Source with its status and its origin, also if it is archived. Fails with `not_found` if it does not ' +
        'exist or the caller may not see it.',
      params: DocumentPath,
      response: { 200: SourceDetail, ...readErrors('insufficient_role') },
    }),
    (request) => readSource(ctx, callerOf(request), request.params.docId),
  )

  app.get(
    '/documents/:docId/content',
    forCurators({
      operationId: 'readSourceContent',
      summary: 'Download a Source',
      description:
        'Returns the bytes as uploaded, or one range of them with the header `Range`. A browser saves the file and does ' +
        'not show it. Fails with `not_found` if the Source does not exist, and with `range_not_satisfiable` if the ' +
        'range does not fit the file.',
      params: DocumentPath,
      response: {
        200: { description: 'The whole file.', content: { 'application/octet-stream': { schema: FileBytes } } },
        206: { description: 'The requested range.', content: { 'application/octet-stream': { schema: FileBytes } } },
        ...readErrors('insufficient_role', 'range_not_satisfiable'),
      },
    }),
    async (request, reply) => {
      const content = await sourceContent(ctx, callerOf(request), request.params.docId)
      return answerFile(request, reply, content)
    },
  )

  app.delete(
    '/documents/:docId',
    forCurators({
      operationId: 'archiveSource',
      summary: 'Archive a Source',
      description:
        'Archives a Source and cancels its waiting ingest. Its Neurons stay, and its bytes can be uploaded again. ' +
        'Idempotent: archiving an archived Source changes nothing. Fails with `already_processing` while an ingest runs, and with `not_found` if the Source does ' +
        'not exist.',
      params: DocumentPath,
      response: {
        204: z.null().describe('The Source is archived.'),
        ...writeErrors('insufficient_role', 'already_processing'),
      },
    }),
    async (request, reply) => {
      await archiveSource(ctx, callerOf(request), request.params.docId)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/documents/:docId/ingest',
    forWriters({
      operationId: 'ingestSource',
      summary: 'Ingest a Source again',
      description:
        'Queues another ingest of a Source whose last one has ended. An upload queues the first one, so that a Source ' +
        'that is `ready` is accepted as it is. Not idempotent: fails with `already_processing` while the file of a ' +
        '`pending` Source is read, or an ingest runs. Fails with `not_a_source` for a Neuron, and ' +
        'with `not_found` if the Source does not exist or is archived.',
      params: DocumentPath,
      response: {
        202: IngestReceipt,
        ...writeErrors('insufficient_role', 'not_a_source', 'already_processing'),
      },
    }),
    async (request, reply) => reply.code(202).send(await ingestDocument(ctx, callerOf(request), request.params.docId)),
  )
}
