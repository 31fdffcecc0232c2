import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { Graph, GraphQuery } from '../../contract/graph.ts'
import { KnowledgeBaseList } from '../../contract/knowledge-bases.ts'
import { NeuronListQuery, NeuronPage } from '../../contract/neurons.ts'
import { KbPath } from '../../contract/search.ts'
import { readGraph } from '../../pages/graph/read-graph.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function knowledgeBaseRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Neurons')

  forAll.get('/knowledge-bases', {
    operationId: 'listKnowledgeBases',
    summary: 'List the knowledge bases',
    description: 'Returns all knowledge bases of the tenant.',
    querystring: z.object({}),
    answers: { 200: KnowledgeBaseList },
    tagged: true,
    run: ({ ctx, caller }) => listKnowledgeBases(ctx, caller),
  })

  forAll.get('/knowledge-bases/:kbId/neurons', {
    operationId: 'listNeurons',
    summary: 'List the Neurons',
    description:
      'Returns a page of the Neurons that the caller may see. Fails with `not_found` if the knowledge base does not ' +
      'exist, and with 400 if no response had this `cursor`.',
    params: KbPath,
    querystring: NeuronListQuery,
    answers: { 200: NeuronPage },
    previews: true,
    tagged: true,
    run: ({ ctx, caller, params, query }) => listNeurons(ctx, caller, params.kbId, query),
  })

  forAll.get('/knowledge-bases/:kbId/graph', {
    operationId: 'readGraph',
    summary: 'Read the graph of links',
    description:
      'Returns the Neurons around one, or those with the most links, and the links between them. Fails with ' +
      '`not_found` if `around` does not exist or the caller may not see it.',
    params: KbPath,
    querystring: GraphQuery,
    answers: { 200: Graph },
    previews: true,
    tagged: true,
    run: ({ ctx, caller, params, query }) => readGraph(ctx, caller, params.kbId, query),
  })
}
