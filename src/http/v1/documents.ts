import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { DocumentPath, IngestReceipt, SourceDetail, SourcePage, SourceQuery } from '../../contract/documents.ts'
import { KbPath } from '../../contract/search.ts'
import type { Role } from '../../contract/vocabulary.ts'
import { archiveSource } from '../../sources/archive-source.ts'
import { ingestDocument } from '../../sources/ingest/ingest-document.ts'
import { listSources } from '../../sources/list-sources.ts'
import { readSource, sourceContent } from '../../sources/read-source.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/errors.ts'
import { answerFile } from '../response/file-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'

const tags = ['Sources']
const writers: readonly Role[] = ['app', 'curator']
const curators: readonly Role[] = ['curator']

/** Adds the routes of Sources that are there. */
export function documentRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/documents',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'listSources',
        summary: 'List the Sources',
        params: KbPath,
        querystring: SourceQuery,
        response: { 200: SourcePage, ...readErrors('insufficient_role') },
      },
    },
    (request) => listSources(ctx, callerOf(request), request.params.kbId, request.query),
  )

  app.get(
    '/documents/:docId',
    {
      config: { roles: curators, people: 'reader' },
      schema: {
        tags,
        operationId: 'readSource',
        summary: 'Read what is known of a Source',
        params: DocumentPath,
        response: { 200: SourceDetail, ...readErrors('insufficient_role') },
      },
    },
    (request) => readSource(ctx, callerOf(request), request.params.docId),
  )

  app.get(
    '/documents/:docId/content',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'readSourceContent',
        summary: "Download a Source's bytes",
        description:
          'As they were uploaded, whole or, with the header `Range`, one range of them. Never to be shown in a page.',
        params: DocumentPath,
        response: {
          200: { description: 'The bytes.', content: { 'application/octet-stream': { schema: z.string() } } },
          206: { description: 'A range of them.', content: { 'application/octet-stream': { schema: z.string() } } },
          ...readErrors('insufficient_role', 'range_not_satisfiable'),
        },
      },
    },
    async (request, reply) => {
      const content = await sourceContent(ctx, callerOf(request), request.params.docId)
      return answerFile(request, reply, content)
    },
  )

  app.delete(
    '/documents/:docId',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'archiveSource',
        summary: 'Archive a Source',
        description: 'Its Neurons stay; its bytes may be uploaded again.',
        params: DocumentPath,
        response: {
          204: z.null().describe('It is archived.'),
          ...writeErrors('insufficient_role', 'already_processing'),
        },
      },
    },
    async (request, reply) => {
      await archiveSource(ctx, callerOf(request), request.params.docId)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/documents/:docId/ingest',
    {
      config: { roles: writers },
      schema: {
        tags,
        operationId: 'ingestSource',
        summary: 'Ingest a Source, or ingest it again',
        params: DocumentPath,
        response: {
          202: IngestReceipt,
          ...writeErrors('insufficient_role', 'not_a_source', 'already_processing'),
        },
      },
    },
    async (request, reply) => reply.code(202).send(await ingestDocument(ctx, callerOf(request), request.params.docId)),
  )
}
