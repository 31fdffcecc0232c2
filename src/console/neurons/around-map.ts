import { neuronPage } from '../../contract/console-paths.ts'
import type { Graph } from '../../contract/graph.ts'
import { type Html, html } from '../layout/html-template.ts'

const width = 480
const height = 360
const radius = { x: 150, y: 130 }
const maxLabel = 22

/**
 * The first of a graph's Neurons in the middle, the others around it. A drawing for the eye: the lists of links and mentions say the same,
 * so that it is hidden from screen readers.
 */
export function aroundMap(kbSlug: string, { nodes, edges, truncated }: Graph): Html {
  const places = new Map(nodes.map(({ seqId }, index) => [seqId, placeOf(index, nodes.length - 1)]))
  const lines = edges.flatMap(({ source, target }) => {
    const [from, to] = [places.get(source), places.get(target)]
    return from && to ? [html`<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>`] : []
  })
  return html`<svg class="page-map" viewBox="0 0 ${width} ${height}" aria-hidden="true" focusable="false">
    <g class="lines">${lines}</g>
    ${nodes.map(({ seqId, title }, index) => {
      const { x, y } = placeOf(index, nodes.length - 1)
      return html`<a href="${neuronPage(kbSlug, seqId)}" tabindex="-1"${index === 0 && html` class="middle"`}>
        <title>${title}</title><circle cx="${x}" cy="${y}" r="5"/>
        <text x="${x}" y="${y < height / 2 ? y - 10 : y + 18}" text-anchor="middle">${short(title)}</text></a>`
    })}
  </svg>
  ${truncated && html`<p class="hint">There are more pages around this one.</p>`}`
}

function placeOf(index: number, around: number): { x: number; y: number } {
  if (index === 0) return { x: width / 2, y: height / 2 }
  const angle = (2 * Math.PI * (index - 1)) / around - Math.PI / 2
  return {
    x: Math.round(width / 2 + radius.x * Math.cos(angle)),
    y: Math.round(height / 2 + radius.y * Math.sin(angle)),
  }
}

function short(title: string): string {
  const letters = [...title]
  return letters.length <= maxLabel ? title : `${letters.slice(0, maxLabel - 1).join('')}…`
}
