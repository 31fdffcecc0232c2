import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { KbPath } from '../../contract/search.ts'
import { llmsText } from '../../pages/llms-txt.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

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
