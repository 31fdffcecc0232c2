import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { KbId } from '../../contract/identifiers.ts'
import { exceedsFolded, maxQuery } from '../../contract/search.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { noteQuestion } from '../../search/kb/question-log.ts'
import { searchEverywhere, searchPages } from '../../search/kb/search-pages.ts'
import { KbParams } from '../layout/page-query.ts'
import { type ConsoleRequest, isFragment, type PageAnswer, pagesOf } from '../layout/page-routes.ts'
import { type SearchAsked, searchPath } from './ask-paths.ts'
import { jumps } from './jumps.ts'
import { type ShownResults, searchFragment, searchPage } from './search-page.ts'

const SearchQuery = z.object({
  q: z.string().default(''),
  kind: z.enum(['all', 'wiki', 'source']).default('all'),
  tag: z.string().max(200).default(''),
  page: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .transform(Number)
    .default(1),
  total: z.coerce.number().int().min(0).default(0),
})
const AllQuery = SearchQuery.extend({ kb: z.union([KbId, z.literal('')]).default('') })
const JumpQuery = z.object({
  q: z.string().max(maxQuery).default(''),
  kb: z.union([KbId, z.literal('')]).default(''),
  page: z.string().max(200).exactOptional(),
})

export function searchPageRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app)

  pages.get('/search', { query: AllQuery }, (sent) => {
    const { kb, tag: _, ...asked } = sent.query
    if (kb !== '' && !isFragment(sent.request)) return sent.reply.redirect(searchPath(kb, asked))
    return results(sent, kb === '' ? undefined : kb, asked)
  })

  pages.get('/kb/:kb/search', { params: KbParams, query: SearchQuery }, (sent) => {
    const { tag, ...asked } = sent.query
    return results(sent, sent.params.kb, { ...asked, ...(tag === '' ? {} : { tag }) })
  })

  // Counts a query that was typed and then left for a while; the results request it.
  const counted = { params: KbParams, query: SearchQuery.pick({ q: true, total: true }) }
  pages.get('/kb/:kb/search/asked', counted, async ({ request, reply, caller, params, query: { q, total } }) => {
    // No other site's page can ask so.
    if (isFragment(request)) await noteSearch(ctx, caller, params.kb, q, total)
    return reply.status(204).send()
  })

  pages.get('/palette', { query: JumpQuery }, async ({ reply, visit, caller, query: { q, kb, page } }) => {
    const asked = { q: q.trim(), kb: kb || undefined, page }
    return reply.send({ items: await jumps(ctx, caller, visit.session.role, asked) })
  })

  async function results(
    { request, visit, caller }: ConsoleRequest,
    kbName: string | undefined,
    asked: SearchAsked,
  ): Promise<PageAnswer> {
    const [kb, { knowledgeBases }] = await Promise.all([
      kbName === undefined ? undefined : describeKb(ctx, caller, kbName),
      kbName === undefined ? listKnowledgeBases(ctx, caller) : { knowledgeBases: [] },
    ])
    const answer = (found: ShownResults | undefined, problem?: { status: number; message: string }) => {
      const errors = problem && { fieldErrors: { q: [problem.message] } }
      const view = { kb, asked, knowledgeBases, found, errors }
      const page = isFragment(request) ? searchFragment(visit, view) : searchPage(visit, view)
      return { page, status: problem?.status ?? 200 }
    }
    const q = asked.q.trim()
    if (q === '') return answer(undefined)
    try {
      if (q.length > maxQuery || exceedsFolded(q, maxQuery))
        throw new ValidationError({ q: [`At most ${maxQuery} characters.`] })
      const { kind, tag, page = 1 } = asked
      const query = { q, kind, isTyping: isFragment(request) }
      if (kb === undefined) return answer({ in: 'all', hits: await searchEverywhere(ctx, caller, query) })
      const hits = await searchPages(ctx, caller, kb.slug, { ...query, page, ...(tag === undefined ? {} : { tag }) })
      if (page === 1 && !isFragment(request) && hits.behind === undefined)
        await noteSearch(ctx, caller, kb.slug, q, hits.total)
      return answer({ in: 'one', kb, hits })
    } catch (error) {
      return answer(undefined, problemOf(error))
    }
  }
}

async function noteSearch(ctx: AppContext, caller: Caller, kb: string, q: string, total: number): Promise<void> {
  const counts = { asked: 1, empty: total === 0 ? 1 : 0 }
  await noteQuestion(ctx, caller, await ctx.readableKb(caller.tenantId, kb), q, counts)
}

/** Returns a message if the person can correct the error; throws any other error. */
function problemOf(error: unknown): { status: number; message: string } {
  if (error instanceof ValidationError && error.fieldErrors.q !== undefined) {
    return { status: 400, message: error.fieldErrors.q.join(' ') }
  }
  if (error instanceof GanglionError && error.status === 503) return { status: 503, message: error.message }
  throw error
}
