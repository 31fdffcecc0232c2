import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { neuronPage, sourcePage } from '../../contract/console-paths.ts'
import { KbId } from '../../contract/identifiers.ts'
import { maxQuery } from '../../contract/search.ts'
import { type PersonRole, reaches } from '../../contract/vocabulary.ts'
import { unlessUnavailable } from '../../kb/failure.ts'
import { findNames, folderOf } from '../../pages/graph/find-names.ts'
import { listKnowledgeBases } from '../../pages/list-knowledge-bases.ts'
import { listQueue } from '../../queue/lists/list-queue.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { listSources } from '../../sources/read-source.ts'
import { consolePages } from '../layout/page-routes.ts'
import { searchPath } from './search-path.ts'

const JumpQuery = z.object({
  q: z.string().max(maxQuery).default(''),
  kb: z.union([KbId, z.literal('')]).default(''),
  page: z.string().max(200).exactOptional(),
})
type Jump = { group: string; label: string; detail: string; href: string }

const most = { pages: 8, sources: 4, candidates: 4, kbs: 5, commands: 6 }
/** Maximum knowledge bases that are searched at each keystroke. If there are more, a jump offers to search all of them. */
const maxKbs = 20

const commands: readonly { label: string; href: string; least: PersonRole }[] = [
  { label: 'Home', href: '/', least: 'reader' },
  { label: 'Queue', href: '/queue', least: 'curator' },
  { label: 'Activity', href: '/activity', least: 'reader' },
  { label: 'Search all knowledge bases', href: '/search', least: 'reader' },
  { label: 'Your account', href: '/account', least: 'reader' },
  { label: 'Settings', href: '/settings', least: 'admin' },
  { label: 'API keys', href: '/settings/keys', least: 'admin' },
  { label: 'People', href: '/settings/people', least: 'admin' },
  { label: 'Webhooks', href: '/settings/webhooks', least: 'admin' },
  { label: 'Health', href: '/settings/health', least: 'admin' },
]
const kbCommands: readonly { label: string; path: string; least: PersonRole }[] = [
  { label: 'New page', path: '/new', least: 'curator' },
  { label: 'Ask', path: '/chat', least: 'reader' },
  { label: 'Search', path: '/search', least: 'reader' },
  { label: 'Sources', path: '/sources', least: 'reader' },
  { label: 'All pages', path: '/tree', least: 'reader' },
  { label: 'Tags', path: '/tags', least: 'reader' },
  { label: 'Graph', path: '/graph', least: 'reader' },
  { label: 'Findings', path: '/findings', least: 'curator' },
  { label: 'Questions', path: '/questions', least: 'curator' },
  { label: 'Answer tests', path: '/tests', least: 'curator' },
  { label: 'Pages to look at again', path: '/stale', least: 'reader' },
  { label: 'Settings of this knowledge base', path: '/settings', least: 'admin' },
]

export const paletteRoutes = consolePages({}, (pages, ctx) => {
  pages.get('/palette', { query: JumpQuery }, async ({ reply, visit, caller, query: { q, kb, page } }) =>
    reply.send({ items: await jumps(ctx, caller, visit.session.role, { q: q.trim(), kb: kb || undefined, page }) }),
  )
})

/**
 * Returns destinations for typed text: pages and Sources by name, candidates by their words, knowledge bases and commands; a bounded number
 * of each. `kb` and `page` (a seqId): the current place, whose pages come first.
 */
async function jumps(
  ctx: AppContext,
  caller: Caller,
  role: PersonRole,
  { q, kb, page }: { q: string; kb: string | undefined; page: string | undefined },
): Promise<Jump[]> {
  const { knowledgeBases } = await listKnowledgeBases(ctx, caller)
  const here = knowledgeBases.find(({ slug, id }) => slug === kb || id === kb)
  const kbs = [...(here === undefined ? [] : [here]), ...knowledgeBases.filter((one) => one !== here)]
  const [pages, sources, candidates] = await Promise.all([
    q === '' ? [] : inEach(kbs, (kb) => pagesIn(ctx, caller, kb, { q, near: page })),
    q === '' ? [] : inEach(kbs, (kb) => sourcesIn(ctx, caller, kb, q)),
    q === '' || !reaches(role, 'curator') ? [] : candidatesWith(ctx, caller, q).catch(unlessUnavailable),
  ])
  const isNamed = (label: string) => label.toLowerCase().includes(q.toLowerCase())
  const places = kbs
    .filter(({ slug, title }) => isNamed(title) || isNamed(slug))
    .map(({ slug, title }) => ({ group: 'Knowledge bases', label: title, detail: slug, href: `/kb/${slug}` }))
  return [
    ...pages.slice(0, most.pages),
    ...(candidates ?? []),
    ...sources.slice(0, most.sources),
    ...places.slice(0, most.kbs),
    ...(q === '' || kbs.length <= maxKbs ? [] : [searchAll(q, kbs.length)]),
    ...commandsFor(role, here)
      .filter(({ label }) => isNamed(label))
      .slice(0, q === '' ? undefined : most.commands),
  ]
}

function searchAll(q: string, count: number): Jump {
  return {
    ...{ group: 'Go to', label: `Search all ${count} knowledge bases for “${q}”` },
    detail: `Only pages and Sources of ${maxKbs} knowledge bases are listed here`,
    href: searchPath(undefined, { q, kind: 'all' }),
  }
}

type Kb = { slug: string; title: string }

/** Leaves out a knowledge base that cannot be read. */
async function inEach(kbs: readonly Kb[], find: (kb: Kb) => Promise<Jump[]>): Promise<Jump[]> {
  const found = await Promise.all(kbs.slice(0, maxKbs).map((kb) => find(kb).catch(unlessUnavailable)))
  return found.flatMap((jumps) => jumps ?? [])
}

async function pagesIn(
  ctx: AppContext,
  caller: Caller,
  { slug, title }: Kb,
  { q, near }: { q: string; near: string | undefined },
): Promise<Jump[]> {
  const found = await findNames(ctx, caller, slug, { q, near, limit: most.pages })
  return found.map((page) => ({
    ...{ group: 'Pages', label: page.title, href: neuronPage(slug, page.seqId) },
    detail: [page.name === page.title ? '' : page.name, folderOf(page), title]
      .filter((part) => part !== '')
      .join(' · '),
  }))
}

async function sourcesIn(ctx: AppContext, caller: Caller, { slug, title }: Kb, q: string): Promise<Jump[]> {
  const { documents } = await listSources(ctx, caller, slug, { text: q, limit: most.sources })
  return documents.map(({ id, filename }) => ({
    group: 'Sources',
    label: filename,
    detail: title,
    href: sourcePage(slug, id),
  }))
}

async function candidatesWith(ctx: AppContext, caller: Caller, text: string): Promise<Jump[]> {
  const { entries } = await listQueue(ctx, caller, { text, status: 'pending', limit: most.candidates })
  return entries.map(({ id, title, kb }) => ({ group: 'Waiting', label: title, detail: kb, href: `/queue/${id}` }))
}

function commandsFor(role: PersonRole, here: Kb | undefined): Jump[] {
  const ofKb = here === undefined ? [] : kbCommands.filter(({ least }) => reaches(role, least))
  return [
    ...ofKb.map(({ label, path }) => ({
      group: 'Go to',
      label,
      detail: here?.title ?? '',
      href: `/kb/${here?.slug}${path}`,
    })),
    ...commands
      .filter(({ least }) => reaches(role, least))
      .map(({ label, href }) => ({ group: 'Go to', label, detail: '', href })),
  ]
}
