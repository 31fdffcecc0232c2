import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { CandidatePath, SentCandidate, SentCandidatePage, SentCandidateQuery } from '../../contract/candidates.ts'
import { DocumentPath, SentSource, SentSourcePage, SourceQuery } from '../../contract/documents.ts'
import { Me, MeChange } from '../../contract/people.ts'
import { changeMe, readMe } from '../../people/account.ts'
import { sentVersion } from '../../queue/heads/judged-head.ts'
import { listSentCandidates, readSentCandidate } from '../../queue/lists/list-candidates.ts'
import { listSentSources, readSentSource } from '../../sources/read-source.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function meRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Senders')

  forAll.get('/me', {
    operationId: 'readMe',
    summary: 'Read who the caller is',
    description: 'Returns the name, the role and the tenant of the API key or person.',
    querystring: z.object({}),
    answers: { 200: Me },
    run: ({ ctx, caller }) => readMe(ctx, caller),
  })

  forAll.patch('/me', {
    operationId: 'changeMe',
    summary: 'Choose when the caller gets e-mails',
    description:
      'Sets whether a person gets each e-mail at once, one a day with all of them, or none, for all their tenants. ' +
      'Idempotent. Fails with `insufficient_role` for an API key.',
    body: MeChange,
    answers: { 200: Me },
    run: ({ ctx, caller, body }) => changeMe(ctx, caller, body),
  })

  forAll.get('/me/candidates', {
    operationId: 'listSentCandidates',
    summary: 'List the candidates that the caller sent',
    description:
      'Returns a page of what the caller sent over HTTP or MCP, newest first. Fails with `not_found` if `kb` does ' +
      'not exist, and with 400 if no response had this `cursor`.',
    querystring: SentCandidateQuery,
    answers: { 200: SentCandidatePage },
    run: ({ ctx, caller, query }) => listSentCandidates(ctx, caller, query),
  })

  forAll.get('/me/candidates/:id', {
    operationId: 'readSentCandidate',
    summary: 'Read a candidate that the caller sent',
    description: 'Returns what became of a candidate. Fails with `not_found` if another caller sent it.',
    params: CandidatePath,
    answers: { 200: SentCandidate },
    tagged: ({ version, changesRequested: asked = null }) => sentVersion({ version, asked }),
    run: ({ ctx, caller, params }) => readSentCandidate(ctx, caller, params.id),
  })

  forAll.get('/me/sources', {
    operationId: 'listSentSources',
    summary: 'List the Sources that the caller uploaded',
    description:
      'Returns a page of the Sources of all knowledge bases that the caller uploaded, newest first. Fails with 400 if ' +
      'no response had this `cursor`.',
    querystring: SourceQuery,
    answers: { 200: SentSourcePage },
    run: ({ ctx, caller, query }) => listSentSources(ctx, caller, query),
  })

  forAll.get('/me/sources/:docId', {
    operationId: 'readSentSource',
    summary: 'Read a Source that the caller uploaded',
    description: 'Returns what became of a Source. Fails with `not_found` if another caller uploaded it.',
    params: DocumentPath,
    answers: { 200: SentSource },
    run: ({ ctx, caller, params }) => readSentSource(ctx, caller, params.docId),
  })
}
