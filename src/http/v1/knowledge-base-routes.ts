import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { FileBytes } from '../../contract/documents.ts'
import { FilePath, savedFileType, shownFileTypes } from '../../contract/files.ts'
import { Graph, GraphQuery } from '../../contract/graph.ts'
import { KnowledgeBaseList } from '../../contract/knowledge-bases.ts'
import { NeuronListQuery, NeuronPage } from '../../contract/neurons.ts'
import { KbPath } from '../../contract/search.ts'
import { readFile } from '../../pages/attachments/read-file.ts'
import { readGraph } from '../../pages/graph/read-graph.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import { llmsText } from '../../pages/llms-txt.ts'
import { answerFile } from '../response/file-answer.ts'
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

const LlmsText = z
  .string()
  .meta({ examples: ['# Support handbook\n\n> A knowledge base of curated pages, called Neurons.\n'] })

export function llmsRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Agents')

  forAll.get('/knowledge-bases/:kbId/llms.txt', {
    operationId: 'readLlmsText',
    summary: 'Read the index for language models',
    description:
      'Returns a Markdown index in the format of llmstxt.org: the first 5,000 Neurons that the caller may see, and ' +
      'how to list the rest. Fails with `not_found` if the knowledge base does not exist.',
    params: KbPath,
    answers: {
      200: {
        description: 'The index as Markdown.',
        content: { 'text/plain': { schema: LlmsText } },
      },
    },
    run: async ({ ctx, caller, params, reply }) => {
      const text = await llmsText(ctx, caller, params.kbId)
      return reply.type('text/plain; charset=utf-8').send(text)
    },
  })
}

const content = Object.fromEntries(
  [...new Set([...Object.values(shownFileTypes), savedFileType])].map((type) => [type, { schema: FileBytes }]),
)

export function fileRoutes(app: ZodFastify, ctx: AppContext): void {
  const forAll = operationsOf(app, ctx, 'Neurons')

  forAll.get('/knowledge-bases/:kbId/files/*', {
    operationId: 'readFile',
    summary: 'Read an attachment',
    description:
      'Returns a file of the repository that is not a Neuron, or one range of it with the header `Range`. A browser ' +
      'shows images, audio, video and PDF, and saves other types. Fails with `not_found` unless the caller is a ' +
      'curator or sees a Neuron that links to the file, and with `range_not_satisfiable` if the range does not fit ' +
      'the file.',
    params: FilePath.omit({ path: true }).extend({ '*': FilePath.shape.path }),
    answers: {
      200: { description: 'The whole file.', content },
      206: { description: 'The requested range.', content },
      304: z.null().describe('`If-None-Match` names the current file.'),
    },
    errors: ['range_not_satisfiable'],
    run: async ({ ctx, caller, params, request, reply }) => {
      const { kbId, '*': path } = params
      return answerFile(request, reply, await readFile(ctx, caller, kbId, path))
    },
  })
}
