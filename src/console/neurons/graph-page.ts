import { z } from 'zod'
import { kbPage, neuronPage, newPage } from '../../contract/console-paths.ts'
import type { Graph } from '../../contract/graph.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { readWholeGraph } from '../../pages/graph/read-graph.ts'
import { type LooseEnds, readLooseEnds } from '../../pages/graph/read-loose-ends.ts'
import { describeKb } from '../../pages/list-knowledge-bases.ts'
import { counted } from '../../rules/text/numbers.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'
import { consolePages, KbParams } from '../layout/page-routes.ts'

const GraphQuery = z.object({ ends: z.literal('1').exactOptional() })
/** Maximum pages of a graph that is shown with its loose ends at once. In a larger one, finding them takes longer than drawing it. */
const maxWaited = 1000

export const graphRoutes = consolePages({}, (pages, ctx) => {
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
})

/** Renders the graph of a knowledge base: a drawing if scripts run, and lists of its main facts. */
export function graphPage(visit: Visit, kb: PageKb, { graph, ends }: { graph: Graph; ends: Ends | undefined }): Html {
  const main = html`
    <h1>Graph</h1>
    ${
      graph.nodes.length === 0
        ? html`<p class="empty">There are no pages yet.</p>`
        : html`<div class="graph with-scripts" data-graph="${kbPage(kb.slug)}/graph/data" data-page="${neuronPage(kb.slug, '')}">
            <canvas role="img" aria-label="The pages and their links; the lists below name the main ones"></canvas>
            <p class="row"><button type="button" class="second" data-zoom="1.25">Zoom in</button>
              <button type="button" class="second" data-zoom="0.8">Zoom out</button>
              <span class="hint" data-under>${graph.nodes.length} pages${graph.truncated && ', the best connected ones'}, ${counted(graph.edges.length, 'link')}</span></p></div>
          ${connected(kb.slug, graph)}`
    }
    ${ends === undefined ? html`<p><a href="${kbPage(kb.slug)}/graph?ends=1#ends">Pages without links, and gaps</a></p>` : html`<div id="ends">${orphans(kb.slug, ends)}${gaps(visit, kb.slug, ends)}</div>`}`
  return page(visit, { title: 'Graph', main, kb, islands: ['graph'], scripts: ['d3-force.js'] })
}

type Ends = Omit<LooseEnds, 'kb'>

const maxConnected = 30

function connected(kbSlug: string, { nodes, edges }: Graph): Html {
  const degrees = new Map<string, number>()
  for (const seqId of edges.flatMap(({ source, target }) => [source, target]))
    degrees.set(seqId, (degrees.get(seqId) ?? 0) + 1)
  return html`<section><h2>Best connected</h2><ol>${nodes
    .slice(0, maxConnected)
    .map(
      ({ seqId, title }) =>
        html`<li><a href="${neuronPage(kbSlug, seqId)}" dir="auto">${title}</a> <span class="hint">${counted(degrees.get(seqId) ?? 0, 'link')}</span></li>`,
    )}</ol></section>`
}

function orphans(kbSlug: string, { orphans: shown, orphanCount }: Ends): Html {
  return html`<section><h2>Pages without links <span class="tally">${orphanCount}</span></h2>
    ${shown.length === 0 && html`<p class="empty">Every page is linked with another.</p>`}
    <ul>${shown.map(({ seqId, title }) => html`<li><a href="${neuronPage(kbSlug, seqId)}" dir="auto">${title}</a></li>`)}</ul>
    ${orphanCount > shown.length && html`<p class="hint">These are the first ${shown.length}.</p>`}</section>`
}

function gaps({ session }: Visit, kbSlug: string, { gaps: shown, gapCount }: Ends): Html {
  const canWrite = reaches(session.role, 'curator')
  return html`<section><h2>Gaps <span class="tally">${gapCount}</span></h2>
    <p class="hint">Names that pages link to, but that no page has.</p>
    ${shown.length === 0 && html`<p class="empty">Every link leads somewhere.</p>`}
    <ul>${shown.map(
      ({ target, neurons }) =>
        html`<li><bdi>${target}</bdi> <span class="hint">wanted by ${counted(neurons, 'page')}</span>
          ${canWrite && html`<a href="${newPage(kbSlug, target)}" aria-label="Create “${target}”">create</a>`}</li>`,
    )}</ul>
    ${gapCount > shown.length && html`<p class="hint">These are the first ${shown.length}.</p>`}</section>`
}
