import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { KbPath } from '../../contract/search.ts'
import { llmsText } from '../../pages/llms-txt.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors } from '../response/errors.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Adds the route that tells language models what is in a knowledge base. */
export function llmsRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/llms.txt',
    {
      schema: {
        tags: ['Agents'],
        operationId: 'readLlmsText',
        summary: 'Index of a knowledge base for language models',
        params: KbPath,
        response: {
          200: {
            description: 'Markdown, as llmstxt.org has it. The first 5,000 Neurons, and where to go on.',
            content: { 'text/plain': { schema: z.string() } },
          },
          ...readErrors(),
        },
      },
    },
    async (request, reply) => {
      const text = await llmsText(ctx, callerOf(request), request.params.kbId)
      return reply.type('text/plain; charset=utf-8').send(text)
    },
  )
}
