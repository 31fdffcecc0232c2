import { kbPage, neuronPage, newPage } from '../../contract/console-paths.ts'
import type { Graph } from '../../contract/graph.ts'
import { reaches } from '../../contract/vocabulary.ts'
import type { LooseEnds } from '../../pages/graph/read-loose-ends.ts'
import { type Html, html } from '../layout/html-template.ts'
import { type PageKb, page, type Visit } from '../layout/page.ts'

/** The whole graph of a knowledge base: a drawing for those with scripts, and lists that say what matters of it. */
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
              <span class="hint" data-under>${graph.nodes.length} pages${graph.truncated && ', the best connected ones'}, ${links(graph.edges.length)}</span></p></div>
          ${connected(kb.slug, graph)}`
    }
    ${ends === undefined ? endsLater(kb.slug) : html`<div id="ends">${orphans(kb.slug, ends)}${gaps(visit, kb.slug, ends)}</div>`}`
  return page(visit, { title: 'Graph', main, kb, islands: ['graph'], scripts: ['d3-force.js'] })
}

type Ends = Omit<LooseEnds, 'kb'>

/** Links to orphans and gaps, which take longer to find than the graph takes to draw. */
function endsLater(kbSlug: string): Html {
  return html`<p><a href="${kbPage(kbSlug)}/graph?ends=1#ends">Pages without links, and gaps</a></p>`
}

const maxListed = 30

function connected(kbSlug: string, { nodes, edges }: Graph): Html {
  const degrees = new Map<string, number>()
  for (const seqId of edges.flatMap(({ source, target }) => [source, target]))
    degrees.set(seqId, (degrees.get(seqId) ?? 0) + 1)
  return html`<section><h2>Best connected</h2><ol>${nodes
    .slice(0, maxListed)
    .map(
      ({ seqId, title }) =>
        html`<li><a href="${neuronPage(kbSlug, seqId)}" dir="auto">${title}</a> <span class="hint">${links(degrees.get(seqId) ?? 0)}</span></li>`,
    )}</ol></section>`
}

function links(count: number): string {
  return count === 1 ? '1 link' : `${count} links`
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
    <p class="hint">Names that pages link to, and that no page has.</p>
    ${shown.length === 0 && html`<p class="empty">Every link leads somewhere.</p>`}
    <ul>${shown.map(
      ({ target, neurons }) =>
        html`<li><bdi>${target}</bdi> <span class="hint">wanted by ${neurons === 1 ? '1 page' : `${neurons} pages`}</span>
          ${canWrite && html`<a href="${newPage(kbSlug, target)}" aria-label="Create “${target}”">create</a>`}</li>`,
    )}</ul>
    ${gapCount > shown.length && html`<p class="hint">These are the first ${shown.length}.</p>`}</section>`
}
