import { z } from 'zod'
import { documentKinds } from './enumerations.ts'
import { PageLimit, Switch } from './envelope.ts'
import { KbId } from './identifiers.ts'
import { SeqId } from './vocabulary.ts'

export const KbPath = z.object({
  kbId: KbId.describe('Slug or UUID of the knowledge base.').meta({ examples: ['handbook'] }),
})

const DocumentKind = z.enum(documentKinds)

export const maxQuery = 512

/**
 * What is sought: at most `max` characters, also in Unicode's form NFKC, in which words are compared. One character can become 18
 * there.
 */
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
  .array(z.object({ value: z.string(), count: z.int().positive() }))
  .describe('At most 50 values, the most frequent first.')

export const SearchQuery = z.object({
  q: soughtText(maxQuery).describe(
    'Words, all of which must match; `"a phrase"`, `a OR b`, `pre*`, `-word` or `NOT word`; filters `tag:`, `path:`, `title:`, ' +
      '`kind:`, `before:2026-05`, `after:2026`. Where nothing matches all, the best of what matches some is found.',
  ),
  kind: z.enum([...DocumentKind.options, 'all']).default('all'),
  limit: PageLimit.describe('1 to 100; 50 without it.'),
  interactive: Switch.describe('`true`: the last word is still being typed, and stands for words that begin so, too.')
    .meta({ type: 'boolean' })
    .optional(),
  facets: Switch.describe('`true`: the answer counts what matches by tag, kind and folder.')
    .meta({ type: 'boolean' })
    .optional(),
})
export type SearchQuery = z.output<typeof SearchQuery>

/** The search that names its knowledge base in the query string. */
export const TenantSearchQuery = SearchQuery.extend({ kb: KbId.describe('Slug or UUID of the knowledge base.') })
export type TenantSearchQuery = z.output<typeof TenantSearchQuery>

const Rank = z.number().gt(0).max(1).describe('Relevance; comparable within one answer.')
const Highlight = z.string().describe('HTML-escaped text with `<mark>` around the matched terms, and nothing else.')

export const SearchHit = z
  .object({
    id: z.string().describe('UUID of the document; the seqId of a Neuron that was given none yet.'),
    knowledgeBaseId: z.uuid(),
    filename: z.string(),
    title: z.string().nullable(),
    path: z.string(),
    kind: DocumentKind,
    seq: z.int().nullable().describe('The number in the seqId.'),
    seqId: SeqId.nullable().describe('Null for a Source.'),
    highlight: Highlight,
    rank: Rank,
  })
  .meta({ id: 'SearchHit' })
export type SearchHit = z.infer<typeof SearchHit>

/** What an answer is ranked by. */
const Ranking = z.enum(['words', 'words+meaning'])
export type Ranking = z.infer<typeof Ranking>

/** What an answer tells of how the query was understood. */
const understood = {
  matched: z
    .enum(['all', 'some'])
    .optional()
    .describe('`some`: nothing matches the whole query, and what matches most of its words comes first.'),
  suggestion: z
    .string()
    .optional()
    .describe('The query with words that pages have, in place of those that no page has, or hardly any.'),
  ranking: Ranking.optional().describe(
    '`words+meaning`: no page has a word of the query, and these are near it by meaning. Absent where the server has no embeddings ' +
      'model.',
  ),
  facets: z
    .object({ tags: FacetCounts, kinds: FacetCounts, folders: FacetCounts })
    .optional()
    .describe('How many of all that matches have a tag, kind or folder; with `facets=true`.'),
}

export const SearchAnswer = z
  .object({ documents: z.array(SearchHit).describe('Best first.'), ...understood })
  .meta({ id: 'SearchAnswer', description: 'What was found.' })
export type SearchAnswer = z.infer<typeof SearchAnswer>

export const TenantSearchAnswer = z
  .object({
    hits: z.array(SearchHit.omit({ knowledgeBaseId: true, filename: true, seq: true })).describe('Best first.'),
    total: z.int().nonnegative().describe('How many match, on this page or not.'),
    ...understood,
  })
  .meta({ id: 'TenantSearchAnswer', description: 'What was found.' })
export type TenantSearchAnswer = z.infer<typeof TenantSearchAnswer>

/** Characters of a question in natural language. */
export const maxQuestion = 8000

export const RetrieveInput = z
  .object({
    query: soughtText(maxQuestion).describe('Natural language: any term may match.'),
    audience: z
      .enum(['curator', 'tool', 'public', 'student'])
      .default('tool')
      .describe('Whom the context is for. A key sees no more than its role may.'),
    maxChars: z.int().min(1).max(16_000).default(2000).describe('Bounds the sum of the lengths of `content`.'),
    topK: z.int().min(1).max(50).default(5),
  })
  .meta({ id: 'RetrieveInput', examples: [{ query: 'Who is paged for a VIP ticket?', maxChars: 4000, topK: 5 }] })
export type RetrieveInput = z.output<typeof RetrieveInput>

export const RetrieveChunk = z
  .object({
    documentId: z.string().describe('UUID of the document; the seqId of a Neuron that was given none yet.'),
    seqId: SeqId,
    title: z.string(),
    neuronPath: z.string().describe('Its path below `neurons/`, without `.md`.'),
    content: z.string().describe('Markdown.'),
    headerBreadcrumb: z.string().describe('The headings that it stands under, separated by ` > `.'),
    rank: Rank,
  })
  .meta({ id: 'RetrieveChunk' })
export type RetrieveChunk = z.infer<typeof RetrieveChunk>

export const RetrieveAnswer = z
  .object({
    hitCount: z.int().nonnegative(),
    totalChars: z.int().nonnegative().describe('The sum of the lengths of `content`.'),
    formattedContext: z.string().describe('Markdown, ready to give to a language model.'),
    chunks: z.array(RetrieveChunk).describe('Best first.'),
    ranking: Ranking.optional().describe(
      'What the chunks are ranked by. `words` where the embeddings model did not answer in time, or its vectors tell nothing on the ' +
        'query. Absent where the server has no embeddings model.',
    ),
  })
  .meta({ id: 'RetrieveAnswer', description: 'What the knowledge base holds on it.' })
export type RetrieveAnswer = z.infer<typeof RetrieveAnswer>
