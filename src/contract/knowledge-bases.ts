import { z } from 'zod'
import { KbId } from './identifiers.ts'

export const KnowledgeBaseList = z
  .object({
    knowledgeBases: z
      .array(
        z
          .object({
            id: z.uuid(),
            slug: KbId,
            title: z.string(),
            language: z.string().describe('BCP 47.'),
            prefix: z.string().describe('What its seqIds begin with.'),
          })
          .meta({ id: 'KnowledgeBase' }),
      )
      .describe('By slug.'),
  })
  .meta({
    id: 'KnowledgeBaseList',
    description: "The tenant's knowledge bases.",
    examples: [
      {
        knowledgeBases: [
          {
            id: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
            slug: 'handbook',
            title: 'Support handbook',
            language: 'en',
            prefix: 'handbook',
          },
        ],
      },
    ],
  })
export type KnowledgeBaseList = z.infer<typeof KnowledgeBaseList>
