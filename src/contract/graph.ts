import { z } from 'zod'
import { EdgeType, SeqId } from './vocabulary.ts'

export const GraphQuery = z.object({
  around: SeqId.describe('A Neuron to begin at. Without it, the whole graph.').exactOptional(),
  depth: z
    .string()
    .regex(/^[1-5]$/, 'must be a whole number from 1 to 5')
    .transform(Number)
    .default(1)
    .describe('How many links away from `around`, in either direction; 1 to 5.')
    .meta({ type: 'integer', minimum: 1, maximum: 5 }),
  limit: z
    .string()
    .regex(/^(?:[1-9][0-9]{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
    .transform(Number)
    .default(200)
    .describe('How many Neurons; 1 to 1000.')
    .meta({ type: 'integer', minimum: 1, maximum: 1000 }),
})
export type GraphQuery = z.output<typeof GraphQuery>

export const Graph = z
  .object({
    nodes: z
      .array(z.object({ seqId: SeqId, title: z.string(), path: z.string(), tags: z.array(z.string()) }))
      .describe('The nearest to `around` first; without it, the best connected first.'),
    edges: z
      .array(z.object({ source: SeqId, target: SeqId, type: EdgeType }))
      .describe('The links among the nodes, each once. Links to itself or to another knowledge base are left out.'),
    truncated: z.boolean().describe('Whether there are more Neurons than `limit`.'),
  })
  .meta({
    id: 'Graph',
    description: 'Neurons and the links among them.',
    examples: [
      {
        nodes: [
          {
            seqId: 'handbook_00000042',
            title: 'VIP escalation policy',
            path: 'neurons/2026/01/vip-escalation-policy.md',
            tags: ['policy'],
          },
          { seqId: 'handbook_00000007', title: 'Old policy', path: 'neurons/2025/11/old-policy.md', tags: [] },
        ],
        edges: [{ source: 'handbook_00000042', target: 'handbook_00000007', type: 'supersedes' }],
        truncated: false,
      },
    ],
  })
export type Graph = z.infer<typeof Graph>
