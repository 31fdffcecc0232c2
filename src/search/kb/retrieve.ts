import type { RetrieveAnswer, RetrieveChunk, RetrieveInput } from '../../contract/search.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import type { Context } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import { type Audience, effectiveAudience } from '../../rules/access/audience.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Passage } from '../answer/passage.ts'
import { formatContext } from '../answer/search-context.ts'
import type { Reach } from '../search-index.ts'
import { kbSearch, type PartialAnswer } from './kb-search.ts'
import { answered, scopeOf } from './search-kb.ts'

/** So many more than asked for, since some may be too long for what is left of `maxChars`. */
const overfetch = 3

/**
 * Chunks that hold something on a question in natural language, best first, within bounds.
 * @throws {GanglionError} `not_found`, `unavailable`
 */
export async function retrieve(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { query, audience: asked, maxChars, topK }: RetrieveInput,
): Promise<RetrieveAnswer> {
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const audience = effectiveAudience(caller.role, asked)
  const reach = audience === 'tool' ? 'chunk' : 'section'
  const { passages, behind } = await retrievePassages(ctx, kb, { query, audience, limit: overfetch * topK, reach })
  const chunks = withinBounds(passages, { maxChars, topK }).map(toChunk)
  const isByMeaning = passages.some(({ byMeaning }) => byMeaning)
  return {
    ...(ctx.embeddingModel && { ranking: isByMeaning ? ('words+meaning' as const) : ('words' as const) }),
    hitCount: chunks.length,
    totalChars: chunks.reduce((sum, { content }) => sum + content.length, 0),
    formattedContext: formatContext(chunks, audience),
    chunks,
    ...(behind && { behind }),
  }
}

/** Passages for a question, best first; none of what the audience may not see. @throws {GanglionError} `unavailable` */
export async function retrievePassages(
  ctx: Context,
  kb: ReadableKb,
  { query, audience, limit, reach = 'chunk' }: { query: string; audience: Audience; limit: number; reach?: Reach },
): Promise<{ passages: Passage[] } & PartialAnswer> {
  // What is cited is what a curator, or the policy, has let in.
  const scope = { ...(await scopeOf(kb, audience, limit)), kind: 'wiki' } as const
  const { synonyms } = await kb.settings()
  const { hits, ...behind } = await answered(kbSearch(kb, ctx).retrieve({ question: query, scope, reach, synonyms }))
  const view = await viewAs(kb, { audience })
  const passages = hits.flatMap(({ key, ordinal: _ordinal, ...hit }) => {
    const neuron = view.about(key, findNeuron)
    // It can be removed or hidden after the index was asked.
    if (neuron === undefined) return []
    const { seqId, documentId, title, path, commit } = neuron
    return [{ ...hit, seqId, documentId: documentId ?? seqId, title, path, commit }]
  })
  return { passages, ...behind }
}

/** The first that fit; if even the best is too long, it is cut. Lengths are in UTF-16 code units. */
function withinBounds(passages: readonly Passage[], { maxChars, topK }: { maxChars: number; topK: number }): Passage[] {
  const chosen: Passage[] = []
  let left = maxChars
  for (const passage of passages) {
    if (chosen.length === topK) break
    const content = chosen.length === 0 ? cut(passage.content, maxChars) : passage.content
    if (content.length === 0 || content.length > left) continue
    chosen.push({ ...passage, content })
    left -= content.length
  }
  return chosen
}

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  // Half of a surrogate pair is no character.
  const end = /[\ud800-\udbff]$/.test(text.slice(0, maxLength - 1)) ? maxLength - 2 : maxLength - 1
  return `${text.slice(0, Math.max(0, end))}…`
}

function toChunk({ documentId, seqId, title, path, content, headings, rank }: Passage): RetrieveChunk {
  const neuronPath = path.replace(/^neurons\//, '').replace(/\.md$/, '')
  return { documentId, seqId, title, neuronPath, content, headerBreadcrumb: headings.join(' > '), rank }
}
