import { z } from 'zod'
import { KbId, KbUuid } from './identifiers.ts'

export const KnowledgeBaseList = z
  .object({
    knowledgeBases: z
      .array(
        z
          .object({
            id: KbUuid,
            slug: KbId.describe('Slug of the knowledge base.'),
            title: z.string().describe('Title.'),
            language: z.string().describe('Language of the content, as a BCP 47 tag.'),
            prefix: z.string().describe('First part of its seqIds.'),
          })
          .meta({ id: 'KnowledgeBase' }),
      )
      .describe('Knowledge bases in the order of their slug.'),
  })
  .meta({
    id: 'KnowledgeBaseList',
    description: 'The knowledge bases of the tenant.',
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
