import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { chatOnce, wholeAnswer } from '../../chat/answer-question.ts'
import { candidatePage, kbPage, neuronPage } from '../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { type Preview, PreviewParameter } from '../../contract/preview.ts'
import { callerOf } from '../../http/access/auth.ts'
import { whenClientGone } from '../../http/request/client-gone.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { kbLabel } from '../../kb/readable-kb.ts'
import { renderMarkdown } from '../../pages/render-page.ts'
import { previewing } from '../../queue/preview/previewed-kb.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { searchPages } from '../../search/kb/search-pages.ts'
import { oneHit, searchPageRoutes } from '../ask/search-page.ts'
import { searchPath } from '../ask/search-path.ts'
import { linkCitations } from '../ask/turn.ts'
import { button, controlsOf } from '../layout/form.ts'
import { content, type Html, html } from '../layout/html-template.ts'
import { type PageKb, page } from '../layout/page.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { neuronPageRoutes } from '../neurons/routes.ts'

/** Renders the banner of a preview: its candidates, those left out, and links that lead out of it. */
function previewBanner({
  candidates,
  conflicts,
  titleOf,
  kb,
  path,
}: Preview & { titleOf: (id: string) => string; kb: PageKb; path: string }): Html {
  const link = (id: string) => html`<a href="${candidatePage(id)}" dir="auto">${titleOf(id)}</a>`
  const left = new Set(conflicts.map(({ candidateId }) => candidateId))
  const laid = candidates.filter((id) => !left.has(id))
  return html`<aside class="notice preview" aria-label="Preview">
    <p><strong>Preview.</strong> ${laid.length === 0 ? html`<bdi>${kb.title}</bdi> is as it is` : html`<bdi>${kb.title}</bdi> as if ${laid.length === 1 ? 'this candidate were' : `these ${laid.length} candidates were`} approved: ${laid.map((id, index) => html`${index > 0 && ', '}${link(id)}`)}`}.
      <a href="${path}">Ask and search</a> · <a href="${candidatePage(candidates[0] ?? '')}">Back to the queue</a> · <a href="${kbPage(kb.slug)}">Leave the preview</a></p>
    ${conflicts.map(({ candidateId, message }) => html`<p class="warning">Left out, since it cannot be approved: ${link(candidateId)}. ${message}</p>`)}
  </aside>`
}

const prefix = '/preview'
const TryQuery = z.object({ q: z.string().trim().max(8000).default('') })
const Asked = PreviewParameter.unwrap()

type Shown = { ctx: AppContext; slug: string; title: string; below: string }

/** Paths below a knowledge base that a preview also has: those of pages that only read. */
const reading = /^(?:neurons\/[^/"?#]+|search|tree|tags|graph|graph\/data|files\/[^"?#]+)(?=["?#])/
const pathBelow = /^\/preview\/[^/]*\/kb\/[^/]+\/(.*)$/
const address = / (href|src|action|hx-get|data-graph)="([^"]*?)(\/kb\/[^/"]+\/)([^"]*")/g

/**
 * Adds the pages that show a knowledge base as if candidates were approved: one to ask and search, and below the same path the pages that
 * only read, whose links stay in the preview.
 */
export async function previewRoutes(app: ZodFastify, ctx: AppContext): Promise<void> {
  const shown = new AsyncLocalStorage<Shown>()
  const laid: AppContext = {
    ...ctx,
    readableKb: (tenantId, name) => (shown.getStore()?.ctx ?? ctx).readableKb(tenantId, name),
  }
  await app.register(
    async (pages: ZodFastify) => {
      pages.addHook('onRoute', (route) => {
        const { handler } = route
        route.handler = async function (request, reply) {
          const preview = await openPreview(ctx, request).catch((error: unknown) => {
            if (error instanceof GanglionError && error.code === 'not_pending') return undefined
            throw error
          })
          // A candidate has been decided meanwhile: the page of the first one explains it, and offers a preview of the pending ones.
          if (preview === undefined) return reply.redirect(candidatePage(askedOf(request)[0] ?? ''), 303)
          const answered = await shown.run(preview, () => handler.call(this, request, reply))
          return answered
        }
      })
      pages.addHook('onSend', (request, reply, payload, done) => {
        const isPage = typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
        done(
          null,
          isPage && request.previewBanner !== undefined ? leadingOn(payload, ctx.urls.root, belowOf(request)) : payload,
        )
      })
      neuronPageRoutes(pages, laid)
      searchPageRoutes(pages, laid)
      pages.get('/', { config: { rate: 'chat' }, schema: { querystring: TryQuery } }, async (request, reply) => {
        const preview = shown.getStore()
        if (preview === undefined) throw new GanglionError('not_found')
        const { q } = request.query
        const { below, ...kb } = preview
        const { text } = controlsOf({ q })
        const asking = { type: 'search', maxlength: 8000, autocomplete: 'off', dir: 'auto', autofocus: q === '' }
        const main = html`<h1>Try it</h1>
          <form class="filters" method="get" action="${below}" role="search" aria-label="Try it">
            ${text('q', 'A question or words', asking)}
            ${button('Ask and search')}
          </form>
          <p class="hint">Answers and results are those after the approval. Nothing that you ask here is kept. <a href="${kbPage(kb.slug)}/tree">Read the pages</a></p>
          ${q !== '' && (await tryOut(preview, callerOf(request), q, whenClientGone(reply)))}`
        return send(reply, page(visitOf(request), { title: `Try it · ${kb.title}`, main, kb }))
      })
    },
    { prefix: `${prefix}/:preview` },
  )
}

function askedOf(request: FastifyRequest): string[] {
  const asked = Asked.safeParse(belowOf(request).slice(prefix.length + 1))
  const [, path] = pathBelow.exec(request.url) ?? []
  if (!asked.success || (path !== undefined && !reading.test(`${path}"`))) throw new GanglionError('not_found')
  return asked.data
}

async function openPreview(ctx: AppContext, request: FastifyRequest): Promise<Shown> {
  const { ctx: laid, kb } = await previewing(ctx, callerOf(request), askedOf(request), undefined)
  if (kb === undefined) throw new GanglionError('not_found')
  const { slug, title } = await kbLabel(kb.laidOver.on)
  const titleOf = (id: string) => findCandidate(kb.laidOver.on.projection.read, id)?.title ?? id
  request.previewBanner = previewBanner({ ...kb.preview, titleOf, kb: { slug, title }, path: belowOf(request) })
  return { ctx: laid, slug, title, below: belowOf(request) }
}

/** Returns the path of the preview to which a page belongs. */
function belowOf({ url }: FastifyRequest): string {
  return decodeURIComponent(/^\/preview\/[^/?#]*/.exec(url)?.[0] ?? prefix)
}

/** Redirects the links of a page into the preview. @param root path prefix of the server, which the links already have */
function leadingOn(page: string, root: string, below: string): string {
  return page.replace(address, (whole, name: string, before: string, kb: string, rest: string) =>
    before === root && reading.test(rest) ? ` ${name}="${root}${below}${kb}${rest}` : whole,
  )
}

/** Asks and searches as a curator does. Neither is logged. */
async function tryOut({ ctx, slug }: Shown, caller: Caller, q: string, signal: AbortSignal): Promise<Html> {
  const question = { message: q, history: [], knowledgeBaseId: slug, sessionId: undefined, audience: undefined }
  const [{ answer, citations = [] }, found] = await Promise.all([
    wholeAnswer(chatOnce(ctx, ctx.answerer, caller, question, signal)),
    searchPages(ctx, caller, slug, { q, kind: 'wiki', isTyping: false, page: 1 }).catch((error: unknown) => {
      if (error instanceof ValidationError) return undefined // a question may be an invalid query
      throw error
    }),
  ])
  const text = linkCitations(answer, citations)
  const rendered = await renderMarkdown(ctx, caller, { kb: slug, content: text, idPrefix: null })
  const hits = found?.hits ?? []
  return html`<section aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2>
      <div class="answer">${content(rendered)}</div>
      ${citations.length > 0 && html`<ul>${citations.map(({ seqId, title }) => html`<li><a href="${neuronPage(slug, seqId)}"><bdi>${title}</bdi></a> <code>${seqId}</code></li>`)}</ul>`}
    </section>
    <section aria-labelledby="found-title"><h2 id="found-title">Found</h2>
      ${hits.length === 0 ? html`<p class="empty">No page has these words.</p>` : html`<ol class="hits">${hits.map((hit) => oneHit(slug, hit, 'h3'))}</ol>`}
      <p><a href="${searchPath(slug, { q, kind: 'all' })}">Search on</a></p>
    </section>`
}
