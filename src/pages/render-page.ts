import { filePage, neuronPage, newPage } from '../contract/console-paths.ts'
import { shownFileTypes } from '../contract/files.ts'
import { FileView } from '../kb/access/file-view.ts'
import { type KbView, openView } from '../kb/access/kb-view.ts'
import { LinkView } from '../kb/access/link-view.ts'
import type { Context } from '../kb/context.ts'
import { type NeuronFile, shownContent } from '../markdown/file/neuron-file.ts'
import { type LinkTable, linkTableKey, type ResolvedLink } from '../markdown/render/mark-links.ts'
import type { Rendered } from '../markdown/render/render-pool.ts'
import { RenderPool } from '../markdown/render/render-pool.ts'
import type { Caller } from '../rules/access/caller.ts'
import { fileNameKey } from '../rules/links/file-target.ts'
import { barePath } from '../rules/links/link-target.ts'
import type { WikiLink } from '../rules/neurons/neuron.ts'
import { pauses } from '../system/pauses.ts'
import { viewsOf } from './graph/resolve-links.ts'

export type { Rendered }

export type RenderInput = {
  kb: string
  /** Markdown without front matter, stored or not. */
  content: string
  /** Path of the page's file, from which relative links start. */
  path?: string | undefined
  /** Prefix of every id, for a document with several pages; `null`: no ids. */
  idPrefix?: string | null
}

type Page = Pick<NeuronFile, 'content' | 'extra'> &
  Pick<RenderInput, 'path' | 'idPrefix'> & {
    /** Title shown above the page. An opening heading that repeats it is left out. */
    title?: string
  }
type Reading = { view: KbView; canWrite: boolean; own: LinkView; files: FileView }

const missing = 'No page has this name'
const inlineImages = new Set(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif'])
const maxTitle = 200

/**
 * Renders Markdown as safe HTML for the caller: links lead to Neurons and files that the caller may read, others are gaps. @throws
 * {GanglionError} `not_found`
 */
export async function renderMarkdown(ctx: Context, caller: Caller, { kb, ...page }: RenderInput): Promise<Rendered> {
  return renderPage(ctx, caller, await openView(ctx, caller, kb), { ...page, extra: {} })
}

export async function renderPage(
  ctx: Context,
  caller: Caller,
  view: KbView,
  { path = 'neurons/new.md', idPrefix, title, content: written, extra }: Page,
): Promise<Rendered> {
  const content = shownContent({ content: written, extra })
  const { links } = await ctx.parser.links(content)
  const table = await linkTable(ctx, caller, view, { links, path })
  return ctx.threads
    .of(RenderPool)
    .render({ content, links: table, title, ...(idPrefix === undefined ? {} : { idPrefix }) })
}

async function linkTable(
  ctx: Context,
  caller: Caller,
  view: KbView,
  { links, path }: { links: readonly WikiLink[]; path: string },
): Promise<LinkTable> {
  const own = new LinkView(view)
  const reading = { view, own, files: new FileView(view), canWrite: caller.role !== 'reader' }
  const views = await viewsOf(ctx, caller, own, new Set(links.map(({ kb }) => kb ?? null)))
  const table = new Map<string, ResolvedLink>()
  const pause = pauses()
  for (const link of links) {
    await pause()
    const key = linkTableKey(link)
    if (!table.has(key)) table.set(key, await resolved(reading, views.get(link.kb ?? null), link, path))
  }
  return table
}

async function resolved(
  reading: Reading,
  view: LinkView | undefined,
  { target, form }: WikiLink,
  path: string,
): Promise<ResolvedLink> {
  const isOwn = view === reading.own
  const meaning = view?.resolve({ target, form: form ?? 'wiki', from: isOwn ? path : '' }) ?? { missing: true }
  if (view !== undefined && 'seqId' in meaning) {
    const { seqId } = meaning
    return { to: 'page', href: neuronPage(view.identity.slug, seqId), title: view.titleOf(seqId) }
  }
  if ('ambiguous' in meaning) return { to: 'gap', why: 'Several pages have this name' }
  const file = isOwn && 'file' in meaning ? await fileOf(reading, meaning.file) : undefined
  return file ?? gap(reading, target, isOwn)
}

/** Returns a file, if the caller may read it. */
async function fileOf({ view, files }: Reading, path: string): Promise<ResolvedLink | undefined> {
  if (!(await files.opens(path))) return undefined
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  const isImage = inlineImages.has(extension) && Object.hasOwn(shownFileTypes, extension)
  return { to: 'file', href: filePage(view.kb.identity.slug, path), isImage }
}

function gap({ view, canWrite }: Reading, target: string, isOwn: boolean): ResolvedLink {
  if (fileNameKey(target) !== undefined) return { to: 'gap', why: 'No file has this name' }
  const name = barePath(target).split('/').at(-1)?.trim().slice(0, maxTitle) ?? ''
  const canCreate = canWrite && isOwn && name !== ''
  return { to: 'gap', why: missing, ...(canCreate ? { createHref: newPage(view.kb.identity.slug, name) } : {}) }
}
