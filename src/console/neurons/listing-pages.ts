import { z } from 'zod'
import { kbPage, neuronPage, stalePage, tagPage, treePage } from '../../contract/console-paths.ts'
import { Cursor } from '../../contract/envelope.ts'
import { kbLabel } from '../../kb/readable-kb.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import { readTags, type TagPage } from '../../pages/read-tags.ts'
import { readTree, type TreePage } from '../../pages/read-tree.ts'
import { controlsOf } from '../layout/form.ts'
import { type Html, html, icon, when } from '../layout/html-template.ts'
import { turnPages } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { consolePages, countField, KbParams, withQuery } from '../layout/page-routes.ts'
import { crumbs, kbRail } from './rail.ts'

const TreeQuery = z.object({ folder: z.string().max(1000).default(''), cursor: Cursor.exactOptional() })
const TagsQuery = z.object({
  q: z.string().max(200).default(''),
  page: countField(9).default(1),
  tag: z.string().min(1).max(200).exactOptional(),
  cursor: Cursor.exactOptional(),
})
const StaleQuery = z.object({ owner: z.string().trim().max(300).default(''), cursor: Cursor.exactOptional() })
const treeLimit = 200
const listLimit = 50

/** Adds the pages that list Neurons: by folder, by tag, and those to look at again. */
export const listingRoutes = consolePages({}, (pages, ctx) => {
  const params = KbParams

  pages.get('/kb/:kb/tree', { params, query: TreeQuery }, async ({ visit, caller, params: { kb }, query }) => {
    const tree = await readTree(ctx, caller, kb, { ...query, limit: treeLimit })
    const rail = await kbRail(ctx, caller, kb, { folders: query.folder === '' ? [] : query.folder.split('/') })
    return folderPage(visit, tree, rail)
  })

  pages.get('/kb/:kb/tags', { params, query: TagsQuery }, async ({ visit, caller, params: { kb: asked }, query }) => {
    const { tag, cursor, q, page: number } = query
    const tags = await readTags(ctx, caller, asked, { q, page: number })
    if (tag === undefined) return tagsPage(visit, tags, q)
    const { kb } = tags
    const { neurons, nextCursor } = await listNeurons(ctx, caller, asked, {
      tag,
      limit: listLimit,
      ...(cursor && { cursor }),
    })
    const main = html`
      <p class="crumbs"><a href="${kbPage(kb.slug)}/tags">Tags</a></p>
      <h1>Pages tagged <bdi>${tag}</bdi></h1>
      ${
        neurons.length === 0
          ? html`<p class="empty">No page has this tag.</p>`
          : html`<ul class="tree">${neurons.map(
              ({ seqId, title, updatedAt }) =>
                html`<li><a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a> <span class="hint">${when(updatedAt)}</span></li>`,
            )}</ul>`
      }
      ${more(tagPage(kb.slug, tag), nextCursor)}`
    return page(visit, { title: `Tag ${tag}`, main, kb })
  })

  pages.get('/kb/:kb/stale', { params, query: StaleQuery }, async ({ visit, caller, params, query }) => {
    const { owner, cursor } = query
    const kb = await kbLabel(await ctx.readableKb(caller.tenantId, params.kb))
    const asked = { stale: true, limit: listLimit, ...(owner && { owner }), ...(cursor && { cursor }) }
    const { neurons, nextCursor } = await listNeurons(ctx, caller, kb.slug, asked)
    const path = stalePage(kb.slug)
    const main = html`
      <h1>Pages to look at again</h1>
      <p class="hint">They are past their date, or older than a document that they cite. A curator reads each, and changes it or says on it that it is still true.</p>
      <form action="${path}" method="get" role="search" aria-label="Owner">
        ${controlsOf({ owner }).text('owner', 'Owned by', { hint: 'An e-mail, or the name of a key.', type: 'search' })}
        <p class="row"><button class="second" type="submit">Show</button> <a href="${path}?owner=${encodeURIComponent(visit.session.user.email)}">Mine</a></p>
      </form>
      ${
        neurons.length === 0
          ? html`<p class="empty">No page is past its date, or older than a document that it cites.</p>`
          : html`<ul class="tree">${neurons.map(
              ({ seqId, title, updatedAt, verified, owner: own, newEdition }) =>
                html`<li><a href="${neuronPage(kb.slug, seqId)}" dir="auto">${title}</a> <span class="hint">${verified === undefined ? html`changed ${when(updatedAt)}` : html`still true on ${verified.at}${verified.until !== undefined && html`, until ${verified.until}`}`}${newEdition !== undefined && html` · new edition of <bdi>${newEdition.filename}</bdi>`}${own !== undefined && html` · <bdi>${own}</bdi>`}</span></li>`,
            )}</ul>`
      }
      ${more(`${path}?${new URLSearchParams({ owner })}`, nextCursor)}`
    return page(visit, { title: 'Pages to look at again', main, kb })
  })
})

function folderPage(visit: Visit, { kb, folder, entries, nextCursor }: TreePage, rail: Html): Html {
  const name = folder === '' ? 'Pages' : folder.slice(folder.lastIndexOf('/') + 1)
  const main = html`
    ${crumbs(kb, folder === '' ? [] : folder.split('/').slice(0, -1))}
    <h1 dir="auto">${name}</h1>
    ${
      entries.length === 0
        ? html`<p class="empty">There are no pages yet. They come from Sources, imports and proposals.</p>`
        : html`<ul class="tree">${entries.map((entry) =>
            entry.kind === 'folder'
              ? html`<li class="folder"><a href="${treePage(kb.slug, entry.path)}">${icon('folder')} <bdi>${entry.name}</bdi></a> <span class="unseen">folder</span></li>`
              : html`<li><a href="${neuronPage(kb.slug, entry.seqId)}">${icon('file-text')} <bdi>${entry.title}</bdi></a> <span class="hint"><bdi>${entry.name}</bdi></span></li>`,
          )}</ul>`
    }
    ${more(treePage(kb.slug, folder), nextCursor)}`
  return page(visit, { title: name, main, kb, rail })
}

function more(path: string, cursor: string | null): Html | undefined {
  if (cursor === null) return undefined
  const href = `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
  return html`<p><a href="${href}" rel="next">More</a></p>`
}

function tagsPage(visit: Visit, { kb, tags, total, page: number, pages }: TagPage, q: string): Html {
  const path = `${kbPage(kb.slug)}/tags`
  const href = (page: number) => withQuery(path, { q: q || undefined, page })
  const main = html`
    <h1>Tags</h1>
    <form action="${path}" method="get" role="search" aria-label="Tags">
      ${controlsOf({ q }).text('q', 'Tags that hold', { type: 'search' })}
      <p><button class="second" type="submit">Show</button></p>
    </form>
    ${
      total === 0
        ? html`<p class="empty">${q === '' ? 'No page has a tag yet.' : 'No tag holds this.'}</p>`
        : html`<ul class="tags">${tags.map(
            ({ tag, count }) =>
              html`<li><a class="badge" href="${tagPage(kb.slug, tag)}"><bdi>${tag}</bdi> <span class="tally">${count}<span class="unseen"> ${count === 1 ? 'page' : 'pages'}</span></span></a></li>`,
          )}</ul>`
    }
    ${turnPages({ label: 'Pages of tags', page: number, pages, href, words: ['Before', 'Page', 'More'] })}`
  return page(visit, { title: 'Tags', main, kb })
}
