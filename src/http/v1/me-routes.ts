import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { CandidatePath, SentCandidate, SentCandidatePage, SentCandidateQuery } from '../../contract/candidates.ts'
import { DocumentPath, SentSource, SentSourcePage, SourceQuery } from '../../contract/documents.ts'
import { Me, MeChange } from '../../contract/me.ts'
import { changeMe, readMe } from '../../people/read-me.ts'
import { listSentCandidates, readSentCandidate } from '../../queue/lists/sent-candidates.ts'
import { listSentSources, readSentSource } from '../../sources/sent-sources.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors, writeErrors } from '../response/error-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forAll = describing('Senders')

export function meRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/me',
    forAll({
      operationId: 'readMe',
      summary: 'Read who the caller is',
      description: 'Returns the name, the role and the tenant of the API key or person.',
      querystring: z.object({}),
      response: { 200: Me, ...readErrors() },
    }),
    (request) => readMe(ctx, callerOf(request)),
  )

  app.patch(
    '/me',
    forAll({
      operationId: 'changeMe',
      summary: 'Choose when the caller gets e-mails',
      description:
        'Sets whether a person gets each e-mail at once, one a day with all of them, or none, for all their tenants. ' +
        'Idempotent. Fails with `insufficient_role` for an API key.',
      body: MeChange,
      response: { 200: Me, ...writeErrors() },
    }),
    (request) => changeMe(ctx, callerOf(request), request.body),
  )

  app.get(
    '/me/candidates',
    forAll({
      operationId: 'listSentCandidates',
      summary: 'List the candidates that the caller sent',
      description:
        'Returns a page of what the caller sent over HTTP or MCP, newest first. Fails with `not_found` if `kb` does ' +
        'not exist, and with 400 if no response had this `cursor`.',
      querystring: SentCandidateQuery,
      response: { 200: SentCandidatePage, ...readErrors() },
    }),
    (request) => listSentCandidates(ctx, callerOf(request), request.query),
  )

  app.get(
    '/me/candidates/:id',
    forAll({
      operationId: 'readSentCandidate',
      summary: 'Read a candidate that the caller sent',
      description: 'Returns what became of a candidate. Fails with `not_found` if another caller sent it.',
      params: CandidatePath,
      response: { 200: SentCandidate, ...readErrors() },
    }),
    (request) => readSentCandidate(ctx, callerOf(request), request.params.id),
  )

  app.get(
    '/me/sources',
    forAll({
      operationId: 'listSentSources',
      summary: 'List the Sources that the caller uploaded',
      description:
        'Returns a page of the Sources of all knowledge bases that the caller uploaded, newest first. Fails with 400 if ' +
        'no response had this `cursor`.',
      querystring: SourceQuery,
      response: { 200: SentSourcePage, ...readErrors() },
    }),
    (request) => listSentSources(ctx, callerOf(request), request.query),
  )

  app.get(
    '/me/sources/:docId',
    forAll({
      operationId: 'readSentSource',
      summary: 'Read a Source that the caller uploaded',
      description: 'Returns what became of a Source. Fails with `not_found` if another caller uploaded it.',
      params: DocumentPath,
      response: { 200: SentSource, ...readErrors() },
    }),
    (request) => readSentSource(ctx, callerOf(request), request.params.docId),
  )
}
