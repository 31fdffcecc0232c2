import { z } from 'zod'
import { Previewed, PreviewParameter } from './preview.ts'
import { EdgeType, SeqId } from './vocabulary.ts'

export const GraphQuery = z.object({
  around: SeqId.describe('seqId of the Neuron to start from. Default: the whole graph.').exactOptional(),
  depth: z
    .string()
    .regex(/^[1-5]$/, 'must be a whole number from 1 to 5')
    .transform(Number)
    .default(1)
    .describe('Maximum number of links from `around`, in either direction, 1 to 5. Default: 1.')
    .meta({ type: 'integer', minimum: 1, maximum: 5 }),
  limit: z
    .string()
    .regex(/^(?:[1-9][0-9]{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
    .transform(Number)
    .default(200)
    .describe('Maximum number of Neurons, 1 to 1,000. Default: 200.')
    .meta({ type: 'integer', minimum: 1, maximum: 1000 }),
  preview: PreviewParameter,
})
export type GraphQuery = z.output<typeof GraphQuery>

export const Graph = z
  .object({
    nodes: z
      .array(
        z.object({
          seqId: SeqId,
          title: z.string().describe('Title.'),
          path: z.string().describe('Path of the file in the repository.'),
          tags: z.array(z.string()).describe('Tags.'),
        }),
      )
      .describe('Neurons, nearest to `around` first. Without `around`: those with the most links first.'),
    edges: z
      .array(
        z.object({
          source: SeqId.describe('seqId of the Neuron that links.'),
          target: SeqId.describe('seqId of the Neuron that it links to.'),
          type: EdgeType,
        }),
      )
      .describe('Links between the Neurons of `nodes`, each once, without links of a Neuron to itself.'),
    truncated: z.boolean().describe('`true` if there are more Neurons than `limit`.'),
    preview: Previewed,
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
