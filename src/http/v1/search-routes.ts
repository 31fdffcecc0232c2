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
import { previewing } from '../../queue/preview/previewing.ts'
import { retrieve } from '../../search/kb/retrieve.ts'
import { search } from '../../search/kb/search-kb.ts'
import { searchTenant } from '../../search/kb/search-pages.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forAll = describing('Search')
const forReads = describing('Search', { rate: 'read' })

export function searchRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/search',
    forAll({
      operationId: 'search',
      summary: 'Search by keywords',
      description:
        'Returns the Neurons and Sources of a knowledge base that match the query and that the caller may see. Fails ' +
        'with 400 if the query cannot be parsed, and with `unavailable` if the search takes too long.',
      params: KbPath,
      querystring: SearchQuery,
      response: { ...taggedAnswers(SearchAnswer), ...readErrors('not_pending') },
    }),
    async (request, reply) => {
      const [caller, { kbId }] = [callerOf(request), request.params]
      const shown = await previewing(ctx, caller, request.query.preview, kbId)
      const answer = await search(shown.ctx, caller, kbId, request.query)
      return answerTagged(request, reply, SearchAnswer, shown.told(answer))
    },
  )

  app.get(
    '/search',
    forAll({
      operationId: 'searchTenant',
      summary: 'Search by keywords and count all matches',
      description:
        'Works like `GET /api/v1/knowledge-bases/{kbId}/search`, and also returns the number of all matches. Without `kb`, ' +
        'searches every knowledge base of the tenant: documents are ranked within each and merged by rank. Fails with ' +
        '400 if the query cannot be parsed, and with `unavailable` if the search takes too long.',
      querystring: TenantSearchQuery,
      response: { ...taggedAnswers(TenantSearchAnswer), ...readErrors('not_pending') },
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const shown = await previewing(ctx, caller, request.query.preview, request.query.kb)
      const answer = await searchTenant(shown.ctx, caller, request.query)
      return answerTagged(request, reply, TenantSearchAnswer, shown.told(answer))
    },
  )

  app.post(
    '/knowledge-bases/:kbId/retrieve',
    forReads({
      operationId: 'retrieve',
      summary: 'Retrieve passages for a question',
      description:
        'Returns the passages of a knowledge base that bear on a question, for the prompt of a language model. ' +
        'Idempotent: changes nothing. Fails with `not_found` if the knowledge base does not exist, and with ' +
        '`unavailable` if the search takes too long.',
      params: KbPath,
      body: RetrieveInput,
      response: { 200: RetrieveAnswer, ...writeErrors('not_pending') },
    }),
    async (request) => {
      const [caller, { kbId }] = [callerOf(request), request.params]
      const shown = await previewing(ctx, caller, request.body.preview, kbId)
      return shown.told(await retrieve(shown.ctx, caller, kbId, request.body))
    },
  )
}
