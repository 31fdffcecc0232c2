import type { BlamedSentence } from '../../contract/blame.ts'
import { undefinedOn, ValidationError } from '../../contract/errors.ts'
import type { Ranking, RetrieveAnswer, RetrieveChunk, RetrieveInput } from '../../contract/search.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import { stalenessIn } from '../../kb/access/stale-pages.ts'
import type { Context } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import { type Audience, effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { linkKey } from '../../rules/links/link-target.ts'
import { type FilterGroup, filterOf, type PageFilter } from '../query/filters.ts'
import type { Packing, Passage, Reach } from '../search-index.ts'
import type { PartialAnswer } from './kb-search.ts'
import { searchOf } from './laid-over-search.ts'
import { answered, scopeOf } from './search-kb.ts'

/** Chunks to choose from, per wanted page: some pages have several relevant ones. */
const overfetch = 3
const minChunks = 30
/** Minimum characters of a part of a page: a tool reads on by itself, people do not. */
const least = { chunk: 250, section: 600 }

/**
 * Returns what pages say on a question in natural language, best first, within bounds: one text per page, packed from the parts
 * of its chunks with most of the question.
 * @throws {GanglionError} `not_found`, `unavailable`
 * @throws {ValidationError} for an invalid filter
 */
export async function retrieve(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { query, audience: asked, maxChars, topK, blame, ...filtering }: RetrieveInput,
): Promise<RetrieveAnswer> {
  const filters = filtersOf(filtering)
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const audience = effectiveAudience(caller, asked)
  const { passages, behind, ranking } = await retrieveRanked(ctx, kb, { query, audience, filters, maxChars, topK })
  const place = { kb: kbName, audience }
  const chunks: RetrieveChunk[] = []
  for (const passage of passages) {
    const said = blame === true && { blame: await blameOf(ctx, caller, place, passage) }
    chunks.push({ ...toChunk(passage), ...said })
  }
  return {
    ...(ranking && { ranking }),
    hitCount: chunks.length,
    totalChars: chunks.reduce((sum, { content }) => sum + content.length, 0),
    formattedContext: formatContext(chunks, audience),
    chunks,
    ...(behind && { behind }),
  }
}

/**
 * Returns the passages that {@link retrieve} chooses from, at most `topK` pages if there is room.
 * @param maxChars unlimited if absent
 * @throws {GanglionError} `unavailable`
 */
export function retrieveRanked(
  ctx: Context,
  kb: ReadableKb,
  { maxChars, topK, limit = Math.max(overfetch * topK, minChunks), ...asked }: RankedQuestion,
): ReturnType<typeof retrievePassages> {
  const reach: Reach = asked.audience === 'tool' ? 'chunk' : 'section'
  const packing = maxChars === undefined ? undefined : { maxChars, topK, least: least[reach] }
  return retrievePassages(ctx, kb, { ...asked, limit, reach, ...(packing && { packing }) })
}

type RankedQuestion = Omit<Asked, 'limit' | 'reach' | 'packing'> & { topK: number; maxChars?: number; limit?: number }

type Asked = {
  /** Set to `words` to search by words alone. */
  by?: 'words' | undefined
  query: string
  audience: Audience
  limit: number
  reach?: Reach
  filters?: readonly FilterGroup[]
  packing?: Packing
}

/** Returns visible passages for a question, best first. @throws {GanglionError} `unavailable` */
export async function retrievePassages(
  ctx: Context,
  kb: ReadableKb,
  { query: question, audience, limit, ...options }: Asked,
): Promise<{ passages: Passage[]; ranking?: Ranking } & PartialAnswer> {
  // Only approved pages are cited, not Sources.
  const scope = { ...(await scopeOf(kb, audience, limit)), kind: 'wiki' } as const
  const { synonyms } = await kb.settings()
  const { hits, ...behind } = await answered(searchOf(kb, ctx).retrieve({ question, scope, synonyms, ...options }))
  const view = await viewAs(kb, { audience })
  const stalenessOf = await stalenessIn(view, ctx.now())
  const passages = hits.flatMap(({ key, ...hit }) => {
    const neuron = view.about(key, findNeuron)
    // The page may have been removed or hidden since the search.
    if (neuron === undefined) return []
    const { seqId, documentId, title, path, commit } = neuron
    const { stale } = stalenessOf(neuron)
    const [first = '', ...others] = hit.headings
    const headings = linkKey(first) === linkKey(title) ? others : hit.headings
    return [{ ...hit, headings, seqId, documentId: documentId ?? seqId, title, path, commit, ...(stale && { stale }) }]
  })
  return { passages, ...behind }
}

/** Parses filters. @throws {ValidationError} */
function filtersOf({
  tags = [],
  path,
  kind = 'all',
  updatedAfter,
  neurons,
}: Pick<RetrieveInput, 'tags' | 'path' | 'kind' | 'updatedAfter' | 'neurons'>): FilterGroup[] {
  const read = (field: string, name: 'tag' | 'path' | 'after', value: string) => {
    const filter = filterOf(name, value)
    if (filter === undefined && name === 'after') {
      throw new ValidationError({ [field]: ['must be a year, month or day such as 2026-05, or a time with its zone'] })
    }
    if (filter === undefined) throw new ValidationError({ [field]: [`names nothing: ${value}`] })
    return filter
  }
  const filters: PageFilter[] = [
    ...tags.map((tag) => read('tags', 'tag', tag)),
    ...(path === undefined ? [] : [read('path', 'path', path)]),
    ...(kind === 'all' ? [] : [{ type: 'kind', kind } as const]),
    ...(updatedAfter === undefined ? [] : [read('updatedAfter', 'after', updatedAfter)]),
    ...(neurons === undefined ? [] : [{ type: 'keys', keys: new Set(neurons) } as const]),
  ]
  return filters.map((filter) => ({ any: [filter], isNegated: false }))
}

function toChunk({ documentId, seqId, title, path, content, headings, rank, stale }: Passage): RetrieveChunk {
  const neuronPath = path.replace(/^neurons\//, '').replace(/\.md$/, '')
  return {
    documentId,
    seqId,
    title,
    neuronPath,
    content,
    headerBreadcrumb: headings.join(' > '),
    rank,
    ...(stale && { stale }),
  }
}

/**
 * Returns the origins of a passage's sentences, as readers may know them unless the audience is curators. Empty for a page that
 * main does not have.
 */
export async function blameOf(
  ctx: Context,
  caller: Caller,
  { kb, audience }: { kb: string; audience: Audience },
  { seqId, content }: Pick<Passage, 'seqId' | 'content'>,
): Promise<BlamedSentence[]> {
  const reader: Caller = audience === 'curator' ? caller : { ...caller, role: 'reader' }
  const blame = await readBlame(ctx, reader, { kb, seqId, within: content }).catch(undefinedOn('not_found'))
  return blame?.sentences.filter(({ text }) => content.includes(text)) ?? []
}

/**
 * Formats chunks as Markdown: terse for a tool, with references for people. The text of a Neuron is quoted, so that it cannot
 * pass for the heading of another one, and is followed by the seqId to cite.
 */
function formatContext(chunks: readonly RetrieveChunk[], audience: Audience): string {
  return chunks.map(audience === 'tool' ? forTool : audience === 'curator' ? forCurator : forReader).join('\n\n')
}

function forTool({ seqId, title, headerBreadcrumb, content }: RetrieveChunk): string {
  const place = [title, ...(headerBreadcrumb === '' ? [] : [headerBreadcrumb])].map(oneLine).join(' > ')
  return `[${seqId}] ${place}\n${quote(content.replace(/\n{2,}/g, '\n'))}`
}

function forReader({ seqId, title, headerBreadcrumb, content }: RetrieveChunk): string {
  const under = headerBreadcrumb === '' ? [] : [`*${oneLine(headerBreadcrumb)}*`]
  return [`### ${oneLine(title)}`, ...under, quote(content), `— [${seqId}]`].join('\n\n')
}

function forCurator(chunk: RetrieveChunk): string {
  return `${forReader(chunk)} ${chunk.neuronPath}, rank ${chunk.rank.toFixed(2)}`
}

function quote(markdown: string): string {
  return markdown.replace(/^/gm, '> ')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
