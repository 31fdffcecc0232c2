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
import { search } from '../../search/kb/search-kb.ts'
import { searchTenant } from '../../search/kb/search-pages.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function searchRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Search')
  const forReads = operationsOf(app, ctx, 'Search', { rate: 'read' })

  forAll.get('/knowledge-bases/:kbId/search', {
    operationId: 'search',
    summary: 'Search by keywords',
    description:
      'Returns the Neurons and Sources of a knowledge base that match the query and that the caller may see. Fails ' +
      'with 400 if the query cannot be parsed, and with `unavailable` if the search takes too long.',
    params: KbPath,
    querystring: SearchQuery,
    answers: { 200: SearchAnswer },
    previews: true,
    tagged: true,
    run: ({ ctx, caller, params, query }) => search(ctx, caller, params.kbId, query),
  })

  forAll.get('/search', {
    operationId: 'searchTenant',
    summary: 'Search by keywords and count all matches',
    description:
      'Works like `GET /api/v1/knowledge-bases/{kbId}/search`, and also returns the number of all matches. Without `kb`, ' +
      'searches every knowledge base of the tenant: documents are ranked within each and merged by rank. Fails with ' +
      '400 if the query cannot be parsed, and with `unavailable` if the search takes too long.',
    querystring: TenantSearchQuery,
    answers: { 200: TenantSearchAnswer },
    previews: true,
    tagged: true,
    run: ({ ctx, caller, query }) => searchTenant(ctx, caller, query),
  })

  forReads.post('/knowledge-bases/:kbId/retrieve', {
    operationId: 'retrieve',
    summary: 'Retrieve passages for a question',
    description:
      'Returns the passages of a knowledge base that bear on a question, for the prompt of a language model. ' +
      'Idempotent: changes nothing. Fails with `not_found` if the knowledge base does not exist, and with ' +
      '`unavailable` if the search takes too long.',
    params: KbPath,
    body: RetrieveInput,
    answers: { 200: RetrieveAnswer },
    previews: true,
    run: ({ ctx, caller, params, body }) => retrieve(ctx, caller, params.kbId, body),
  })
}
