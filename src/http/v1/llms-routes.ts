import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { KbPath } from '../../contract/search.ts'
import { llmsText } from '../../pages/llms-txt.ts'
import { callerOf } from '../access/auth.ts'
import { readErrors } from '../response/error-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forAll = describing('Agents')

const LlmsText = z
  .string()
  .meta({ examples: ['# Support handbook\n\n> A knowledge base of curated pages, called Neurons.\n'] })

export function llmsRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get(
    '/knowledge-bases/:kbId/llms.txt',
    forAll({
      operationId: 'readLlmsText',
      summary: 'Read the index for language models',
      description:
        'Returns a Markdown index in the format of llmstxt.org: the first 5,000 Neurons that the caller may see, and ' +
        'how to list the rest. Fails with `not_found` if the knowledge base does not exist.',
      params: KbPath,
      response: {
        200: {
          description: 'The index as Markdown.',
          content: { 'text/plain': { schema: LlmsText } },
        },
        ...readErrors(),
      },
    }),
    async (request, reply) => {
      const text = await llmsText(ctx, callerOf(request), request.params.kbId)
      return reply.type('text/plain; charset=utf-8').send(text)
    },
  )
}
