import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { Graph, GraphQuery } from '../../contract/graph.ts'
import { KnowledgeBaseList } from '../../contract/knowledge-bases.ts'
import { NeuronListQuery, NeuronPage } from '../../contract/neurons.ts'
import { KbPath } from '../../contract/search.ts'
import { readGraph } from '../../pages/graph/read-graph.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import { previewing } from '../../queue/preview/previewing.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forAll = describing('Neurons')

export function knowledgeBaseRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases',
    forAll({
      operationId: 'listKnowledgeBases',
      summary: 'List the knowledge bases',
      description: 'Returns all knowledge bases of the tenant.',
      querystring: z.object({}),
      response: { ...taggedAnswers(KnowledgeBaseList), ...readErrors() },
    }),
    async (request, reply) =>
      answerTagged(request, reply, KnowledgeBaseList, await listKnowledgeBases(ctx, callerOf(request))),
  )

  app.get(
    '/knowledge-bases/:kbId/neurons',
    forAll({
      operationId: 'listNeurons',
      summary: 'List the Neurons',
      description:
        'Returns a page of the Neurons that the caller may see. Fails with `not_found` if the knowledge base does not ' +
        'exist, and with 400 if no response had this `cursor`.',
      params: KbPath,
      querystring: NeuronListQuery,
      response: { ...taggedAnswers(NeuronPage), ...readErrors('not_pending') },
    }),
    async (request, reply) => {
      const [caller, { kbId }] = [callerOf(request), request.params]
      const shown = await previewing(ctx, caller, request.query.preview, kbId)
      const page = await listNeurons(shown.ctx, caller, kbId, request.query)
      return answerTagged(request, reply, NeuronPage, shown.told(page))
    },
  )

  app.get(
    '/knowledge-bases/:kbId/graph',
    forAll({
      operationId: 'readGraph',
      summary: 'Read the graph of links',
      description:
        'Returns the Neurons around one, or those with the most links, and the links between them. Fails with ' +
        '`not_found` if `around` does not exist or the caller may not see it.',
      params: KbPath,
      querystring: GraphQuery,
      response: { ...taggedAnswers(Graph), ...readErrors('not_pending') },
    }),
    async (request, reply) => {
      const [caller, { kbId }] = [callerOf(request), request.params]
      const shown = await previewing(ctx, caller, request.query.preview, kbId)
      return answerTagged(request, reply, Graph, shown.told(await readGraph(shown.ctx, caller, kbId, request.query)))
    },
  )
}
