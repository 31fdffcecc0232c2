import type { AppContext } from '../../app/open-context.ts'
import {
  KbPath,
  RetrieveAnswer,
  RetrieveInput,
  SearchAnswer,
  SearchQuery,
  TenantSearchAnswer,
  TenantSearchQuery,
} from '../../contract/search.ts'
import { retrieve } from '../../search/kb/retrieve.ts'
import { search, searchTenant } from '../../search/kb/search.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/errors.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Adds the routes that search and retrieve. */
export function searchRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/search',
    {
      schema: {
        tags: ['Search'],
        operationId: 'search',
        summary: 'Search by keywords',
        params: KbPath,
        querystring: SearchQuery,
        response: { ...taggedAnswers(SearchAnswer), ...readErrors() },
      },
    },
    async (request, reply) => {
      const answer = await search(ctx, callerOf(request), request.params.kbId, request.query)
      return answerTagged(request, reply, SearchAnswer, answer)
    },
  )

  app.get(
    '/search',
    {
      schema: {
        tags: ['Search'],
        operationId: 'searchTenant',
        summary: 'Search by keywords, with the number of all matches',
        querystring: TenantSearchQuery,
        response: { ...taggedAnswers(TenantSearchAnswer), ...readErrors() },
      },
    },
    async (request, reply) => {
      const answer = await searchTenant(ctx, callerOf(request), request.query)
      return answerTagged(request, reply, TenantSearchAnswer, answer)
    },
  )

  app.post(
    '/knowledge-bases/:kbId/retrieve',
    {
      config: { rate: 'read' },
      schema: {
        tags: ['Search'],
        operationId: 'retrieve',
        summary: 'Retrieve grounded context',
        params: KbPath,
        body: RetrieveInput,
        response: { 200: RetrieveAnswer, ...writeErrors() },
      },
    },
    (request) => retrieve(ctx, callerOf(request), request.params.kbId, request.body),
  )
}
