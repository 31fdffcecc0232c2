import { z } from 'zod'
import { KbId, KbUuid, Timestamp } from './identifiers.ts'

const Count = z.int().nonnegative()

export const KnowledgeBaseState = z
  .object({
    id: KbUuid,
    slug: KbId.describe('Slug of the knowledge base.'),
    disabled: z.boolean().describe('Whether it is not served.'),
  })
  .meta({
    id: 'KnowledgeBaseState',
    description: 'A knowledge base as administrators see it.',
    examples: [{ id: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f', slug: 'handbook', disabled: false }],
  })

export const TenantReport = z
  .object({
    id: z.uuid().describe('UUID of the tenant.'),
    slug: z.string().describe('Slug of the tenant.'),
    knowledgeBases: z
      .array(
        z.object({
          ...KnowledgeBaseState.shape,
          neurons: Count.nullable().describe('Number of Neurons. Null if it cannot be read now.'),
          pending: Count.nullable().describe('Number of pending candidates. Null if it cannot be read now.'),
          diskBytes: Count.describe('Bytes of the repository and its indexes on the node that answers.'),
        }),
      )
      .describe('Knowledge bases, disabled ones included, in the order of their slug.'),
    sources: Count.describe('Number of Sources.'),
    sourceBytes: Count.describe('Bytes of all Sources.'),
    quotas: z
      .object({
        sourceBytes: Count.nullable().describe('Largest sum of bytes of all Sources. Null: unlimited.'),
        knowledgeBases: Count.nullable().describe('Largest number of knowledge bases. Null: unlimited.'),
      })
      .describe('Bounds that the operator has set.'),
  })
  .meta({
    id: 'TenantReport',
    description: 'The tenant of the session, with what it uses and may use.',
    examples: [
      {
        id: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0e',
        slug: 'acme',
        knowledgeBases: [
          {
            ...{ id: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f', slug: 'handbook', disabled: false },
            ...{ neurons: 120, pending: 3, diskBytes: 1_400_000 },
          },
        ],
        sources: 12,
        sourceBytes: 48_000_000,
        quotas: { sourceBytes: 1_000_000_000, knowledgeBases: null },
      },
    ],
  })

export const KnowledgeBaseChange = z
  .object({
    slug: KbId.describe('New slug. The old one goes on leading to the knowledge base.').exactOptional(),
    disabled: z.boolean().describe('Whether it is not served.').exactOptional(),
  })
  .meta({ examples: [{ slug: 'staff-handbook' }] })

export const KnowledgeBaseDeletion = z
  .object({
    id: KbUuid,
    export: z.string().describe('Name of the export, a folder of `exports` in the data directory.'),
  })
  .meta({
    id: 'KnowledgeBaseDeletion',
    description: 'The knowledge base is deleted. Its files are removed within a minute.',
    examples: [{ id: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f', export: 'handbook-20260131T101500Z' }],
  })

export const AuditQuery = z.object({
  before: z.coerce
    .number()
    .int()
    .positive()
    .describe('Entries before this one: `next` of the page before.')
    .exactOptional(),
})

export const AuditEntries = z
  .object({
    entries: z
      .array(
        z.object({
          id: Count.describe('Number of the entry. Grows.'),
          at: Timestamp.describe('When.'),
          actor: z
            .object({ id: z.string().describe('Id of the user or key.'), name: z.string().describe('Name.') })
            .describe('Who.'),
          action: z.string().describe('What was done, such as `key.revoked`.'),
          subject: z.string().describe('To whom or what.'),
          detail: z.string().describe('More, in words. Empty if the action says it all.'),
          address: z.string().nullable().describe("Address of the client. Null for commands on the server's machine."),
        }),
      )
      .describe('Entries, the latest first.'),
    next: Count.nullable().describe('`before` of the next page. Null on the last one.'),
  })
  .meta({
    id: 'AuditEntries',
    description: 'What administrators did to the tenant.',
    examples: [
      {
        entries: [
          {
            ...{ id: 7, at: '2026-01-31T10:15:00.000Z', actor: { id: 'cli', name: 'Operator' } },
            ...{ action: 'kb.disabled', subject: 'handbook', detail: '', address: null },
          },
        ],
        next: null,
      },
    ],
  })
