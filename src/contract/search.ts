import { z } from 'zod'
import { AskedBlame, ShownBlame } from './blame.ts'
import { documentKinds } from './enumerations.ts'
import { PageLimit, Switch } from './envelope.ts'
import { KbId, KbUuid } from './identifiers.ts'
import { Stale } from './neurons.ts'
import { Previewed, PreviewField, PreviewParameter } from './preview.ts'
import { Audience, SeqId } from './vocabulary.ts'

export const KbPath = z.object({ kbId: KbId })

const DocumentKind = z.enum(documentKinds).describe('`wiki`: a Neuron. `source`: an uploaded Source.')

export const maxQuery = 512
/** Maximum number of results that can be skipped. */
export const maxOffset = 1000

/** Returns the schema of a query's text: at most `max` characters, also in the form NFKC, in which one character can become 18. */
function soughtText(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !exceedsFolded(text, max), `must be at most ${max} characters in the Unicode form NFKC`)
}

export function exceedsFolded(text: string, max: number): boolean {
  return text.length <= max && text.normalize('NFKC').length > max
}

const FacetCounts = z
  .array(
    z.object({
      value: z.string().describe('The tag, kind or folder.'),
      count: z.int().positive().describe('Number of matches with this value.'),
    }),
  )
  .describe('At most 50 values, most frequent first.')

export const SearchQuery = z.object({
  q: soughtText(maxQuery).describe(
    'Query of 1 to 512 characters and at most 32 different words. All words must match; if no page has all of them, pages with ' +
      'some of them are found. Operators: `"a phrase"`, `a OR b`, `pre*`, `-word` or `NOT word`; filters `tag:`, `path:`, `title:`, ' +
      '`kind:`, `before:2026-05`, `after:2026`.',
  ),
  kind: z
    .enum([...DocumentKind.options, 'all'])
    .default('all')
    .describe('`wiki`: only Neurons. `source`: only Sources. Default: `all`.'),
  limit: PageLimit,
  offset: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,2}|1000)$/, 'must be a whole number from 0 to 1,000')
    .transform(Number)
    .meta({ type: 'integer', minimum: 0, maximum: maxOffset, description: 'Results to skip, 0 to 1,000. Default: 0.' })
    .optional(),
  interactive: Switch.describe('`true`: the last word is incomplete and also matches as a prefix. Default: `false`.')
    .meta({ type: 'boolean' })
    .optional(),
  facets: Switch.describe('`true`: also count the matches by tag, kind and folder. Default: `false`.')
    .meta({ type: 'boolean' })
    .optional(),
  preview: PreviewParameter,
})
export type SearchQuery = z.output<typeof SearchQuery>

/** Search query that names its knowledge base in the query string. */
export const TenantSearchQuery = SearchQuery.extend({
  kb: KbId.describe('Slug or UUID of one knowledge base. Default: every knowledge base of the tenant.').optional(),
})
export type TenantSearchQuery = z.output<typeof TenantSearchQuery>

const Rank = z.number().gt(0).max(1).describe('Relevance, up to 1. Comparable within one response only.')
const Highlight = z
  .string()
  .describe('Excerpt as escaped HTML; its only elements are `<mark>` around the matched terms.')
/** Id of a Neuron or Source in an answer. */
export const DocumentId = z.string().describe('UUID of the Neuron or Source. For a Neuron without a UUID, its seqId.')

export const SearchHit = z
  .object({
    id: DocumentId,
    knowledgeBaseId: KbUuid,
    filename: z.string().describe('Name of the file.'),
    title: z.string().nullable().describe('Title of the Neuron, or file name of the Source.'),
    path: z.string().describe('Neuron: path of its file in the repository. Source: its folder.'),
    kind: DocumentKind,
    seq: z.int().nullable().describe('Neuron: number in its seqId. Source: its number in the knowledge base.'),
    seqId: SeqId.nullable().describe('seqId of the Neuron. Null for a Source.'),
    highlight: Highlight,
    rank: Rank,
    pinned: z.literal(true).describe('A curator has pinned it to this query. Absent on others.').exactOptional(),
    stale: Stale,
  })
  .meta({ id: 'SearchHit' })
export type SearchHit = z.infer<typeof SearchHit>

/** Basis of the ranking. */
const Ranking = z.enum(['words', 'words+meaning', 'words-model-down'])
export type Ranking = z.infer<typeof Ranking>

/** Number of pages that the search index lacks. */
export const Behind = z
  .object({
    pages: z
      .int()
      .positive()
      .describe('Of the next 1,000 pages to be indexed, the number of Neurons that you may see.'),
  })
  .optional()
  .describe(
    'The search index is being built or brought up to date, and lacks pages: nothing found does not mean that there is nothing. ' +
      'While it lacks most, up to 1,000 of these pages are searched as plain text. Absent if the index has all pages.',
  )

/** Interpretation of the query by the server. */
const understood = {
  behind: Behind,
  preview: Previewed,
  matched: z
    .enum(['all', 'some'])
    .optional()
    .describe('`some`: no document matches the whole query; the best partial matches are listed.'),
  suggestion: z
    .string()
    .optional()
    .describe('Corrected query: rare or unknown words are replaced by similar words of the knowledge base.'),
  ranking: Ranking.optional().describe(
    '`words+meaning`: no page has a word of the query, and the results are similar in meaning. `words-model-down`: they would have ' +
      'been sought, but the embeddings model did not answer. Absent without an embeddings model.',
  ),
  facets: z
    .object({
      tags: FacetCounts.describe('Counts by tag.'),
      kinds: FacetCounts.describe('Counts by kind.'),
      folders: FacetCounts.describe('Counts by folder.'),
    })
    .optional()
    .describe('Number of matches by tag, kind and folder, over all pages of results. Present with `facets=true`.'),
}

const TenantHit = SearchHit.omit({ knowledgeBaseId: true, filename: true, seq: true }).extend({
  kb: KbId.describe('Slug of the knowledge base. Present if the query names none.').exactOptional(),
})
const hit = {
  ...{ id: '019b9c9a-5f0e-7c41-8a3b-6d2f4e5a7b90', knowledgeBaseId: '019b9c90-1a2b-7c3d-8e4f-5a6b7c8d9e0f' },
  ...{ filename: 'vip-escalation-policy.md', path: 'neurons/2026/01/vip-escalation-policy.md', kind: 'wiki' },
  ...{ title: 'VIP escalation policy', seq: 42, seqId: 'handbook_00000042' },
  ...{ highlight: 'When a <mark>VIP</mark> customer raises a ticket, page the lead.', rank: 0.92 },
}

export const SearchAnswer = z
  .object({ documents: z.array(SearchHit).describe('Documents, best match first.'), ...understood })
  .meta({
    id: 'SearchAnswer',
    description: 'The documents that match the query.',
    examples: [{ documents: [hit], matched: 'all' }],
  })
export type SearchAnswer = z.infer<typeof SearchAnswer>

export const TenantSearchAnswer = z
  .object({
    hits: z.array(TenantHit).describe('Documents, best match first.'),
    total: z.int().nonnegative().describe('Number of all matches, also beyond `limit`.'),
    unavailable: z
      .array(z.string())
      .describe('Slugs of knowledge bases that cannot be searched now. Absent if all can be.')
      .exactOptional(),
    ...understood,
  })
  .meta({
    id: 'TenantSearchAnswer',
    description: 'The documents that match the query, and their number.',
    examples: [{ hits: [TenantHit.parse(hit)], total: 1, matched: 'all' }],
  })
export type TenantSearchAnswer = z.infer<typeof TenantSearchAnswer>

const filterText = z.string().min(1).max(200)

/** Maximum characters of a question in natural language. */
export const maxQuestion = 8000

const retrieveFields = z.object({
  query: soughtText(maxQuestion).describe('Question in natural language, 1 to 8,000 characters. Any word may match.'),
  audience: Audience.default('tool').describe(
    'Reader of the context. What the caller may not ask for is answered as `tool`: `curator` without that role, `student` with a reader key that was not made for it.',
  ),
  maxChars: z
    .int()
    .min(1)
    .max(16_000)
    .default(2000)
    .describe('Maximum total length of all `content`, 1 to 16,000 characters.'),
  topK: z.int().min(1).max(50).default(5).describe('Maximum number of passages, 1 to 50, each of a page of its own.'),
  tags: z
    .array(filterText)
    .max(20)
    .describe('Only Neurons with all of these tags, or tags below them; at most 20. Case and accents are ignored.')
    .exactOptional(),
  path: filterText
    .describe('Only Neurons with a folder or file name that begins so, as `guides/vip`; `/guides` begins at the top.')
    .exactOptional(),
  kind: SearchQuery.shape.kind.unwrap().describe('`source` finds nothing: passages are of Neurons.').exactOptional(),
  updatedAfter: filterText
    .describe('Only Neurons changed in this year, month or day (UTC), or at this time, or later: `2026-05`.')
    .exactOptional(),
  neurons: z.array(SeqId).min(1).max(100).describe('Only these Neurons, at most 100.').exactOptional(),
  blame: AskedBlame,
  preview: PreviewField,
})

/** Names of filters in other products. They are rejected: ignoring a filter would return what the caller excludes. */
const otherNames = new Map(
  Object.entries({
    '`tags`': 'tag',
    '`path`': 'path folder neuronpath',
    '`kind`': 'kind type',
    '`updatedAfter`': 'updatedafter updatedat updatedsince changedafter after since',
    '`neurons`': 'neuron neuronid seqid',
    '`tags`, `path`, `kind`, `updatedAfter` or `neurons`': 'filter',
  }).flatMap(([name, others]) => others.split(' ').map((other): [string, string] => [other, name])),
)

export const RetrieveInput = z
  .looseObject(retrieveFields.shape)
  .check(({ value, issues }) => {
    for (const key of Object.keys(value)) {
      const meant = otherNames.get(key.toLowerCase().replace(/[^a-z]|s$/g, ''))
      if (meant === undefined || Object.hasOwn(retrieveFields.shape, key)) continue
      issues.push({ code: 'custom', input: value, path: [key], message: `is called ${meant} here` })
    }
  })
  .meta({
    id: 'RetrieveInput',
    description: 'A question with limits on the passages, and filters that must all hold.',
    examples: [{ query: 'Who is paged for a VIP ticket?', maxChars: 4000, topK: 5, tags: ['policy'] }],
    // Unknown fields are ignored, as everywhere.
    additionalProperties: undefined,
  })
export type RetrieveInput = z.output<typeof retrieveFields>

export const RetrieveChunk = z
  .object({
    documentId: DocumentId,
    seqId: SeqId,
    title: z.string().describe('Title of the Neuron.'),
    neuronPath: z.string().describe('Path of the Neuron below `neurons/`, without `.md`.'),
    content: z
      .string()
      .describe(
        'The parts of the page that hold most of the question, in Markdown, with `…` for what is left out between them.',
      ),
    headerBreadcrumb: z.string().describe('Headings above all of the passage, separated by ` > `.'),
    rank: Rank,
    stale: Stale,
    blame: ShownBlame,
  })
  .meta({ id: 'RetrieveChunk' })
export type RetrieveChunk = z.infer<typeof RetrieveChunk>

export const RetrieveAnswer = z
  .object({
    hitCount: z.int().nonnegative().describe('Number of passages in `chunks`.'),
    totalChars: z.int().nonnegative().describe('Total length of all `content`, in characters.'),
    formattedContext: z.string().describe('All passages as Markdown, for the prompt of a language model.'),
    chunks: z.array(RetrieveChunk).describe('Passages, best match first.'),
    ranking: Ranking.optional().describe(
      'What the passages are ranked by. `words`: the embeddings model finds nothing similar. `words-model-down`: it did not answer ' +
        'in time. Absent without an embeddings model.',
    ),
    behind: Behind,
    preview: Previewed,
  })
  .meta({
    id: 'RetrieveAnswer',
    description: 'The passages that bear on the question.',
    examples: [
      {
        ...{
          hitCount: 1,
          totalChars: 14,
          formattedContext: '## VIP escalation policy [handbook_00000042]\n\nPage the lead.',
        },
        chunks: [
          {
            ...{ documentId: hit.id, seqId: hit.seqId, title: hit.title, neuronPath: '2026/01/vip-escalation-policy' },
            ...{ content: 'Page the lead.', headerBreadcrumb: 'Escalation > VIP', rank: 0.92 },
          },
        ],
      },
    ],
  })
export type RetrieveAnswer = z.infer<typeof RetrieveAnswer>
