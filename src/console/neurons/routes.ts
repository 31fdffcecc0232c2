import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { BlamePath, BlameQuery } from '../../contract/blame.ts'
import { kbPage, neuronPage, proposedPage, stalePage, tagPage, treePage } from '../../contract/console-paths.ts'
import { Cursor } from '../../contract/envelope.ts'
import { GanglionError, undefinedOn } from '../../contract/errors.ts'
import { CommitId } from '../../contract/identifiers.ts'
import { type NeuronPage, NeuronPath } from '../../contract/neurons.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { answerFile } from '../../http/response/file-answer.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { kbLabel } from '../../kb/readable-kb.ts'
import { readFile } from '../../pages/attachments/read-file.ts'
import { readBlame } from '../../pages/blame/read-blame.ts'
import { compareLines, comparePages } from '../../pages/compare-pages.ts'
import { describeKb } from '../../pages/describe-kb.ts'
import { readWholeGraph } from '../../pages/graph/read-graph.ts'
import { readLooseEnds } from '../../pages/graph/read-loose-ends.ts'
import { listNeurons } from '../../pages/list-neurons.ts'
import { readHistory, readVersions } from '../../pages/read-history.ts'
import { readPage } from '../../pages/read-page.ts'
import { readTags, type TagPage } from '../../pages/read-tags.ts'
import { readTree, type TreePage } from '../../pages/read-tree.ts'
import { sayStillTrue } from '../../pages/write/say-still-true.ts'
import { noteQuestion } from '../../search/kb/question-log.ts'
import { field } from '../layout/form.ts'
import { type Html, html, icon } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { KbParams } from '../layout/page-query.ts'
import { pagesOf } from '../layout/page-routes.ts'
import { when } from '../layout/wording.ts'
import { blamePage } from './blame-page.ts'
import { graphPage } from './graph-page.ts'
import { comparisonPage, historyPage } from './history-page.ts'
import { foldersOf, neuronView } from './neuron-page.ts'
import { crumbs, kbRail } from './rail.ts'

const count = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/, 'must be a whole number from 1')
  .transform(Number)
/** A commit that is left empty asks for the page of today. */
const ReadQuery = z.object({
  at: CommitId.exactOptional(),
  done: z.enum(['published', 'renamed', 'verified']).exactOptional(),
  /** The search whose result it is. */
  for: z.string().max(1000).exactOptional(),
})
const HistoryQuery = z.object({
  from: count.exactOptional(),
  to: count.exactOptional(),
  view: z.enum(['lines', 'side', 'page']).default('lines'),
  before: count.exactOptional(),
})
const TreeQuery = z.object({ folder: z.string().max(1000).default(''), cursor: Cursor.exactOptional() })
const TagsQuery = z.object({
  q: z.string().max(200).default(''),
  page: count.default(1),
  tag: z.string().min(1).max(200).exactOptional(),
  cursor: Cursor.exactOptional(),
})

const StaleQuery = z.object({ owner: z.string().trim().max(300).default(''), cursor: Cursor.exactOptional() })

const GraphQuery = z.object({ ends: z.literal('1').exactOptional() })

/** Pages of a graph that is shown with its loose ends at once. */
const maxWaited = 1000
const treeLimit = 200
const listLimit = 50

/** Adds the pages that read Neurons: one of them, its history, folders, tags, the graph, and the files of a knowledge base. */
export function neuronPageRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app)

  pages.get('/kb/:kb/neurons/:seqId', { params: NeuronPath, query: ReadQuery }, async (sent) => {
    const { visit, caller, params } = sent
    const { done, for: question, ...version } = sent.query
    const reading = readPage(ctx, caller, { ...params, ...version })
    // Others are told of a removed page what they are told of one that never was.
    const view = await (reaches(visit.session.role, 'curator') ? reading.catch(undefinedOn('not_found')) : reading)
    if (view === undefined) {
      const history = await readHistory(ctx, caller, { ...params, limit: listLimit })
      if (!history.isRemoved) throw new GanglionError('not_found')
      return { page: historyPage(visit, history), status: 404 }
    }
    const { path, seqId } = view.neuron
    if (question !== undefined) {
      const kb = await ctx.readableKb(caller.tenantId, params.kb)
      await noteQuestion(ctx, caller, kb, question, { opened: seqId })
    }
    const rail = await kbRail(ctx, caller, view.kb.slug, { folders: foldersOf(path), seqId })
    return neuronView(visit, view, { done, rail })
  })

  pages.get('/kb/:kb/neurons/:seqId/history', { params: NeuronPath, query: HistoryQuery }, async (sent) => {
    const { visit, caller, params } = sent
    const { from, to, view, before } = sent.query
    if (from === undefined || to === undefined)
      return historyPage(visit, await readHistory(ctx, caller, { ...params, before, limit: listLimit }))
    const { kb, seqId } = params
    const versions = await readVersions(ctx, caller, { kb, seqId, from, to })
    const texts = { before: versions.before.text, after: versions.after.text }
    const contents = { before: versions.before.content, after: versions.after.content }
    const difference =
      view === 'page'
        ? await comparePages(ctx, caller, { kb, path: versions.after.path, ...contents })
        : await compareLines(ctx, texts)
    return comparisonPage(visit, { ...versions, seqId, view, difference })
  })

  pages.get('/kb/:kb/neurons/:seqId/blame', { params: BlamePath, query: BlameQuery }, async (sent) => {
    const { visit, caller, params, query } = sent
    const kb = await kbLabel(await ctx.readableKb(caller.tenantId, params.kb))
    return blamePage(visit, { kb, blame: await readBlame(ctx, caller, { ...params, ...query }) })
  })

  pages.get(
    '/kb/:kb/tree',
    { params: KbParams, query: TreeQuery },
    async ({ visit, caller, params: { kb }, query }) => {
      const tree = await readTree(ctx, caller, kb, { ...query, limit: treeLimit })
      const rail = await kbRail(ctx, caller, kb, { folders: query.folder === '' ? [] : query.folder.split('/') })
      return folderPage(visit, tree, rail)
    },
  )

  pages.get(
    '/kb/:kb/tags',
    { params: KbParams, query: TagsQuery },
    async ({ visit, caller, params: { kb }, query }) => {
      const { tag, cursor, q, page } = query
      const tags = await readTags(ctx, caller, kb, { q, page })
      if (tag === undefined) return tagsPage(visit, tags, q)
      const tagged = { tag, limit: listLimit, ...(cursor === undefined ? {} : { cursor }) }
      return taggedPage(visit, tags.kb, tag, await listNeurons(ctx, caller, kb, tagged))
    },
  )

  pages.get('/kb/:kb/stale', { params: KbParams, query: StaleQuery }, async ({ visit, caller, params, query }) => {
    const { owner, cursor } = query
    const kb = await kbLabel(await ctx.readableKb(caller.tenantId, params.kb))
    const stale = { stale: true, limit: listLimit, ...(owner && { owner }), ...(cursor && { cursor }) }
    return staleListPage(visit, kb, owner, await listNeurons(ctx, caller, kb.slug, stale))
  })

  const ofCurators = { params: NeuronPath, config: { people: 'curator' } } as const
  pages.post('/kb/:kb/neurons/:seqId/still-true', ofCurators, async ({ caller, params: { kb, seqId } }) => {
    const answer = await sayStillTrue(ctx, caller, { kb, seqId }, {})
    const isDone = answer.status === 'approved'
    return { to: isDone ? `${neuronPage(kb, seqId)}?done=verified` : proposedPage(answer.candidateId) }
  })

  pages.get('/kb/:kb/graph', { params: KbParams, query: GraphQuery }, async ({ visit, caller, params, query }) => {
    const kb = await describeKb(ctx, caller, params.kb)
    const graph = await readWholeGraph(ctx, caller, kb.slug)
    const isLater = graph.nodes.length > maxWaited && query.ends === undefined
    const ends = isLater ? undefined : await readLooseEnds(ctx, caller, kb.slug)
    return graphPage(visit, kb, { graph, ends })
  })

  pages.get('/kb/:kb/graph/data', { params: KbParams }, async ({ reply, caller, params }) => {
    const { nodes, edges } = await readWholeGraph(ctx, caller, params.kb)
    const places = new Map(nodes.map(({ seqId }, index) => [seqId, index]))
    return reply.send({
      nodes: nodes.map(({ seqId, title }) => ({ seqId, title })),
      links: edges.map(({ source, target }) => [places.get(source), places.get(target)]),
    })
  })

  pages.get('/kb/:kb/files/*', { params: KbParams.extend({ '*': z.string() }) }, async (sent) => {
    const { kb, '*': path } = sent.params
    return answerFile(sent.request, sent.reply, await readFile(ctx, sent.caller, kb, path))
  })
}

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
    ${nextCursor !== null && html`<p><a href="${more(kb.slug, folder, nextCursor)}" rel="next">More</a></p>`}`
  return page(visit, { title: name, main, kb, rail })
}

function more(kbSlug: string, folder: string, cursor: string): string {
  const path = treePage(kbSlug, folder)
  return `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
}

function tagsPage(visit: Visit, { kb, tags, total, page: number, pages }: TagPage, q: string): Html {
  const path = `${kbPage(kb.slug)}/tags`
  const at = (to: number) => `${path}?${new URLSearchParams({ ...(q === '' ? {} : { q }), page: String(to) })}`
  const main = html`
    <h1>Tags</h1>
    <form action="${path}" method="get" role="search" aria-label="Tags">
      ${field({ name: 'q', label: 'Tags that hold', value: q, type: 'search' })}
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
    ${
      pages > 1 &&
      html`<nav aria-label="Pages of tags"><p class="row">${number > 1 && html`<a href="${at(number - 1)}" rel="prev">Before</a>`}
        Page ${number} of ${pages} ${number < pages && html`<a href="${at(number + 1)}" rel="next">More</a>`}</p></nav>`
    }`
  return page(visit, { title: 'Tags', main, kb })
}

function staleListPage(visit: Visit, kb: PageKb, owner: string, { neurons, nextCursor }: NeuronPage): Html {
  const path = stalePage(kb.slug)
  const main = html`
    <h1>Pages to look at again</h1>
    <p class="hint">They are past their date, or older than a document that they cite. A curator reads each, and changes it or says on it that it is still true.</p>
    <form action="${path}" method="get" role="search" aria-label="Owner">
      ${field({ name: 'owner', label: 'Owned by', hint: 'An e-mail, or the name of a key.', value: owner, type: 'search' })}
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
    ${nextCursor !== null && html`<p><a href="${path}?${String(new URLSearchParams({ owner, cursor: nextCursor }))}" rel="next">More</a></p>`}`
  return page(visit, { title: 'Pages to look at again', main, kb })
}

function taggedPage(visit: Visit, kb: PageKb, tag: string, { neurons, nextCursor }: NeuronPage): Html {
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
    ${nextCursor !== null && html`<p><a href="${tagPage(kb.slug, tag)}&amp;cursor=${encodeURIComponent(nextCursor)}" rel="next">More</a></p>`}`
  return page(visit, { title: `Tag ${tag}`, main, kb })
}
